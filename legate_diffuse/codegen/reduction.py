# SPDX-License-Identifier: Apache-2.0
"""How values of many points are combined to one element.

Where the inner loop runs along a reduced dimension, a call of the loop *folds*: each
lane of a vector starts from the identity and combines the values of the points that it
computes, in their order; what lies beyond the last point counts as the identity. Then
the upper half of the lanes is combined with the lower half, until one value is left,
with which the element is updated.
A row is split, in order, into calls of at most `POINTS_PER_CALL` points. With outputs
that bypass the caches, the points up to the first cache line come before these.
So the order is the same in each run that has the same tile, strides and alignment, and
the error of a sum grows with the number of calls and of vectors in a call, not with the
number of points.

Numbers in float16 are combined in float32; the element is rounded once in each call.

Where neighbouring points of the inner loop have elements of their own, a call *updates*
the elements, each with the value at its point, in the order of the outer loop.
"""

from collections.abc import Sequence
from typing import Final

from legate_diffuse.codegen.casts import emit_cast
from legate_diffuse.codegen.complex_arithmetic import call_on_parts
from legate_diffuse.codegen.memory import Parts, truth
from legate_diffuse.kernel.dtypes import (
    COMPLEX,
    COMPONENT,
    FLOATS,
    HALF,
    ITEMSIZE,
    SIGNED,
)
from legate_diffuse.kernel.ir import Argument, Kernel, Reduce
from legate_diffuse.kernel.reductions import identity
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import LLVM_TYPE, literal, memory_type

POINTS_PER_CALL: Final = 2**14
"""Points that one call combines at most: a multiple of any number of lanes."""

_FLOAT_STEP: Final = {"add": "fadd", "mul": "fmul"}


def reductions(kernel: Kernel) -> list[Reduce]:
    """Return the reductions of a kernel."""
    return [step for step in kernel.body if isinstance(step, Reduce)]


class Combination:
    """How values are combined with the element of a reducing argument.

    Attributes:
        operator: with which.
        stored: the type of a component in memory.
        dtype: the type of a component while it is combined.
        element: the LLVM type of that.
        kind: the LLVM type of a vector of one.
        count: how many components there are.
        multiplies_complex: whether that needs the function `@complex_mul` of the parts;
            all other operators combine the parts of complex numbers by themselves.
    """

    def __init__(self, argument: Argument) -> None:
        """Prepare for an argument."""
        assert argument.reduces is not None
        self.operator = argument.reduces
        self.stored = COMPONENT.get(argument.dtype, argument.dtype)
        self.dtype = "float32" if self.stored == HALF else self.stored
        self.element = LLVM_TYPE[self.dtype]
        self.kind = f"<1 x {self.element}>"
        self.count = 1 + (argument.dtype in COMPLEX)
        self.multiplies_complex = self.operator == "mul" and self.count > 1

    def identity(self) -> tuple[str, ...]:
        """Return the components of what changes nothing."""
        numbers = identity(self.operator, self.stored), 0
        return tuple(literal(self.dtype, each) for each in numbers[: self.count])

    def steps(
        self, lines: Lines, kind: str, old: Sequence[str], new: Sequence[str]
    ) -> Sequence[str]:
        """Return the instructions for the components of `old operator new`.

        They are of LLVM type `kind`. What the instructions need is emitted.
        """
        if self.multiplies_complex:
            function = f"@complex_mul.{self.dtype}.{lines.lanes}"
            return call_on_parts(lines, function, self.dtype, (*old, *new))
        return [
            self._step(lines, kind, before, value)
            for before, value in zip(old, new, strict=True)
        ]

    def combine(self, lines: Lines, old: Sequence[str], new: Sequence[str]) -> Parts:
        """Emit the components of `old operator new`, which are vectors of one."""
        steps = self.steps(lines, self.kind, old, new)
        return tuple(lines.let(step) for step in steps)

    def update(
        self, lines: Lines, place: str, values: Parts, pointer: str = "ptr"
    ) -> None:
        """Emit the combination of the element at `place` and values."""
        kind = f"<1 x {memory_type(self.stored)}>"
        size, places, old = ITEMSIZE[self.stored], [], []
        for part in range(self.count):
            at = lines.let(f"getelementptr i8, {pointer} {place}, i64 {part * size}")
            value = lines.let(f"load {kind}, {pointer} {at}, align {size}")
            value = truth(lines, self.stored, value)
            places.append(at)
            old.append(emit_cast(lines, self.stored, self.dtype, value))
        new = self.combine(lines, old, values)
        for at, value in zip(places, new, strict=True):
            value = emit_cast(lines, self.dtype, self.stored, value)
            if self.stored == "bool":
                value = lines.let(f"zext <1 x i1> {value} to {kind}")
            lines.do(f"store {kind} {value}, {pointer} {at}, align {size}")

    def _step(self, lines: Lines, kind: str, old: str, new: str) -> str:
        """Return the instruction for one component; what it needs is emitted."""
        operator, dtype = self.operator, self.dtype
        if operator in ("min", "max"):
            relation = "gt" if operator == "max" else "lt"
            if dtype in FLOATS:
                test = f"fcmp o{relation}"
            else:
                test = f"icmp {'s' if dtype in SIGNED else 'u'}{relation}"
            better = lines.let(f"{test} {kind} {new}, {old}")
            flags = kind.replace(self.element, "i1")
            return f"select {flags} {better}, {kind} {new}, {kind} {old}"
        step = _FLOAT_STEP[operator] if dtype in FLOATS else operator
        return f"{step} {kind} {old}, {new}"


class Fold:
    """The accumulators of one reduction: a vector for each component of its element."""

    def __init__(
        self, how: Combination, argument: int, values: tuple[str, ...], lanes: int
    ) -> None:
        """Prepare to fold `values`, vectors of the type in which they are combined."""
        self._how = how
        self._pointer = f"%a{argument}"
        self._values = values
        self._lanes = lanes
        self._names = [f"f{argument}.{part}" for part in range(len(values))]

    def before_pass(self) -> list[str]:
        """Return the start of the block `%pass`, before whole vectors or the rest."""
        kind = self._kind(self._lanes)
        return [
            f"  %{name}.pass = phi {kind} [ {start}, %ready ], "
            f"[ %{name}.next, %passed ]"
            for name, start in zip(self._names, self._how.identity(), strict=True)
        ]

    def before_values(self) -> list[str]:
        """Return the start of the loop block, which may end in `%fold`."""
        kind = self._kind(self._lanes)
        return [
            f"  %{name} = phi {kind} [ %{name}.pass, %start ], [ %{name}.next, %fold ]"
            for name in self._names
        ]

    def masked(self, lines: Lines, mask: str) -> None:
        """Emit, in the block `%part`, the values with the identity in unused lanes."""
        kind, flags = self._kind(self._lanes), lines.vector("i1")
        parts = zip(self._names, self._values, self._how.identity(), strict=True)
        for name, value, neutral in parts:
            lines.do(
                f"%{name}.part = select {flags} {mask}, {kind} {value}, "
                f"{kind} {neutral}"
            )

    def joined(self, whole: str) -> list[str]:
        """Return the start of the block `%fold`, after the block `whole` or `%part`."""
        kind = self._kind(self._lanes)
        return [
            f"  %{name}.value = phi {kind} [ {value}, %{whole} ], "
            f"[ %{name}.part, %part ]"
            for name, value in zip(self._names, self._values, strict=True)
        ]

    def accumulated(self, lines: Lines) -> None:
        """Emit the new accumulators."""
        steps = self._how.steps(
            lines,
            self._kind(self._lanes),
            [f"%{name}" for name in self._names],
            [f"%{name}.value" for name in self._names],
        )
        for name, step in zip(self._names, steps, strict=True):
            lines.do(f"%{name}.next = {step}")

    def finished(self, lines: Lines) -> None:
        """Emit the update of the element after the loop."""
        one = Lines(1, f"{self._names[0]}.e")
        values = self._of_all_lanes(lines)
        if self._how.multiplies_complex:
            kind = self._kind(self._lanes)
            values = [lines.shuffle(kind, each, "poison", [0]) for each in values]
        self._how.update(one, self._pointer, tuple(values))
        lines.text += one.text

    def _of_all_lanes(self, lines: Lines) -> list[str]:
        """Emit the combination of all lanes."""
        vectors = [f"%{name}.next" for name in self._names]
        lanes = self._lanes
        while lanes > 1:
            lanes //= 2
            halves = [
                [self._half(lines, vector, start, lanes) for vector in vectors]
                for start in (0, lanes)
            ]
            kind = self._kind(lanes)
            steps = self._how.steps(lines, kind, *halves)
            vectors = [lines.let(step) for step in steps]
        return vectors

    def _half(self, lines: Lines, vector: str, start: int, lanes: int) -> str:
        """Emit the lanes from `start` on.

        The function of products takes all lanes: here the first of them count, and the
        others hold numbers too, because it asks for what is in any of them.
        """
        whole, kept = self._kind(2 * lanes), lanes
        if self._how.multiplies_complex:
            whole, kept = self._kind(self._lanes), self._lanes
        order = [(start + n) % (2 * lanes) for n in range(kept)]
        return lines.shuffle(whole, vector, "poison", order)

    def _kind(self, lanes: int) -> str:
        return f"<{lanes} x {self._how.element}>"
