# SPDX-License-Identifier: Apache-2.0
"""Products and quotients of complex numbers, with the bits of `cuda::std::complex`.

That is Annex G of C: if both parts are NaN although an operand is infinite, or the
divisor is zero, the result is computed again from signs. This is rare, so it is in a
function of its own. Products are rounded before they are added, or not, as GCC
contracts the header's expressions in upstream's wheels.

Follows: CCCL (libcudacxx/include/cuda/std/complex)
"""

from collections.abc import Callable, Sequence
from typing import Final

from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import INTRINSIC_SUFFIX, LLVM_TYPE, literal
from legate_diffuse.maths.float_parts import BIAS, FRACTION_BITS

_INTEGER: Final = {"float32": "i32", "float64": "i64"}
_INFINITY: Final = float("inf")


Declare = Callable[[str, str], object]
"""Takes the name of an external function and its declaration."""


class _Parts:
    """Emits operations on vectors of real numbers, and on masks."""

    def __init__(self, lines: Lines, part: str, declare: Declare) -> None:
        self._lines = lines
        self._part = part
        self._declare = declare
        self.kind = lines.vector(LLVM_TYPE[part])
        self.flags = lines.vector("i1")

    def step(self, name: str, *operands: str) -> str:
        return self._lines.let(f"{name} {self.kind} {', '.join(operands)}")

    def call(self, name: str, *operands: str) -> str:
        suffix = f"v{self._lines.lanes}{INTRINSIC_SUFFIX[self._part]}"
        function = f"@llvm.{name}.{suffix}"
        kinds = ", ".join([self.kind] * len(operands))
        self._declare(function, f"declare {self.kind} {function}({kinds})")
        passed = ", ".join(f"{self.kind} {operand}" for operand in operands)
        return self._lines.let(f"call {self.kind} {function}({passed})")

    def constant(self, value: float) -> str:
        return literal(self._part, value)

    def minus(self, x: str) -> str:
        return self.step("fneg", x)

    def is_nan(self, x: str) -> str:
        return self.step("fcmp uno", x, x)

    def is_inf(self, x: str) -> str:
        return self.step("fcmp oeq", self.call("fabs", x), self.constant(_INFINITY))

    def is_finite(self, x: str) -> str:
        return self.step("fcmp olt", self.call("fabs", x), self.constant(_INFINITY))

    def both(self, *masks: str) -> str:
        return self._joined("and", masks)

    def either(self, *masks: str) -> str:
        return self._joined("or", masks)

    def inverse(self, mask: str) -> str:
        return self._lines.let(f"xor {self.flags} {mask}, splat (i1 true)")

    def select(self, mask: str, x: str, y: str) -> str:
        return self._lines.let(
            f"select {self.flags} {mask}, {self.kind} {x}, {self.kind} {y}"
        )

    def unit(self, x: str) -> str:
        """One if x is infinite, else zero, with the sign of x."""
        one = self.select(self.is_inf(x), self.constant(1), self.constant(0))
        return self.call("copysign", one, x)

    def number(self, x: str) -> str:
        """A zero for a NaN."""
        zero = self.call("copysign", self.constant(0), x)
        return self.select(self.is_nan(x), zero, x)

    def _joined(self, name: str, masks: Sequence[str]) -> str:
        result = masks[0]
        for mask in masks[1:]:
            result = self._lines.let(f"{name} {self.flags} {result}, {mask}")
        return result


def product_function(name: str, part: str, lanes: int, declare: Declare) -> str:
    """Return a function of a + bi and c + di that returns the parts of their product.

    No product is contracted: the header also asks whether they are infinite.
    """
    common, rare = Lines(lanes, "v"), Lines(lanes, "r")
    on = _Parts(common, part, declare)
    ac, bd = on.step("fmul", "%a", "%c"), on.step("fmul", "%b", "%d")
    ad, bc = on.step("fmul", "%a", "%d"), on.step("fmul", "%b", "%c")
    x, y = on.step("fsub", ac, bd), on.step("fadd", ad, bc)
    lost = on.both(on.is_nan(x), on.is_nan(y))

    on = _Parts(rare, part, declare)
    infinite = on.either(on.is_inf("%a"), on.is_inf("%b"))
    infinite_too = on.either(on.is_inf("%c"), on.is_inf("%d"))
    overflow = on.either(*(on.is_inf(each) for each in (ac, bd, ad, bc)))
    again = on.both(lost, on.either(infinite, infinite_too, overflow))
    a, b = (on.select(infinite, on.unit(v), on.number(v)) for v in ("%a", "%b"))
    c, d = (on.select(infinite_too, on.unit(v), on.number(v)) for v in ("%c", "%d"))
    real = on.step("fsub", on.step("fmul", a, c), on.step("fmul", b, d))
    imag = on.step("fadd", on.step("fmul", a, d), on.step("fmul", b, c))
    infinity = on.constant(_INFINITY)
    second = [
        on.select(again, on.step("fmul", infinity, value), old)
        for value, old in ((real, x), (imag, y))
    ]
    return _function(name, on, lanes, common, (x, y), lost, rare, second)


def quotient_function(name: str, part: str, lanes: int, declare: Declare) -> str:
    """Return a function of a + bi and c + di that returns the parts of their quotient.

    The divisor is scaled by a power of two so that its larger part is about 1.
    """
    common, rare = Lines(lanes, "v"), Lines(lanes, "r")
    on = _Parts(common, part, declare)
    scales = _scales(on, common, part)
    c, d = (_scaled(on, v, scales) for v in ("%c", "%d"))
    denominator = on.call("fma", c, c, on.step("fmul", d, d))
    sums = _combined(on, "%a", "%b", c, d)
    x, y = (_scaled(on, on.step("fdiv", value, denominator), scales) for value in sums)
    lost = on.both(on.is_nan(x), on.is_nan(y))

    on = _Parts(rare, part, declare)
    infinity, zero = on.constant(_INFINITY), on.constant(0)
    number = on.inverse(on.both(on.is_nan("%a"), on.is_nan("%b")))
    by_zero = on.both(on.step("fcmp oeq", denominator, zero), number)
    signed = on.call("copysign", infinity, c)
    poles = [on.step("fmul", signed, v) for v in ("%a", "%b")]
    infinite = on.either(on.is_inf("%a"), on.is_inf("%b"))
    infinite = on.both(infinite, on.is_finite(c), on.is_finite(d))
    large = _combined(on, on.unit("%a"), on.unit("%b"), c, d)
    finite = on.both(on.is_finite("%a"), on.is_finite("%b"))
    by_infinity = on.either(on.is_inf("%c"), on.is_inf("%d"))
    # the header asks for the exponent of fmax, which is finite beside a NaN
    by_infinity = on.both(by_infinity, finite)
    small = _combined(on, "%a", "%b", on.unit(c), on.unit(d))
    second = []
    for place, old in enumerate((x, y)):
        value = on.select(by_infinity, on.step("fmul", zero, small[place]), old)
        value = on.select(infinite, on.step("fmul", infinity, large[place]), value)
        value = on.select(by_zero, poles[place], value)
        second.append(on.select(lost, value, old))
    return _function(name, on, lanes, common, (x, y), lost, rare, second)


def _combined(on: _Parts, a: str, b: str, c: str, d: str) -> tuple[str, str]:
    """Emit the parts of the product of a + bi and c - di."""
    return (
        on.call("fma", a, c, on.step("fmul", b, d)),
        on.call("fma", on.minus(a), d, on.step("fmul", b, c)),
    )


def _scales(on: _Parts, lines: Lines, part: str) -> list[str]:
    """Emit two factors whose product is 2 ** -logb(fmax(|c|, |d|)); 1 if not finite."""
    integer, kind = _INTEGER[part], lines.vector(_INTEGER[part])
    mantissa, bias = FRACTION_BITS[part], BIAS[part]
    sizes = [on.call("fabs", v) for v in ("%c", "%d")]
    size = on.call("maxnum", *sizes)
    small = on.step("fcmp olt", size, on.constant(2.0 ** (1 - bias)))
    # a subnormal number gets an exponent of its own by an exact product
    up = on.step("fmul", size, on.constant(2.0**mantissa))
    normal = on.select(small, up, size)
    bits = lines.let(f"bitcast {on.kind} {normal} to {kind}")
    field = lines.let(f"lshr {kind} {bits}, splat ({integer} {mantissa})")
    less = lines.let(
        f"select {on.flags} {small}, {kind} splat ({integer} {bias + mantissa}), "
        f"{kind} splat ({integer} {bias})"
    )
    power = lines.let(f"sub {kind} {less}, {field}")
    usable = on.both(on.is_finite(size), on.step("fcmp ogt", size, on.constant(0)))
    power = lines.let(
        f"select {on.flags} {usable}, {kind} {power}, {kind} zeroinitializer"
    )
    half = lines.let(f"ashr {kind} {power}, splat ({integer} 1)")
    rest = lines.let(f"sub {kind} {power}, {half}")
    factors = []
    for exponent in (half, rest):
        biased = lines.let(f"add {kind} {exponent}, splat ({integer} {bias})")
        shifted = lines.let(f"shl {kind} {biased}, splat ({integer} {mantissa})")
        factors.append(lines.let(f"bitcast {kind} {shifted} to {on.kind}"))
    return factors


def _scaled(on: _Parts, x: str, factors: Sequence[str]) -> str:
    for factor in factors:
        x = on.step("fmul", x, factor)
    return x


def _function(
    name: str,
    on: _Parts,
    lanes: int,
    common: Lines,
    first: Sequence[str],
    lost: str,
    rare: Lines,
    second: Sequence[str],
) -> str:
    pair = f"{{ {on.kind}, {on.kind} }}"

    def returned(prefix: str, values: Sequence[str]) -> list[str]:
        one = f"  %{prefix}.0 = insertvalue {pair} poison, {on.kind} {values[0]}, 0"
        two = (
            f"  %{prefix}.1 = insertvalue {pair} %{prefix}.0, {on.kind} {values[1]}, 1"
        )
        return [one, two, f"  ret {pair} %{prefix}.1"]

    parameters = ", ".join(f"{on.kind} %{letter}" for letter in "abcd")
    return "\n".join(
        [
            # apart, so that the common case keeps its values in registers
            f"define internal {pair} {name}.rare({parameters}) noinline cold #0 {{",
            *common.text,
            *rare.text,
            *returned("second", second),
            "}",
            f"define internal {pair} {name}({parameters}) #0 {{",
            *common.text,
            f"  %bits = bitcast {on.flags} {lost} to i{lanes}",
            f"  %any = icmp ne i{lanes} %bits, 0",
            "  br i1 %any, label %rare, label %common",
            "common:",
            *returned("first", first),
            "rare:",
            f"  %again = call {pair} {name}.rare({parameters})",
            f"  ret {pair} %again",
            "}",
        ]
    )
