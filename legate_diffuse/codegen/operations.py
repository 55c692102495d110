# SPDX-License-Identifier: Apache-2.0
"""The operators of the kernel IR over vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from legate_diffuse.codegen.casts import emit_cast
from legate_diffuse.codegen.complex_arithmetic import (
    call_on_parts,
    product_function,
    quotient_function,
)
from legate_diffuse.codegen.functions import Call, emit_call
from legate_diffuse.codegen.integer_division import (
    emit_quotient,
    emit_remainder,
    gcd_function,
)
from legate_diffuse.codegen.memory import Parts
from legate_diffuse.kernel.dtypes import COMPONENT, FLOATS, ITEMSIZE, SIGNED
from legate_diffuse.kernel.functions import called
from legate_diffuse.kernel.operators import (
    COMPLEX_ARITHMETIC,
    EXACT,
    FLOAT_PARTS,
    INTEGER_POWER,
    POWERS,
)
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import (
    INTRINSIC_SUFFIX,
    LLVM_TYPE,
    literal_of_bits,
)
from legate_diffuse.maths.float_parts import emit_float_part
from legate_diffuse.maths.simple_powers import emit_power

# LLVM has the names of those over integers, and of most functions.
_INTEGER_STEPS: Final = frozenset(("add", "sub", "mul", "and", "or", "xor", "shl"))
_FLOAT_STEP: Final = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_FAST_MATH: Final = " contract reassoc"
"""LLVM's flags for sums, products and quotients that may be rounded differently.

A product may be added without being rounded, and chains may be combined in another
order. Neither may assume that there are no NaN, infinities or negative zeros.
"""
_INTRINSIC: Final = {name: name for name in EXACT if name != "div"} | {"abs": "fabs"}
_FLOAT_COMPARISON: Final = {
    "eq": "oeq",
    "ne": "une",
    "lt": "olt",
    "le": "ole",
    "gt": "ogt",
    "ge": "oge",
}


class Maths(Protocol):
    """Calls of maths functions (see `legate_diffuse.maths.calls.MathsCalls`)."""

    simplifies_powers: bool

    def call(
        self,
        lines: Lines,
        operator: str,
        dtypes: tuple[str, ...],
        operands: Sequence[str],
    ) -> str:
        """Emit `operator` over operands of types `dtypes` and return its result."""
        ...


class Operations:
    """Emits operators, and collects the functions that they call.

    Attributes:
        lanes: values of a vector.
        declarations: declarations and definitions of these functions, by name.
        calls: the scalar functions of the kernel, by digest.
        counts: how many lanes they need to compute; else it is all.
    """

    def __init__(self, maths: Maths, lanes: int, fast_math: bool) -> None:
        """Prepare to emit operators over vectors of `lanes` values."""
        self.declarations: dict[str, str] = {}
        self.calls: dict[str, Call] = {}
        self.counts: dict[Lines, str] = {}
        self._maths = maths
        self.lanes = lanes
        # what functions give, by digest and operands
        self._results: dict[tuple[object, ...], dict[int, Parts]] = {}
        self._flags = _FAST_MATH if fast_math else ""

    def over_single_elements(self) -> Operations:
        """Return what emits operators over vectors of one element."""
        return type(self)(self._maths, 1, bool(self._flags))

    def emit(
        self,
        lines: Lines,
        name: str,
        dtype: str,
        dtypes: tuple[str, ...],
        operands: Sequence[Parts],
    ) -> Parts:
        """Emit the operator that gives a `dtype` from operands of types `dtypes`."""
        if (known := called(name)) is not None:
            digest, _, result = known
            key = (digest, *operands)
            if key not in self._results:
                call, count = (
                    self.calls[digest],
                    self.counts.get(lines, str(lines.lanes)),
                )
                self._results[key] = emit_call(
                    lines, self.declarations, call, list(operands), count
                )
            return self._results[key][result]
        if name == "complex":
            return (operands[0][0], operands[1][0])
        if name in ("real", "imag"):
            return (operands[0][name == "imag"],)
        if name in COMPLEX_ARITHMETIC:
            parts = [*operands[0], *operands[1]]
            return self._complex_arithmetic(lines, name, dtype, parts)
        if name == "cast":
            return (self.cast(lines, dtypes[0], dtype, operands[0][0]),)
        return (self._real(lines, name, dtypes, [parts[0] for parts in operands]),)

    def cast(self, lines: Lines, source: str, target: str, value: str) -> str:
        """Emit the conversion of a real value."""
        return emit_cast(lines, source, target, value)

    def _complex_arithmetic(
        self, lines: Lines, name: str, dtype: str, parts: list[str]
    ) -> Parts:
        part = COMPONENT[dtype]
        function = self.complex_function(name, part)
        steps = call_on_parts(lines, function, part, parts)
        return tuple(lines.let(step) for step in steps)

    def complex_function(self, name: str, part: str) -> str:
        """Return the function of an operator over complex numbers."""
        helper = f"@{name}.{part}.{self.lanes}"
        if helper not in self.declarations:
            made = product_function if name == "complex_mul" else quotient_function
            text = made(helper, part, self.lanes, self.declarations)
            self.declarations[helper] = text
        return helper

    def _real(
        self, lines: Lines, name: str, dtypes: tuple[str, ...], operands: list[str]
    ) -> str:
        dtype = dtypes[0]
        kinds = [lines.vector(LLVM_TYPE[dtype]) for dtype in dtypes]
        kind, x = kinds[0], operands[0]
        is_float = dtype in FLOATS
        if name == "select":
            parts = zip(kinds, operands, strict=True)
            return lines.let("select " + ", ".join(" ".join(pair) for pair in parts))
        if name == "neg":
            zero = f"sub {kind} zeroinitializer, {x}"
            return lines.let(f"fneg {kind} {x}" if is_float else zero)
        if name == "not":
            ones = "splat (i1 true)" if dtype == "bool" else _literal_of_ones(dtype)
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
        if is_float and name in _FLOAT_STEP:
            step = _FLOAT_STEP[name] + self._flags
            return lines.let(f"{step} {kind} {x}, {operands[1]}")
        if not is_float and name in _INTEGER_STEPS:
            return lines.let(f"{name} {kind} {x}, {operands[1]}")
        if name in FLOAT_PARTS:
            return emit_float_part(lines, name, dtype, x)
        if name == "quotient":
            return emit_quotient(lines, dtype, x, operands[1], self.declarations)
        if name == "remainder":
            return emit_remainder(lines, dtype, x, operands[1], self.declarations)
        if name == "gcd":
            helper = f"@gcd.{dtype}.{lines.lanes}"
            self.declarations[helper] = gcd_function(
                helper, dtype, lines.lanes, self.declarations
            )
            return lines.let(f"call {kind} {helper}({kind} {x}, {kind} {operands[1]})")
        if name in POWERS:

            def emit(operator: str, *values: str) -> str:
                return self._real(lines, operator, dtypes, list(values))

            if self._maths.simplifies_powers:
                of_integers = name == INTEGER_POWER
                return emit_power(lines, dtype, emit, x, operands[1], of_integers)
            return emit("pow", x, operands[1])
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
        self.declarations[function] = f"declare {kind} {function}({parameters})"
        return function


def constant_parts(dtype: str, bits: int) -> Parts:
    """Return vectors that repeat the value with a bit pattern."""
    if dtype not in COMPONENT:
        return (literal_of_bits(dtype, bits),)
    part = COMPONENT[dtype]
    shift = 8 * ITEMSIZE[part]
    low = bits & ((1 << shift) - 1)
    return (literal_of_bits(part, low), literal_of_bits(part, bits >> shift))


def _literal_of_ones(dtype: str) -> str:
    """Return a vector of integers with all bits set."""
    return literal_of_bits(dtype, (1 << 8 * ITEMSIZE[dtype]) - 1)


def _comparison(name: str, dtype: str) -> str:
    if dtype in FLOATS:
        return f"fcmp {_FLOAT_COMPARISON[name]}"
    if name in ("eq", "ne"):
        return f"icmp {name}"
    return f"icmp {'s' if dtype in SIGNED else 'u'}{name}"
