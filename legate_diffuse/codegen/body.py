# SPDX-License-Identifier: Apache-2.0
"""The loop over contiguous elements: one iteration computes one vector of points."""

from typing import Final

from legate_diffuse.codegen.casts import emit_cast
from legate_diffuse.codegen.index import emit_index
from legate_diffuse.codegen.operations import Operations, Parts
from legate_diffuse.codegen.reduction import (
    Fold,
    accumulation_type,
    combination,
    multiplies_complex,
    product,
)
from legate_diffuse.codegen.remainder import Remainder, lanes_below
from legate_diffuse.codegen.target import Target
from legate_diffuse.kernel.dtypes import COMPONENT, FLOATS, ITEMSIZE
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
from legate_diffuse.kernel.reductions import identity
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import (
    LLVM_TYPE,
    literal,
    literal_of_bits,
    memory_type,
)
from legate_diffuse.maths.calls import MathsCalls

SCALAR_STRIDE: Final = 16
"""Bytes from one scalar of the scalar block to the next."""

PREFETCH_AHEAD: Final = 2048
"""Bytes. Of 512, 1,024, 2,048 and 4,096 this is the best on Zen 5."""

_CACHE_LINE: Final = 64


def invariant(kernel: Kernel, argument: int) -> bool:
    """Return whether an argument is loaded once before the loop."""
    a = kernel.arguments[argument]
    return a.broadcast and a.reads and not a.writes


def updated(kernel: Kernel) -> list[int]:
    """Return the reducing arguments that may have an element for each point of a row.

    If there are any, they have a variant of the loop, `@update`.
    """
    return [
        number
        for number, argument in enumerate(kernel.arguments)
        if argument.reduces is not None and not argument.broadcast
    ]


def emit_bodies(
    kernel: Kernel, target: Target, lanes: int, maths: MathsCalls, fast_math: bool
) -> str:
    """Return the functions `@body` and `@update`.

    Their parameters are the pointers of the arguments, the scalar block, the number of
    points, at least 1, the strides as kernels get them, and whether what is only
    written bypasses the caches; it must then lie on cache lines. After the arguments
    come the kernel's indices, of which the pointers are numbers and not addresses. An
    argument that is `invariant` is read at its pointer only; all others are read and
    written as contiguous vectors from there on. Values of reductions are folded into
    the element at the argument's pointer.

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
        self._before = Lines(lanes, "u")
        self._loop = Lines(lanes, "v", "loop")
        self._values: list[Parts] = []
        self._selects = any(
            isinstance(step, Op) and step.name == "select" for step in kernel.body
        )
        self._stores: list[str] = []
        self._streaming: dict[str, str] = {}
        """Stores that bypass the caches, by the store that they replace."""
        self._folds: dict[int, Fold] = {}
        """By reducing argument."""
        self._update = Lines(lanes, "w")
        """What follows the loop's instructions in the variant `@update`."""

    def emit(self) -> str:
        uniform: list[bool] = []
        for instruction in self._kernel.body:
            if isinstance(instruction, Store):
                values = self._values[instruction.value]
                self._store(self._loop, instruction.argument, values)
                continue
            if isinstance(instruction, Reduce):
                self._reduce(instruction)
                continue
            same = self._is_uniform(instruction, uniform)
            uniform.append(same)
            lines = self._before if same else self._loop
            self._values.append(self._pure(lines, instruction))
        self._write()
        moving = {
            number: argument
            for number, argument in enumerate(self._kernel.arguments)
            if not invariant(self._kernel, number)
        }
        plain = {n: a for n, a in moving.items() if a.reduces is None}
        folds = list(self._folds.values())
        functions = [self._function("@body", self._loop.text, folds, plain)]
        if updates := updated(self._kernel):
            moving = plain | {number: moving[number] for number in updates}
            loop = [*self._loop.text, *self._update.text]
            others = [fold for key, fold in self._folds.items() if key not in updates]
            functions.append(self._function("@update", loop, others, moving))
        if self._streaming:
            functions.append("!0 = !{i32 1}")
        return "\n".join([*self._operations.declarations.values(), *functions])

    def _write(self) -> None:
        """Emit the stores, which come last, in one of two ways."""
        lines = self._loop
        if not self._streaming:
            lines.text += self._stores
            return
        lines.do("br i1 %bypasses, label %bypass, label %write")
        lines.block("bypass")
        lines.text += [self._streaming.get(store, store) for store in self._stores]
        lines.do("br label %written")
        lines.block("write")
        lines.text += self._stores
        lines.do("br label %written")
        lines.block("written")

    def _is_uniform(self, instruction: Pure, uniform: list[bool]) -> bool:
        match instruction:
            case Load(argument):
                return invariant(self._kernel, argument)
            case Index():
                return False
            case Op(_, _, operands):
                return all(uniform[operand] for operand in operands)
            case _:
                return True

    def _function(
        self, name: str, loop: list[str], folds: list[Fold], moving: dict[int, Argument]
    ) -> str:
        """Return a function that runs the loop over whole vectors, and over the rest.

        `moving` are the arguments, by number, of which `loop` reads and writes vectors.
        """
        lanes = self._loop.lanes
        pointers: list[str] = []
        count = len(self._kernel.arguments) + len(self._kernel.indices)
        for number in range(count):
            pointers += [
                f"  %a{number}.at = getelementptr ptr, ptr %pointers, i64 {number}",
                f"  %a{number} = load ptr, ptr %a{number}.at, align 8",
            ]
        remainder = Remainder(moving, lanes, self._target.avx512)
        full, part = Lines(lanes, "f"), Lines(lanes, "r")
        remainder.fill(full)
        remainder.empty(part)
        self._operations.declarations.update(remainder.declarations)
        back = "fold" if folds else self._loop.label
        return "\n".join(
            [
                f"define internal void {name}(ptr %pointers, ptr %scalars, "
                "i64 %points, ptr %strides, i1 %streams) #0 {",
                "entry:",
                *pointers,
                *remainder.buffers(),
                *self._before.text,
                "  br label %pass",
                "pass:",
                "  %done = phi i64 [ 0, %entry ], [ %after, %passed ]",
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
                "loop:",
                f"  %i = phi i64 [ 0, %start ], [ %next, %{back} ]",
                *(line for fold in folds for line in fold.before_values()),
                *loop,
                f"  %next = add nuw nsw i64 %i, {lanes}",
                *(self._accumulation(folds) if folds else []),
                "  %more = icmp ult i64 %next, %end",
                "  br i1 %more, label %loop, label %stop",
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
        kernel, values = self._kernel, self._values[reduce.value]
        dtype = kernel.arguments[reduce.argument].dtype
        stored = COMPONENT.get(dtype, dtype)
        part = accumulation_type(stored)
        if multiplies_complex(kernel.arguments[reduce.argument]):
            self._operations.complex_function("complex_mul", part)
        values = tuple(emit_cast(self._loop, stored, part, value) for value in values)
        fold = Fold(kernel, reduce, values, self._loop.lanes)
        self._folds[reduce.argument] = fold
        if reduce.argument not in updated(kernel):
            return
        lines = self._update
        argument = kernel.arguments[reduce.argument]
        operator = argument.reduces
        assert operator is not None
        kind = lines.vector(LLVM_TYPE[part])
        start = literal(part, identity(operator, stored))
        old = self._load(lines, dtype, reduce.argument)
        if multiplies_complex(argument):
            steps = product(lines, part, old, values)
            parts = tuple(lines.let(step) for step in steps)
            self._store(lines, reduce.argument, parts)
            return
        new = []
        for element, value in zip(old, values, strict=True):
            before = emit_cast(lines, stored, part, element)
            if part in FLOATS and operator in ("min", "max"):
                # as a fold does, which starts from a finite number
                step = combination(lines, operator, part, kind, start, value)
                value = lines.let(step)
            step = combination(lines, operator, part, kind, before, value)
            new.append(emit_cast(lines, part, stored, lines.let(step)))
        self._store(lines, reduce.argument, tuple(new))

    def _pure(self, lines: Lines, instruction: Pure) -> Parts:
        match instruction:
            case Load(argument):
                dtype = self._kernel.arguments[argument].dtype
                if lines is self._before:
                    return self._repeated(lines, dtype, f"%a{argument}")
                return self._load(lines, dtype, argument)
            case Scalar(index):
                place = f"ptr %scalars, i64 {index * SCALAR_STRIDE}"
                pointer = lines.let(f"getelementptr i8, {place}")
                return self._repeated(lines, self._kernel.scalars[index], pointer)
            case Index(dimension):
                number = len(self._kernel.arguments)
                number += self._kernel.indices.index(dimension)
                return (emit_index(self._before, lines, number),)
            case Constant(dtype, bits):
                return _constant(dtype, bits)
            case Op(name, dtype, numbers):
                dtypes = tuple(self._kernel.dtype_of(number) for number in numbers)
                operands = [self._values[number] for number in numbers]
                return self._operations.emit(lines, name, dtype, dtypes, operands)

    def _repeated(self, lines: Lines, dtype: str, pointer: str) -> Parts:
        """Load one element and repeat it in all lanes."""
        part = COMPONENT.get(dtype, dtype)
        size, element = ITEMSIZE[part], memory_type(part)
        vector = lines.vector(element)
        parts = []
        for number in range(2 if dtype in COMPONENT else 1):
            place = lines.let(f"getelementptr i8, ptr {pointer}, i64 {number * size}")
            one = lines.let(f"load {element}, ptr {place}, align {size}")
            first = lines.let(f"insertelement {vector} poison, {element} {one}, i64 0")
            zeros = f"{lines.vector('i32')} zeroinitializer"
            all_lanes = lines.let(
                f"shufflevector {vector} {first}, {vector} poison, {zeros}"
            )
            parts.append(_from_memory(lines, part, all_lanes))
        return tuple(parts)

    def _element(self, lines: Lines, dtype: str, argument: int) -> str:
        size = f"[{ITEMSIZE[dtype]} x i8]"
        return lines.let(f"getelementptr inbounds {size}, ptr %at{argument}, i64 %i")

    def _load(self, lines: Lines, dtype: str, argument: int) -> Parts:
        place = self._element(lines, dtype, argument)
        part = COMPONENT.get(dtype, dtype)
        element, size = memory_type(part), ITEMSIZE[part]
        if self._kernel.arguments[argument].prefetch:
            self._prefetch(lines, place)
        if dtype not in COMPONENT:
            loaded = self._loaded(lines, lines.lanes, element, place, size)
            return (_from_memory(lines, dtype, loaded),)
        pairs = f"<{2 * lines.lanes} x {element}>"
        both = self._loaded(lines, 2 * lines.lanes, element, place, size)
        parts = []
        for number in range(2):
            mask = ", ".join(f"i32 {2 * lane + number}" for lane in range(lines.lanes))
            which = f"{lines.vector('i32')} <{mask}>"
            shuffle = f"shufflevector {pairs} {both}, {pairs} poison, {which}"
            parts.append(lines.let(shuffle))
        return tuple(parts)

    def _prefetch(self, lines: Lines, place: str) -> None:
        function = "@llvm.prefetch.p0"
        declaration = f"declare void {function}(ptr, i32, i32, i32)"
        self._operations.declarations[function] = declaration
        ahead = lines.let(f"getelementptr i8, ptr {place}, i64 {PREFETCH_AHEAD}")
        lines.do(f"call void {function}(ptr {ahead}, i32 0, i32 3, i32 1)")

    def _loaded(
        self, lines: Lines, lanes: int, element: str, place: str, size: int
    ) -> str:
        """Emit the load of a vector, apart from a `select` that uses it.

        LLVM would make one masked instruction of both, which takes up to four times as
        long on Zen 5: what is masked out is not prefetched either.
        """
        kind = f"<{lanes} x {element}>"
        loaded = lines.let(f"load {kind}, ptr {place}, align {size}")
        if not self._selects:
            return loaded
        count = lanes * size // ITEMSIZE["float32"]
        floats, fence = f"<{count} x float>", f"@llvm.arithmetic.fence.v{count}f32"
        self._operations.declarations[fence] = f"declare {floats} {fence}({floats})"
        number = lines.let(f"bitcast {kind} {loaded} to {floats}")
        kept = lines.let(f"call {floats} {fence}({floats} {number})")
        return lines.let(f"bitcast {floats} {kept} to {kind}")

    def _store(self, lines: Lines, number: int, parts: Parts) -> None:
        argument = self._kernel.arguments[number]
        dtype = argument.dtype
        place = self._element(lines, dtype, number)
        part = COMPONENT.get(dtype, dtype)
        element, size = memory_type(part), ITEMSIZE[part]
        vector, value = lines.vector(element), parts[0]
        if dtype == "bool":
            value = lines.let(f"zext {lines.vector('i1')} {value} to {vector}")
        if dtype in COMPONENT:
            order = [
                lane + half for lane in range(lines.lanes) for half in (0, lines.lanes)
            ]
            mask = ", ".join(f"i32 {lane}" for lane in order)
            which = f"<{2 * lines.lanes} x i32> <{mask}>"
            shuffle = f"shufflevector {vector} {value}, {vector} {parts[1]}, {which}"
            value = lines.let(shuffle)
            vector = f"<{2 * lines.lanes} x {element}>"
        store = f"  store {vector} {value}, ptr {place}"
        if argument.reduces is not None:
            lines.text.append(f"{store}, align {size}")
            return
        self._stores.append(f"{store}, align {size}")
        if argument.writes and not argument.reads:
            line = min(_CACHE_LINE, lines.lanes * ITEMSIZE[dtype])
            bypass = f"{store}, align {line}, !nontemporal !0"
            self._streaming[self._stores[-1]] = bypass


def _constant(dtype: str, bits: int) -> Parts:
    if dtype not in COMPONENT:
        return (literal_of_bits(dtype, bits),)
    part = COMPONENT[dtype]
    shift = 8 * ITEMSIZE[part]
    low = bits & ((1 << shift) - 1)
    return (literal_of_bits(part, low), literal_of_bits(part, bits >> shift))


def _from_memory(lines: Lines, dtype: str, value: str) -> str:
    if dtype != "bool":
        return value
    return lines.let(f"icmp ne {lines.vector('i8')} {value}, zeroinitializer")
