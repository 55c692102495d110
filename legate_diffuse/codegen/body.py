# SPDX-License-Identifier: Apache-2.0
"""The loop over contiguous elements: one iteration computes one vector of points."""

from collections.abc import Iterable, Sequence
from typing import Final

from legate_diffuse.codegen import guarded, memory, row_sum
from legate_diffuse.codegen.arguments import invariant, uniform, updated
from legate_diffuse.codegen.casts import emit_cast
from legate_diffuse.codegen.float_code import FloatCode
from legate_diffuse.codegen.functions import calls_of
from legate_diffuse.codegen.guarded import Guarded, checked
from legate_diffuse.codegen.index import emit_index
from legate_diffuse.codegen.memory import Memory, Parts
from legate_diffuse.codegen.operations import Operations, constant_parts
from legate_diffuse.codegen.quotients import (
    Divisor,
    emit_divisor,
    emit_quotient,
    emit_uniform_divisor,
    shared_divisors,
)
from legate_diffuse.codegen.reduction import Combination, Fold
from legate_diffuse.codegen.remainder import Remainder, lanes_below
from legate_diffuse.codegen.row_element import row_element_function
from legate_diffuse.codegen.row_sum import call_on_rows, define_row_sum
from legate_diffuse.codegen.square_roots import emit_square_root
from legate_diffuse.codegen.target import Target
from legate_diffuse.kernel import operators
from legate_diffuse.kernel.dtypes import FLOATS
from legate_diffuse.kernel.ir import (
    Argument,
    Constant,
    Index,
    Kernel,
    Load,
    Op,
    Pure,
    Reduce,
    Scalar,
    Store,
)
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.maths.calls import MathsCalls

_METADATA: Final = (memory.METADATA, guarded.METADATA, row_sum.METADATA)

SCALAR_STRIDE: Final = 16
"""Bytes from one scalar of the scalar block to the next."""


def emit_bodies(
    kernel: Kernel, target: Target, lanes: int, maths: MathsCalls, fast_math: bool
) -> str:
    """Return the functions `@body` and `@update`.

    Their parameters are the pointers of the arguments, the scalar block, the number of
    points, at least 1, the strides as kernels get them, whether what is only written
    bypasses the caches, for which it must lie on cache lines, and the code that they
    belong to, which only an interpreter needs. After the arguments come the kernel's
    indices, of which the pointers are numbers and not addresses. An argument that is
    `invariant` is read at its pointer only; all others are read and written as
    contiguous vectors from there on. Values of reductions are folded into the element
    at the argument's pointer.

    `@update`, if the kernel has `updated` arguments, updates contiguous vectors of
    these.
    """
    return _BodyEmitter(kernel, target, lanes, maths, fast_math).emit()


class _BodyEmitter:
    def __init__(
        self,
        kernel: Kernel,
        target: Target,
        lanes: int,
        maths: MathsCalls,
        fast_math: bool,
    ) -> None:
        self._kernel = kernel
        self._target = target
        self._operations = Operations(maths, lanes, fast_math)
        self._operations.calls = calls_of(kernel)
        self._memory = Memory(kernel, self._operations.declarations)
        self._before = Lines(lanes, "u", "entry")
        self._loop = Lines(lanes, "v", "loop")
        self._values: list[Parts] = []
        self._uniform = uniform(kernel)
        self._shared = shared_divisors(kernel, self._uniform)
        self._divisors: dict[int, Divisor] = {}
        """Of those that are shared, by value."""
        self._unchecked: dict[int, Guarded] = {}
        """Values that nothing has used yet."""
        self._folds: dict[int, Fold] = {}
        """By reducing argument."""
        self._update = Lines(lanes, "w")
        """What follows the loop's instructions in the variant `@update`."""

    def emit(self) -> str:
        if self._operations.calls:
            count = f"select i1 %rest, i64 %left, i64 {self._loop.lanes}"
            self._operations.counts[self._loop] = self._loop.let(count)
        stores = []
        for number, instruction in enumerate(self._kernel.body):
            if isinstance(instruction, Store):
                stores.append(instruction)
            elif isinstance(instruction, Reduce):
                self._reduce(instruction)
            else:
                if isinstance(instruction, Op):
                    self._check(instruction.operands)
                lines = self._before if self._uniform[number] else self._loop
                self._values.append(self._pure(lines, instruction))
        self._check(store.value for store in stores)
        self._write(stores)
        moving = {
            number: argument
            for number, argument in enumerate(self._kernel.arguments)
            if argument.moves and not invariant(self._kernel, number)
        }
        plain = {n: a for n, a in moving.items() if a.reduces is None}
        folds = list(self._folds.values())
        functions = [self._function("@body", self._loop.text, folds, plain)]
        if updates := updated(self._kernel):
            moving = plain | {number: moving[number] for number in updates}
            loop = [*self._loop.text, *self._update.text]
            others = [fold for key, fold in self._folds.items() if key not in updates]
            functions.append(self._function("@update", loop, others, moving))
        declarations = self._operations.declarations.values()
        return "\n".join([*declarations, *functions, *_METADATA])

    def _check(self, values: Iterable[int]) -> None:
        """Make sure that values are right before they are used."""
        if self._unchecked.keys().isdisjoint(values):
            return
        right = checked(self._loop, list(self._unchecked.values()))
        for number, value in zip(self._unchecked, right, strict=True):
            self._values[number] = (value,)
        self._unchecked.clear()

    def _write(self, stores: list[Store]) -> None:
        """Emit the stores in both ways: through the caches and past them."""
        lines, memory = self._loop, self._memory
        begun = [
            memory.store(lines, store.argument, self._values[store.value])
            for store in stores
        ]
        through = [memory.through_caches(store.argument) for store in stores]
        past = [memory.past_caches(store.argument, lines.lanes) for store in stores]

        def finish(ends: list[str]) -> None:
            for start, end in zip(begun, ends, strict=True):
                lines.do(start + end)

        if past == through:
            finish(through)
            return
        lines.do("br i1 %bypasses, label %bypass, label %write")
        for label, ends in (("write", through), ("bypass", past)):
            lines.block(label)
            finish(ends)
            lines.do("br label %written")
        lines.block("written")

    def _function(
        self, name: str, loop: list[str], folds: list[Fold], moving: dict[int, Argument]
    ) -> str:
        """Return a function that runs the loop over whole vectors, and over the rest.

        `moving` are the arguments, by number, of which `loop` reads and writes vectors.
        """
        lanes = self._loop.lanes
        remainder = Remainder(moving, lanes, self._target.avx512)
        full, part = Lines(lanes, "f"), Lines(lanes, "r")
        remainder.fill(full)
        remainder.empty(part)
        self._operations.declarations.update(remainder.declarations)
        return "\n".join(
            [
                f"define internal void {name}(ptr %pointers, ptr %scalars, "
                "i64 %points, ptr %strides, i1 %streams, ptr %code) #0 {",
                "entry:",
                *self._pointers(),
                *remainder.buffers(),
                *self._before.text,
                "  br label %ready",
                "ready:",
                "  br label %pass",
                "pass:",
                "  %done = phi i64 [ 0, %ready ], [ %after, %passed ]",
                *(line for fold in folds for line in fold.before_pass()),
                "  %left = sub i64 %points, %done",
                f"  %whole = and i64 %left, {-lanes}",
                "  %rest = icmp eq i64 %whole, 0",
                "  br i1 %rest, label %fill, label %start",
                "fill:",
                *full.text,
                "  br label %start",
                "start:",
                *(
                    f"  %at{n} = phi ptr [ %a{n}, %pass ], [ %b{n}, %fill ]"
                    for n in moving
                ),
                f"  %end = phi i64 [ %whole, %pass ], [ {lanes}, %fill ]",
                "  %bypasses = phi i1 [ %streams, %pass ], [ false, %fill ]",
                "  br label %loop",
                *self._over_vectors(loop, folds),
                "stop:",
                "  br i1 %rest, label %empty, label %passed",
                "empty:",
                *part.text,
                "  br label %passed",
                "passed:",
                "  %after = add i64 %done, %end",
                "  %unfinished = icmp ult i64 %after, %points",
                "  br i1 %unfinished, label %pass, label %exit",
                "exit:",
                *self._after_loop(folds),
                "  ret void",
                "}",
            ]
        )

    def _pointers(self) -> list[str]:
        """Return what loads the address of each argument."""
        count = len(self._kernel.arguments) + len(self._kernel.indices)
        return [
            line
            for number in range(count)
            for line in (
                f"  %a{number}.at = getelementptr ptr, ptr %pointers, i64 {number}",
                f"  %a{number} = load ptr, ptr %a{number}.at, align 8",
            )
        ]

    def _over_vectors(self, loop: list[str], folds: list[Fold]) -> list[str]:
        """Return the loop over whole vectors."""
        back = "fold" if folds else self._loop.label
        return [
            "loop:",
            f"  %i = phi i64 [ 0, %start ], [ %next, %{back} ]",
            *(line for fold in folds for line in fold.before_values()),
            *loop,
            f"  %next = add nuw nsw i64 %i, {self._loop.lanes}",
            *(self._accumulation(folds) if folds else []),
            "  %more = icmp ult i64 %next, %end",
            "  br i1 %more, label %loop, label %stop",
        ]

    def _accumulation(self, folds: list[Fold]) -> list[str]:
        """Return the instructions that follow those of the loop's last block."""
        lanes = self._loop.lanes
        part, accumulation = Lines(lanes, "p"), Lines(lanes, "s")
        mask = lanes_below(part, "%left", lanes)
        for fold in folds:
            fold.masked(part, mask)
            fold.accumulated(accumulation)
        return [
            "  br i1 %rest, label %part, label %fold",
            "part:",
            *part.text,
            "  br label %fold",
            "fold:",
            *(line for fold in folds for line in fold.joined(self._loop.label)),
            *accumulation.text,
        ]

    def _after_loop(self, folds: list[Fold]) -> list[str]:
        lines = Lines(self._loop.lanes, "e")
        for fold in folds:
            fold.finished(lines)
        return lines.text

    def _reduce(self, reduce: Reduce) -> None:
        self._check((reduce.value,))
        kernel, values = self._kernel, self._values[reduce.value]
        how = Combination(kernel.arguments[reduce.argument])
        stored, part = how.stored, how.dtype
        if how.multiplies_complex:
            one = self._operations.over_single_elements()
            for on in (one, self._operations):
                on.complex_function("complex_mul", part)
            self._operations.declarations.update(one.declarations)
        values = tuple(emit_cast(self._loop, stored, part, value) for value in values)
        fold = Fold(how, reduce.argument, values, self._loop.lanes)
        self._folds[reduce.argument] = fold
        if reduce.argument not in updated(kernel):
            return
        lines = self._update
        kind = lines.vector(how.element)
        loaded = self._memory.load(lines, reduce.argument)
        old = [emit_cast(lines, stored, part, element) for element in loaded]
        if part in FLOATS and how.operator in ("min", "max"):
            # as a fold does, which starts from a finite number
            steps = how.steps(lines, kind, how.identity(), values)
            values = tuple(lines.let(step) for step in steps)
        new = tuple(
            emit_cast(lines, part, stored, lines.let(step))
            for step in how.steps(lines, kind, old, values)
        )
        store = self._memory.store(lines, reduce.argument, new)
        lines.do(store + self._memory.through_caches(reduce.argument))

    def _pure(self, lines: Lines, instruction: Pure) -> Parts:
        match instruction:
            case Load(argument) if not self._kernel.arguments[argument].moves:
                # a row's sum finds what it needs
                return ()
            case Load(argument):
                if lines is self._loop:
                    return self._memory.load(lines, argument)
                dtype = self._kernel.arguments[argument].dtype
                return memory.repeated(lines, dtype, "ptr", f"%a{argument}")
            case Scalar(index):
                place = f"ptr %scalars, i64 {index * SCALAR_STRIDE}"
                pointer = lines.let(f"getelementptr i8, {place}")
                dtype = self._kernel.scalars[index]
                return memory.repeated(lines, dtype, "ptr", pointer)
            case Index(dimension):
                number = len(self._kernel.arguments)
                number += self._kernel.indices.index(dimension)
                return (emit_index(self._before, lines, number),)
            case Constant(dtype, bits):
                return constant_parts(dtype, bits)
            case Op(name, dtype, numbers) if name in operators.OF_ROWS:
                return self._over_rows(name, dtype, numbers)
            case Op(name, dtype, numbers):
                if lines is self._loop:
                    guarded = self._guarded(instruction)
                    if guarded is not None:
                        self._unchecked[len(self._values)] = guarded
                        return (guarded.value,)
                dtypes = tuple(self._kernel.dtype_of(number) for number in numbers)
                operands = [self._values[number] for number in numbers]
                return self._operations.emit(lines, name, dtype, dtypes, operands)

    def _over_rows(self, operator: str, dtype: str, numbers: Sequence[int]) -> Parts:
        """Emit what is summed, or found, in the rows of a vector of points."""
        kernel, lines, on = self._kernel, self._loop, self._operations
        loads = [step for n in numbers if isinstance(step := kernel.body[n], Load)]
        rows, columns, values, *x = [load.argument for load in loads]
        index = kernel.arguments[columns].dtype
        name = f"@{operator}.{dtype}.{index}"
        is_known = name in on.declarations
        if operator in operators.ROW_SUMS:
            last = f"ptr %a{x[0]}"
            if not is_known:
                define_row_sum(name, operator, dtype, index, on, self._target)
        else:
            (wanted,) = self._values[numbers[3]]
            last = f"{lines.vector('i64')} {wanted}"
            if not is_known:
                found = row_element_function(name, dtype, index, lines.lanes)
                on.declarations[name] = found
        passed = f"ptr %a{columns}", f"ptr %a{values}", last
        return call_on_rows(lines, name, dtype, rows, passed)

    def _guarded(self, step: Op) -> Guarded | None:
        """Emit a quotient or a square root in a short way, where that pays."""
        if step.name not in ("div", "sqrt") or not self._target.avx512:
            return None
        on = self._float_code(self._loop, step.dtype)
        (x,) = self._values[step.operands[0]]
        if step.name == "sqrt":
            pays = self._target.estimates_roots and step.dtype == "float64"
            return emit_square_root(on, x) if pays else None
        by = step.operands[1]
        pays = self._uniform[by] or self._target.shares_reciprocals
        if by not in self._shared or not pays:
            return None
        if by not in self._divisors:
            (b,) = self._values[by]
            if self._uniform[by]:
                before = self._float_code(self._before, step.dtype)
                self._divisors[by] = emit_uniform_divisor(before, b)
            else:
                self._divisors[by] = emit_divisor(on, b)
        return emit_quotient(on, x, self._divisors[by])

    def _float_code(self, lines: Lines, dtype: str) -> FloatCode:
        return FloatCode(lines, dtype, lines.lanes, self._operations.declarations)
