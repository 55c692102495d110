# SPDX-License-Identifier: Apache-2.0
"""LLVM functions over vectors, written as arithmetic on Python values.

Every operator is one IEEE 754 operation: LLVM neither joins a product with a sum nor
reorders them. A fused multiply-add is written `fma(a, b, c)`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import INTRINSIC_SUFFIX, literal

DTYPE: Final = {"double": "float64", "float": "float32", "i64": "int64", "i32": "int32"}
_BITS: Final = {"double": 64, "float": 32, "i64": 64, "i32": 32}
_FLOATS: Final = frozenset({"double", "float"})

LIBM: Final = "libm."
"""Prefix of the functions of a word of lanes and operands that call libm for these."""


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """A value of the function under construction; `element` is the type of a lane.

    Other operands may be numbers, which all lanes then have. `-`, `+`, `*` are those of
    `element`; `>>` shifts in zeros.
    """

    function: "VectorFunction"
    name: str
    element: str

    def __add__(self, other: "Vector | int | float") -> "Vector":
        return self._step("add", other)

    def __sub__(self, other: "Vector | int | float") -> "Vector":
        return self._step("sub", other)

    def __mul__(self, other: "Vector | int | float") -> "Vector":
        return self._step("mul", other)

    def __truediv__(self, other: "Vector | float") -> "Vector":
        return self._step("div", other)

    def __radd__(self, other: int | float) -> "Vector":
        return self._same(other) + self

    def __rsub__(self, other: int | float) -> "Vector":
        return self._same(other) - self

    def __rmul__(self, other: int | float) -> "Vector":
        return self._same(other) * self

    def __rtruediv__(self, other: float) -> "Vector":
        return self._same(other) / self

    def __neg__(self) -> "Vector":
        return self._let(f"fneg {self.typed}", self.element)

    def __invert__(self) -> "Vector":
        return self._let(f"xor {self.typed}, splat (i1 true)", self.element)

    def __and__(self, other: "Vector | int") -> "Vector":
        return self._step("and", other)

    def __or__(self, other: "Vector | int") -> "Vector":
        return self._step("or", other)

    def __xor__(self, other: "Vector | int") -> "Vector":
        return self._step("xor", other)

    def __lshift__(self, count: "Vector | int") -> "Vector":
        return self._step("shl", count)

    def __rshift__(self, count: int) -> "Vector":
        return self._step("lshr", count)

    def arithmetic_shift(self, count: int) -> "Vector":
        """Shift to the right with copies of the sign."""
        return self._step("ashr", count)

    def compare(self, how: str, other: "Vector | int | float") -> "Vector":
        """Return lanes of `i1`; `how` is a predicate of LLVM's `fcmp` or `icmp`."""
        test = "fcmp" if self.element in _FLOATS else "icmp"
        return self._let(f"{test} {how} {self.typed}, {self._text(other)}", "i1")

    def converted(self, step: str, element: str) -> "Vector":
        """Apply an LLVM conversion instruction such as `bitcast` or `fpext`."""
        wanted = self.function.lines.vector(element)
        return self._let(f"{step} {self.typed} to {wanted}", element)

    def bits(self) -> "Vector":
        """Return the bit pattern of floats."""
        return self.converted("bitcast", "i64" if self.element == "double" else "i32")

    def as_float(self) -> "Vector":
        """Return the floats that have bit patterns of integers."""
        element = "double" if self.element == "i64" else "float"
        return self.converted("bitcast", element)

    @property
    def typed(self) -> str:
        """The value with its type, as instructions take it."""
        return f"{self.function.lines.vector(self.element)} {self.name}"

    def _step(self, operation: str, other: "Vector | int | float") -> "Vector":
        prefix = "f" if self.element in _FLOATS else ""
        step = f"{prefix}{operation} {self.typed}, {self._text(other)}"
        return self._let(step, self.element)

    def _same(self, other: int | float) -> "Vector":
        return self.function.constant(self.element, other)

    def _text(self, other: "Vector | int | float") -> str:
        return self.function.constant(self.element, other).name

    def _let(self, instruction: str, element: str) -> "Vector":
        return Vector(self.function, self.function.lines.let(instruction), element)


class VectorFunction:
    """A function from vectors to a vector of the same type, under construction."""

    def __init__(
        self, name: str, element: str, arity: int, lanes: int, gathers: bool
    ) -> None:
        """Start a function `name` of `arity` vectors of `lanes` elements.

        It reads tables by gather instructions if `gathers`.
        """
        self.lines = Lines(lanes, "v")
        self.operands = [Vector(self, f"%x{i}", element) for i in range(arity)]
        self.declarations: set[str] = set()
        self.tables: set[str] = set()
        self.calls: set[str] = set()
        self._name = name
        self._element = element
        self._gathers = gathers
        self._block = "entry"
        self._blocks = 0

    def constant(self, element: str, value: "Vector | int | float") -> Vector:
        """Return a vector that repeats a number (or `value` itself if it is one)."""
        if isinstance(value, Vector):
            return value
        if isinstance(value, int) and element not in _FLOATS:
            half = 1 << _BITS[element] - 1
            value = (value + half) % (2 * half) - half
        return Vector(self, literal(DTYPE[element], value), element)

    def fma(
        self,
        a: "Vector",
        b: "Vector | float",
        c: "Vector | float",
    ) -> Vector:
        """Return a * b + c, rounded once."""
        suffix = f"v{self.lines.lanes}{INTRINSIC_SUFFIX[DTYPE[a.element]]}"
        return self._call(f"llvm.fma.{suffix}", [a, b, c])

    def polynomial(self, x: Vector, coefficients: Sequence[float]) -> Vector:
        """Return c0 + x (c1 + x (c2 + ...)), each product rounded before its sum."""
        total = coefficients[-1] * x
        for c in coefficients[-2:0:-1]:
            total = (c + total) * x
        return coefficients[0] + total

    def fused_polynomial(self, x: Vector, coefficients: Sequence[float]) -> Vector:
        """Return c0 + x (c1 + x (c2 + ...)), each product and sum rounded once."""
        total = self.constant(x.element, coefficients[-1])
        for c in coefficients[-2::-1]:
            total = self.fma(x, total, c)
        return total

    def even_odd(
        self, x: Vector, square: Vector, coefficients: Sequence[float]
    ) -> Vector:
        """Return c0 + c1 x + c2 x^2 and so on, even and odd powers side by side."""
        odd = self.fused_polynomial(square, coefficients[1::2])
        return self.fma(x, odd, self.fused_polynomial(square, coefficients[::2]))

    def fabs(self, a: Vector) -> Vector:
        """Return the absolute value."""
        return self._intrinsic("fabs", a)

    def sqrt(self, a: Vector) -> Vector:
        """Return the square root."""
        return self._intrinsic("sqrt", a)

    def trunc(self, a: Vector) -> Vector:
        """Return the integer next to `a` towards zero."""
        return self._intrinsic("trunc", a)

    def copysign(self, size: Vector, sign: Vector) -> Vector:
        """Return `size` with the sign of `sign`."""
        return self._intrinsic("copysign", size, sign)

    def _intrinsic(self, name: str, *operands: Vector) -> Vector:
        suffix = f"v{self.lines.lanes}{INTRINSIC_SUFFIX[DTYPE[operands[0].element]]}"
        return self._call(f"llvm.{name}.{suffix}", operands)

    def select(
        self, mask: Vector, yes: "Vector | float", no: "Vector | float"
    ) -> Vector:
        """Return `yes` where `mask` is true, `no` elsewhere."""
        known = yes if isinstance(yes, Vector) else no
        assert isinstance(known, Vector)
        one = self.constant(known.element, yes).typed
        other = self.constant(known.element, no).typed
        return self._vector(f"select {mask.typed}, {one}, {other}", known.element)

    def lookup(self, table: str, index: Vector) -> Vector:
        """Return the doubles at `index` of a global array."""
        if self._gathers:
            return self._gathered(table, "double", index)
        parts = [
            self.lines.let(f"load double, ptr {at}")
            for at in self._addresses(table, index, "double")
        ]
        kind = self.lines.vector("double")
        whole = "poison"
        for lane, part in enumerate(parts):
            step = f"insertelement {kind} {whole}, double {part}, i64 {lane}"
            whole = self.lines.let(step)
        return Vector(self, whole, "double")

    def lookup_pair(self, table: str, index: Vector) -> tuple[Vector, Vector]:
        """Return both members of the pairs of doubles at `index` of a global array.

        Where gathers are slow: a load for each element, and shuffles that turn pairs
        into vectors.
        """
        if self._gathers:
            first = self._gathered(table, "[2 x double]", index)
            return first, self._gathered(table, "[2 x double]", index, 1)
        parts = [
            self.lines.let(f"load <2 x double>, ptr {at}, align 16")
            for at in self._addresses(table, index, "<2 x double>")
        ]
        join, lanes = self.lines.join, self.lines.lanes
        even, odd = join("double", parts[::2], 2), join("double", parts[1::2], 2)
        members = []
        for member in range(2):
            starts = range(member, lanes, 2)
            order = [number for i in starts for number in (i, lanes + i)]
            kind = self.lines.vector("double")
            name = self.lines.shuffle(kind, even, odd, order)
            members.append(Vector(self, name, "double"))
        return members[0], members[1]

    def _gathered(self, table: str, row: str, index: Vector, member: int = 0) -> Vector:
        """Return a member of each of the rows at `index`."""
        self.tables.add(table)
        let, lanes = self.lines.let, self.lines.lanes
        kind = self.lines.vector("double")
        name = f"@llvm.masked.gather.v{lanes}f64.v{lanes}p0"
        masks = f"<{lanes} x i1>"
        self.declarations.add(
            f"declare {kind} {name}(<{lanes} x ptr>, i32, {masks}, {kind})"
        )
        start = let(f"getelementptr double, ptr @{table}.table, i64 {member}")
        places = let(f"getelementptr {row}, ptr {start}, {index.typed}")
        return self._vector(
            f"call {kind} {name}(<{lanes} x ptr> {places}, i32 8, "
            f"{masks} splat (i1 true), {kind} poison)",
            "double",
        )

    def _addresses(self, table: str, index: Vector, element: str) -> list[str]:
        let = self.lines.let
        numbers = [
            let(f"extractelement {index.typed}, i64 {lane}")
            for lane in range(self.lines.lanes)
        ]
        self.tables.add(table)
        return [
            let(f"getelementptr {element}, ptr @{table}.table, i64 {number}")
            for number in numbers
        ]

    def where_any(
        self, mask: Vector, otherwise: Vector, compute: Callable[[], Vector]
    ) -> Vector:
        """Return `compute()` where `mask` is true, `otherwise` elsewhere.

        What `compute` emits is skipped when `mask` is false in all lanes.
        """
        word = self._word(mask)
        some = self.lines.let(f"icmp ne i{self.lines.lanes} {word}, 0")
        before, number = self._block, self._blocks
        self._blocks += 1
        self.lines.do(f"br i1 {some}, label %some{number}, label %join{number}")
        self._start(f"some{number}")
        found = self.select(mask, compute(), otherwise)
        after = self._block
        self.lines.do(f"br label %join{number}")
        self._start(f"join{number}")
        kind = self.lines.vector(otherwise.element)
        return self._vector(
            f"phi {kind} [ {found.name}, %{after} ], [ {otherwise.name}, %{before} ]",
            otherwise.element,
        )

    def libm(self, function: str, mask: Vector, *operands: Vector) -> Vector:
        """Return libm's `function` where `mask` is true."""
        word = self._word(mask)
        self.calls.add(function)
        passed = ", ".join(operand.typed for operand in operands)
        element = operands[0].element
        kind = self.lines.vector(element)
        return self._vector(
            f"call {kind} @{LIBM}{function}(i{self.lines.lanes} {word}, {passed})",
            element,
        )

    def finish(self, result: Vector) -> str:
        """Return the text of the function."""
        self.lines.do(f"ret {result.typed}")
        given = ", ".join(operand.typed for operand in self.operands)
        kind = self.lines.vector(self._element)
        head = f"define {kind} @{self._name}({given}) #0 {{\nentry:"
        return "\n".join([head, *self.lines.text, "}"])

    def _word(self, mask: Vector) -> str:
        return self.lines.let(f"bitcast {mask.typed} to i{self.lines.lanes}")

    def _start(self, block: str) -> None:
        self.lines.text.append(f"{block}:")
        self._block = block

    def _call(self, function: str, operands: Sequence["Vector | float"]) -> Vector:
        first = operands[0]
        assert isinstance(first, Vector)
        given = [self.constant(first.element, operand) for operand in operands]
        kind = self.lines.vector(first.element)
        kinds = ", ".join([kind] * len(given))
        self.declarations.add(f"declare {kind} @{function}({kinds})")
        passed = ", ".join(operand.typed for operand in given)
        return self._vector(f"call {kind} @{function}({passed})", first.element)

    def _vector(self, instruction: str, element: str) -> Vector:
        return Vector(self, self.lines.let(instruction), element)
