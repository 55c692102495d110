# SPDX-License-Identifier: Apache-2.0
"""The loop over contiguous elements: one iteration computes one vector of points."""

from typing import Final

from legate_diffuse.codegen.casts import emit_cast
from legate_diffuse.codegen.complex_arithmetic import (
    product_function,
    quotient_function,
)
from legate_diffuse.codegen.float_parts import emit_float_part
from legate_diffuse.codegen.integer_division import (
    emit_quotient,
    emit_remainder,
    gcd_function,
)
from legate_diffuse.codegen.lines import Lines
from legate_diffuse.codegen.llvm_types import (
    INTRINSIC_SUFFIX,
    LLVM_TYPE,
    literal,
    literal_of_bits,
    memory_type,
)
from legate_diffuse.codegen.maths_calls import MathsCalls
from legate_diffuse.codegen.reduction import (
    Fold,
    accumulation_type,
    combination,
    used_lanes,
)
from legate_diffuse.kernel.dtypes import COMPONENT, FLOATS, ITEMSIZE, SIGNED
from legate_diffuse.kernel.ir import (
    Constant,
    Kernel,
    Load,
    Op,
    Pure,
    Reduce,
    Scalar,
    Store,
)
from legate_diffuse.kernel.operators import COMPLEX_ARITHMETIC, FLOAT_PARTS
from legate_diffuse.kernel.reductions import identity

SCALAR_STRIDE: Final = 16
"""Bytes from one scalar of the scalar block to the next."""

_CACHE_LINE: Final = 64

_INTEGER_STEP: Final = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "shl": "shl",
}
_FLOAT_STEP: Final = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTRINSIC: Final = {
    "sqrt": "sqrt",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "rint": "rint",
    "round": "round",
    "abs": "fabs",
    "copysign": "copysign",
    "fma": "fma",
}
_FLOAT_COMPARISON: Final = {
    "eq": "oeq",
    "ne": "une",
    "lt": "olt",
    "le": "ole",
    "gt": "ogt",
    "ge": "oge",
}
Parts = tuple[str, ...]
"""Names of a value's vectors: one, or real and imaginary for a complex value."""


def hoisted(kernel: Kernel, argument: int) -> bool:
    """Return whether an argument is loaded once before the loop."""
    a = kernel.arguments[argument]
    return a.broadcast and a.reads and not a.writes


def streams(kernel: Kernel) -> bool:
    """Return whether the kernel has an output that it only writes."""
    return any(a.writes and not a.reads for a in kernel.arguments)


def updated(kernel: Kernel) -> list[int]:
    """Return the reducing arguments that may have an element for each point of a row.

    If there are any, they have a variant of the loop, `@update`.
    """
    return [
        number
        for number, argument in enumerate(kernel.arguments)
        if argument.reduces is not None and not argument.broadcast
    ]


def emit_bodies(kernel: Kernel, lanes: int, maths: MathsCalls) -> str:
    """Return the functions `@body`, `@streaming` and `@update`.

    Their parameters are the pointers of the arguments, the scalar block, and the number
    of points, at least 1. An argument that is `hoisted` is read at its pointer only;
    all others are read and written as contiguous vectors from there on, up to a whole
    vector beyond the last point. Values of reductions are folded into the element at
    the argument's pointer, those of points beyond the last one left out.

    `@streaming`, if the kernel `streams`, bypasses the caches where it writes arguments
    that it does not read; these must lie on cache lines. `@update`, if the kernel has
    `updated` arguments, updates contiguous vectors of these.
    """
    return _BodyEmitter(kernel, lanes, maths).emit()


class _BodyEmitter:
    def __init__(self, kernel: Kernel, lanes: int, maths: MathsCalls) -> None:
        self._kernel = kernel
        self._maths = maths
        self._before = Lines(lanes, "u")
        self._loop = Lines(lanes, "v")
        self._values: list[Parts] = []
        self._declarations: dict[str, str] = {}
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
        folds = list(self._folds.values())
        functions = [self._function("@body", self._loop.text, folds)]
        if streams(self._kernel):
            streaming = [self._streaming.get(line, line) for line in self._loop.text]
            functions.append(self._function("@streaming", streaming, folds))
            functions.append("!0 = !{i32 1}")
        if updates := updated(self._kernel):
            loop = [*self._loop.text, *self._update.text]
            others = [fold for key, fold in self._folds.items() if key not in updates]
            functions.append(self._function("@update", loop, others))
        return "\n".join([*self._declarations.values(), *functions])

    def _is_uniform(self, instruction: Pure, uniform: list[bool]) -> bool:
        match instruction:
            case Load(argument):
                return hoisted(self._kernel, argument)
            case Op(_, _, operands):
                return all(uniform[operand] for operand in operands)
            case _:
                return True

    def _function(self, name: str, loop: list[str], folds: list[Fold]) -> str:
        back = "fold" if folds else "loop"
        pointers: list[str] = []
        for number in range(len(self._kernel.arguments)):
            pointers += [
                f"  %a{number}.at = getelementptr ptr, ptr %pointers, i64 {number}",
                f"  %a{number} = load ptr, ptr %a{number}.at, align 8",
            ]
        return "\n".join(
            [
                f"define internal void {name}(ptr %pointers, ptr %scalars, "
                "i64 %points) #0 {",
                "entry:",
                *pointers,
                *self._before.text,
                "  br label %loop",
                "loop:",
                f"  %i = phi i64 [ 0, %entry ], [ %next, %{back} ]",
                *(line for fold in folds for line in fold.before_values()),
                *loop,
                f"  %next = add nuw nsw i64 %i, {self._loop.lanes}",
                *(self._accumulation(folds) if folds else []),
                "  %more = icmp ult i64 %next, %points",
                "  br i1 %more, label %loop, label %exit",
                "exit:",
                *self._after_loop(folds),
                "  ret void",
                "}",
            ]
        )

    def _accumulation(self, folds: list[Fold]) -> list[str]:
        lanes = self._loop.lanes
        part, accumulation = Lines(lanes, "p"), Lines(lanes, "s")
        mask = used_lanes(part)
        for fold in folds:
            fold.masked(part, mask)
            fold.accumulated(accumulation)
        return [
            "  %whole = icmp ule i64 %next, %points",
            "  br i1 %whole, label %fold, label %part",
            "part:",
            *part.text,
            "  br label %fold",
            "fold:",
            *(line for fold in folds for line in fold.joined()),
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
            case Constant(dtype, bits):
                return _constant(dtype, bits)
            case Op():
                return self._op(lines, instruction)

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
        return lines.let(f"getelementptr inbounds {size}, ptr %a{argument}, i64 %i")

    def _load(self, lines: Lines, dtype: str, argument: int) -> Parts:
        place = self._element(lines, dtype, argument)
        part = COMPONENT.get(dtype, dtype)
        element, size = memory_type(part), ITEMSIZE[part]
        if dtype not in COMPONENT:
            vector = lines.vector(element)
            loaded = lines.let(f"load {vector}, ptr {place}, align {size}")
            return (_from_memory(lines, dtype, loaded),)
        pairs = f"<{2 * lines.lanes} x {element}>"
        both = lines.let(f"load {pairs}, ptr {place}, align {size}")
        parts = []
        for number in range(2):
            mask = ", ".join(f"i32 {2 * lane + number}" for lane in range(lines.lanes))
            which = f"{lines.vector('i32')} <{mask}>"
            shuffle = f"shufflevector {pairs} {both}, {pairs} poison, {which}"
            parts.append(lines.let(shuffle))
        return tuple(parts)

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
        lines.do(f"store {vector} {value}, ptr {place}, align {size}")
        if argument.writes and not argument.reads:
            line = min(_CACHE_LINE, lines.lanes * ITEMSIZE[dtype])
            self._streaming[lines.text[-1]] = (
                f"  store {vector} {value}, ptr {place}, align {line}, !nontemporal !0"
            )

    def _op(self, lines: Lines, op: Op) -> Parts:
        operands = [self._values[operand] for operand in op.operands]
        if op.name == "complex":
            return (operands[0][0], operands[1][0])
        if op.name in ("real", "imag"):
            return (operands[0][op.name == "imag"],)
        if op.name in COMPLEX_ARITHMETIC:
            return self._complex_arithmetic(lines, op, [*operands[0], *operands[1]])
        dtypes = tuple(self._kernel.dtype_of(operand) for operand in op.operands)
        return (self._real_op(lines, op, dtypes, [parts[0] for parts in operands]),)

    def _complex_arithmetic(self, lines: Lines, op: Op, parts: list[str]) -> Parts:
        part = COMPONENT[op.dtype]
        helper = f"@{op.name}.{part}"
        if helper not in self._declarations:
            made = product_function if op.name == "complex_mul" else quotient_function
            text = made(helper, part, lines.lanes, self._declarations.setdefault)
            self._declarations[helper] = text
        kind = lines.vector(LLVM_TYPE[part])
        pair = f"{{ {kind}, {kind} }}"
        passed = ", ".join(f"{kind} {value}" for value in parts)
        both = lines.let(f"call {pair} {helper}({passed})")
        return tuple(
            lines.let(f"extractvalue {pair} {both}, {place}") for place in (0, 1)
        )

    def _real_op(
        self, lines: Lines, op: Op, dtypes: tuple[str, ...], operands: list[str]
    ) -> str:
        name, dtype = op.name, dtypes[0]
        kinds = [lines.vector(LLVM_TYPE[dtype]) for dtype in dtypes]
        kind, x = kinds[0], operands[0]
        is_float = dtype in FLOATS
        if name == "cast":
            return emit_cast(lines, dtype, op.dtype, x)
        if name == "select":
            parts = zip(kinds, operands, strict=True)
            return lines.let("select " + ", ".join(" ".join(pair) for pair in parts))
        if name == "neg":
            zero = f"sub {kind} zeroinitializer, {x}"
            return lines.let(f"fneg {kind} {x}" if is_float else zero)
        if name == "not":
            ones = "splat (i1 true)" if dtype == "bool" else literal_of_ones(dtype)
            return lines.let(f"xor {kind} {x}, {ones}")
        if name == "signbit":
            bits = lines.vector("i64" if dtype == "float64" else "i32")
            pattern = lines.let(f"bitcast {kind} {x} to {bits}")
            return lines.let(f"icmp slt {bits} {pattern}, zeroinitializer")
        if name in _FLOAT_COMPARISON:
            test = _comparison(name, dtype)
            return lines.let(f"{test} {kind} {x}, {operands[1]}")
        if name == "shr":
            step = "ashr" if dtype in SIGNED else "lshr"
            return lines.let(f"{step} {kind} {x}, {operands[1]}")
        if name in (_FLOAT_STEP if is_float else _INTEGER_STEP):
            step = (_FLOAT_STEP if is_float else _INTEGER_STEP)[name]
            return lines.let(f"{step} {kind} {x}, {operands[1]}")
        if name in FLOAT_PARTS:
            return emit_float_part(lines, name, dtype, x)
        if name == "quotient":
            return emit_quotient(lines, dtype, x, operands[1])
        if name == "remainder":
            return emit_remainder(lines, dtype, x, operands[1])
        if name == "gcd":
            helper = f"@gcd.{dtype}"
            self._declarations[helper] = gcd_function(helper, dtype, lines.lanes)
            return lines.let(f"call {kind} {helper}({kind} {x}, {kind} {operands[1]})")
        if name not in _INTRINSIC:
            return self._maths.call(lines, name, dtypes, operands)
        function = self._intrinsic(lines, name, dtype, kind, len(operands))
        passed = ", ".join(f"{kind} {operand}" for operand in operands)
        return lines.let(f"call {kind} {function}({passed})")

    def _intrinsic(
        self, lines: Lines, name: str, dtype: str, kind: str, arity: int
    ) -> str:
        suffix = f"v{lines.lanes}{INTRINSIC_SUFFIX[dtype]}"
        function = f"@llvm.{_INTRINSIC[name]}.{suffix}"
        parameters = ", ".join([kind] * arity)
        self._declarations[function] = f"declare {kind} {function}({parameters})"
        return function


def literal_of_ones(dtype: str) -> str:
    """Return a vector of integers with all bits set."""
    return literal_of_bits(dtype, (1 << 8 * ITEMSIZE[dtype]) - 1)


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


def _comparison(name: str, dtype: str) -> str:
    if dtype in FLOATS:
        return f"fcmp {_FLOAT_COMPARISON[name]}"
    if name in ("eq", "ne"):
        return f"icmp {name}"
    return f"icmp {'s' if dtype in SIGNED else 'u'}{name}"
