# SPDX-License-Identifier: Apache-2.0
"""How values of many points are combined to one element.

Where the inner loop runs along a reduced dimension, a call of the loop *folds*: each
lane of a vector starts from the identity and combines the values of the points that it
computes, in their order; what lies beyond the last point counts as the identity. Then
the upper half of the lanes is combined with the lower half, until one value is left,
with which the element is updated.
A row is split into calls of at most `POINTS_PER_CALL` points, in their order, before
which, with outputs that bypass the caches, lie the points up to the first cache line.
So the order is the same in each run that has the same tile, strides and alignment, and
the error of a sum grows with the number of calls and of vectors in a call, not with the
number of points.

Numbers in float16 are combined in float32; the element is rounded once in each call.

Where neighbouring points of the inner loop have elements of their own, a call *updates*
the elements, each with the value at its point, in the order of the outer loop.
"""

from typing import Final

from legate_diffuse.codegen.lines import Lines
from legate_diffuse.codegen.llvm_types import LLVM_TYPE, literal, memory_type
from legate_diffuse.kernel.dtypes import COMPONENT, FLOATS, HALF, ITEMSIZE, SIGNED
from legate_diffuse.kernel.ir import Kernel, Reduce
from legate_diffuse.kernel.reductions import identity

POINTS_PER_CALL: Final = 2**14
"""Points that one call combines at most: a multiple of any number of lanes."""

_INTEGER_STEP: Final = {"add": "add", "mul": "mul", "and": "and", "or": "or"}
_FLOAT_STEP: Final = {"add": "fadd", "mul": "fmul"}


def accumulation_type(dtype: str) -> str:
    """Return the real type in which values of a `dtype` are combined."""
    return "float32" if dtype == HALF else dtype


def reductions(kernel: Kernel) -> list[Reduce]:
    """Return the reductions of a kernel."""
    return [step for step in kernel.body if isinstance(step, Reduce)]


def combination(
    lines: Lines, operator: str, dtype: str, kind: str, old: str, new: str
) -> str:
    """Return the instruction for `old operator new` over values of LLVM type `kind`.

    What it needs is emitted.
    """
    if operator in ("min", "max"):
        relation = "gt" if operator == "max" else "lt"
        if dtype in FLOATS:
            test = f"fcmp o{relation}"
        else:
            test = f"icmp {'s' if dtype in SIGNED else 'u'}{relation}"
        better = lines.let(f"{test} {kind} {new}, {old}")
        flags = kind.replace(LLVM_TYPE[dtype], "i1")
        return f"select {flags} {better}, {kind} {new}, {kind} {old}"
    step = (_FLOAT_STEP if dtype in FLOATS else _INTEGER_STEP)[operator]
    return f"{step} {kind} {old}, {new}"


class Fold:
    """The accumulators of one reduction: a vector for each component of its element."""

    def __init__(
        self, kernel: Kernel, reduce: Reduce, values: tuple[str, ...], lanes: int
    ) -> None:
        """Prepare to fold `values`, vectors of the accumulation type."""
        argument = kernel.arguments[reduce.argument]
        assert argument.reduces is not None
        self._operator = argument.reduces
        self._stored = COMPONENT.get(argument.dtype, argument.dtype)
        self._dtype = accumulation_type(self._stored)
        self._element = LLVM_TYPE[self._dtype]
        self._identity = literal(self._dtype, identity(self._operator, self._stored))
        self._pointer = f"%a{reduce.argument}"
        self._values = values
        self._lanes = lanes
        self._names = [f"f{reduce.argument}.{part}" for part in range(len(values))]

    def before_values(self) -> list[str]:
        """Return the start of the loop block, which may end in `%fold`."""
        kind = self._kind(self._lanes)
        return [
            f"  %{name} = phi {kind} [ {self._identity}, %entry ], "
            f"[ %{name}.next, %fold ]"
            for name in self._names
        ]

    def masked(self, lines: Lines, mask: str) -> None:
        """Emit, in the block `%part`, the values with the identity in unused lanes."""
        kind, flags = self._kind(self._lanes), lines.vector("i1")
        for name, value in zip(self._names, self._values, strict=True):
            lines.do(
                f"%{name}.part = select {flags} {mask}, {kind} {value}, "
                f"{kind} {self._identity}"
            )

    def joined(self) -> list[str]:
        """Return the start of the block `%fold`, after `%loop` or `%part`."""
        kind = self._kind(self._lanes)
        return [
            f"  %{name}.value = phi {kind} [ {value}, %loop ], [ %{name}.part, %part ]"
            for name, value in zip(self._names, self._values, strict=True)
        ]

    def accumulated(self, lines: Lines) -> None:
        """Emit the new accumulators."""
        kind = self._kind(self._lanes)
        for name in self._names:
            step = self._combination(lines, kind, f"%{name}", f"%{name}.value")
            lines.do(f"%{name}.next = {step}")

    def finished(self, lines: Lines) -> None:
        """Emit the update of the element after the loop."""
        memory, size = memory_type(self._stored), ITEMSIZE[self._stored]
        for part, name in enumerate(self._names):
            value = self._folded(lines, f"%{name}.next")
            offset = f"ptr {self._pointer}, i64 {part * size}"
            place = lines.let(f"getelementptr i8, {offset}")
            old = lines.let(f"load {memory}, ptr {place}, align {size}")
            if self._dtype == "bool":
                old = lines.let(f"icmp ne i8 {old}, 0")
            if self._stored == HALF:
                old = lines.let(f"fpext half {old} to float")
            new = lines.let(self._combination(lines, self._element, old, value))
            if self._dtype == "bool":
                new = lines.let(f"zext i1 {new} to i8")
            if self._stored == HALF:
                new = lines.let(f"fptrunc float {new} to half")
            lines.do(f"store {memory} {new}, ptr {place}, align {size}")

    def _folded(self, lines: Lines, vector: str) -> str:
        lanes = self._lanes
        while lanes > 1:
            whole, lanes = self._kind(lanes), lanes // 2
            halves = [
                lines.let(
                    f"shufflevector {whole} {vector}, {whole} poison, "
                    f"{_indices(start, lanes)}"
                )
                for start in (0, lanes)
            ]
            vector = lines.let(self._combination(lines, self._kind(lanes), *halves))
        return lines.let(f"extractelement {self._kind(1)} {vector}, i64 0")

    def _combination(self, lines: Lines, kind: str, old: str, new: str) -> str:
        return combination(lines, self._operator, self._dtype, kind, old, new)

    def _kind(self, lanes: int) -> str:
        return f"<{lanes} x {self._element}>"


def used_lanes(lines: Lines) -> str:
    """Emit which lanes are before `%points`, in an iteration that starts at `%i`."""
    lanes, kind = lines.lanes, lines.vector("i16")
    left = lines.let("sub i64 %points, %i")
    narrow = lines.let(f"trunc i64 {left} to i16")
    first = lines.let(f"insertelement {kind} poison, i16 {narrow}, i64 0")
    zeros = f"{lines.vector('i32')} zeroinitializer"
    limit = lines.let(f"shufflevector {kind} {first}, {kind} poison, {zeros}")
    numbers = ", ".join(f"i16 {lane}" for lane in range(lanes))
    return lines.let(f"icmp ult {kind} <{numbers}>, {limit}")


def _indices(start: int, lanes: int) -> str:
    numbers = ", ".join(f"i32 {start + lane}" for lane in range(lanes))
    return f"<{lanes} x i32> <{numbers}>"
