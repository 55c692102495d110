# SPDX-License-Identifier: Apache-2.0
"""The loop over contiguous elements: one iteration computes one vector of points."""

from typing import Final

from legate_diffuse.codegen.casts import emit_cast
from legate_diffuse.codegen.lines import Lines
from legate_diffuse.codegen.llvm_types import (
    INTRINSIC_SUFFIX,
    LLVM_TYPE,
    literal_of_bits,
    memory_type,
)
from legate_diffuse.codegen.maths_calls import MathsCalls
from legate_diffuse.kernel.dtypes import COMPONENT, FLOATS, ITEMSIZE, SIGNED
from legate_diffuse.kernel.ir import Constant, Kernel, Load, Op, Pure, Scalar, Store

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
    return (
        kernel.arguments[argument].broadcast and not kernel.arguments[argument].writes
    )


def streams(kernel: Kernel) -> bool:
    """Return whether the kernel has an output that it only writes."""
    return any(a.writes and not a.reads for a in kernel.arguments)


def emit_bodies(kernel: Kernel, lanes: int, maths: MathsCalls) -> str:
    """Return the functions `@body` and, if the kernel `streams`, `@streaming`.

    Its parameters are the pointers of the arguments, the scalar block, and the number
    of vectors, at least 1. An argument that is `hoisted` is read at its pointer only;
    all others are read and written as contiguous vectors from there on. `@streaming`
    bypasses the caches where it writes arguments that it does not read; these must lie
    on cache lines.
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

    def emit(self) -> str:
        uniform: list[bool] = []
        for instruction in self._kernel.body:
            if isinstance(instruction, Store):
                self._store(instruction)
                continue
            same = self._is_uniform(instruction, uniform)
            uniform.append(same)
            lines = self._before if same else self._loop
            self._values.append(self._pure(lines, instruction))
        functions = self._function("@body", self._loop.text)
        if streams(self._kernel):
            streaming = [self._streaming.get(line, line) for line in self._loop.text]
            functions += "\n" + self._function("@streaming", streaming)
            functions += "\n!0 = !{i32 1}"
        return "\n".join([*self._declarations.values(), functions])

    def _is_uniform(self, instruction: Pure, uniform: list[bool]) -> bool:
        match instruction:
            case Load(argument):
                return hoisted(self._kernel, argument)
            case Op(_, _, operands):
                return all(uniform[operand] for operand in operands)
            case _:
                return True

    def _function(self, name: str, loop: list[str]) -> str:
        pointers: list[str] = []
        for number in range(len(self._kernel.arguments)):
            pointers += [
                f"  %a{number}.at = getelementptr ptr, ptr %pointers, i64 {number}",
                f"  %a{number} = load ptr, ptr %a{number}.at, align 8",
            ]
        return "\n".join(
            [
                f"define internal void {name}(ptr %pointers, ptr %scalars, "
                "i64 %vectors) #0 {",
                "entry:",
                f"  %end = mul nuw nsw i64 %vectors, {self._loop.lanes}",
                *pointers,
                *self._before.text,
                "  br label %loop",
                "loop:",
                "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
                *loop,
                f"  %next = add nuw nsw i64 %i, {self._loop.lanes}",
                "  %more = icmp ult i64 %next, %end",
                "  br i1 %more, label %loop, label %exit",
                "exit:",
                "  ret void",
                "}",
            ]
        )

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

    def _store(self, store: Store) -> None:
        lines = self._loop
        dtype = self._kernel.arguments[store.argument].dtype
        place = self._element(lines, dtype, store.argument)
        parts = self._values[store.value]
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
        if not self._kernel.arguments[store.argument].reads:
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
        dtypes = tuple(self._kernel.dtype_of(operand) for operand in op.operands)
        return (self._real_op(lines, op, dtypes, [parts[0] for parts in operands]),)

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
