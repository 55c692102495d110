# SPDX-License-Identifier: Apache-2.0
"""Products and quotients of complex numbers, with the bits of `cuda::std::complex`.

That is Annex G of C: if both parts are NaN although an operand is infinite, or the
divisor is zero, the result is computed again from signs. This is rare, so it is in a
function of its own. Products are rounded before they are added, or not, as GCC
contracts the header's expressions in upstream's wheels.

Follows: CCCL (libcudacxx/include/cuda/std/complex)
"""

from collections.abc import Sequence
from functools import partial, reduce
from typing import Final

from legate_diffuse.codegen.float_code import FloatCode
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import LLVM_TYPE
from legate_diffuse.maths.formats import FORMATS

_INFINITY: Final = float("inf")


class _Parts(FloatCode):
    """Emits operations on vectors of real numbers, and on masks."""

    def called(self, name: str, *operands: str) -> str:
        return self.lines.let(self.call(name, *operands))

    def is_nan(self, x: str) -> str:
        return self.on_floats("fcmp uno", x, x)

    def is_inf(self, x: str) -> str:
        return self.on_floats(
            "fcmp oeq", self.called("fabs", x), self.number(_INFINITY)
        )

    def is_finite(self, x: str) -> str:
        return self.on_floats(
            "fcmp olt", self.called("fabs", x), self.number(_INFINITY)
        )

    def both(self, *masks: str) -> str:
        return reduce(partial(self.on_flags, "and"), masks)

    def either(self, *masks: str) -> str:
        return reduce(partial(self.on_flags, "or"), masks)

    def choice(self, mask: str, x: str, y: str) -> str:
        return self.select(mask, self.kind, x, y)

    def unit(self, x: str) -> str:
        """One if x is infinite, else zero, with the sign of x."""
        one = self.choice(self.is_inf(x), self.number(1), self.number(0))
        return self.called("copysign", one, x)

    def known(self, x: str) -> str:
        """A zero for a NaN."""
        zero = self.called("copysign", self.number(0), x)
        return self.choice(self.is_nan(x), zero, x)


def call_on_parts(
    lines: Lines, function: str, part: str, parts: Sequence[str]
) -> tuple[str, str]:
    """Emit a call of such a function; return the instructions for the parts."""
    kind = lines.vector(LLVM_TYPE[part])
    pair = f"{{ {kind}, {kind} }}"
    passed = ", ".join(f"{kind} {each}" for each in parts)
    both = lines.let(f"call {pair} {function}({passed})")
    return f"extractvalue {pair} {both}, 0", f"extractvalue {pair} {both}, 1"


def product_function(
    name: str, part: str, lanes: int, declarations: dict[str, str]
) -> str:
    """Return a function of a + bi and c + di that returns the parts of their product.

    No product is contracted: the header also asks whether they are infinite.
    """
    common, rare = Lines(lanes, "v"), Lines(lanes, "r")
    on = _Parts(common, part, lanes, declarations)
    ac, bd = on.on_floats("fmul", "%a", "%c"), on.on_floats("fmul", "%b", "%d")
    ad, bc = on.on_floats("fmul", "%a", "%d"), on.on_floats("fmul", "%b", "%c")
    x, y = on.on_floats("fsub", ac, bd), on.on_floats("fadd", ad, bc)
    lost = on.both(on.is_nan(x), on.is_nan(y))

    on = _Parts(rare, part, lanes, declarations)
    infinite = on.either(on.is_inf("%a"), on.is_inf("%b"))
    infinite_too = on.either(on.is_inf("%c"), on.is_inf("%d"))
    overflow = on.either(*(on.is_inf(each) for each in (ac, bd, ad, bc)))
    again = on.both(lost, on.either(infinite, infinite_too, overflow))
    a, b = (on.choice(infinite, on.unit(v), on.known(v)) for v in ("%a", "%b"))
    c, d = (on.choice(infinite_too, on.unit(v), on.known(v)) for v in ("%c", "%d"))
    real = on.on_floats("fsub", on.on_floats("fmul", a, c), on.on_floats("fmul", b, d))
    imag = on.on_floats("fadd", on.on_floats("fmul", a, d), on.on_floats("fmul", b, c))
    infinity = on.number(_INFINITY)
    second = [
        on.choice(again, on.on_floats("fmul", infinity, value), old)
        for value, old in ((real, x), (imag, y))
    ]
    return _function(name, on, common, (x, y), lost, rare, second)


def quotient_function(
    name: str, part: str, lanes: int, declarations: dict[str, str]
) -> str:
    """Return a function of a + bi and c + di that returns the parts of their quotient.

    The divisor is scaled by a power of two so that its larger part is about 1.
    """
    common, rare = Lines(lanes, "v"), Lines(lanes, "r")
    on = _Parts(common, part, lanes, declarations)
    scales = _scales(on)
    c, d = (_scaled(on, v, scales) for v in ("%c", "%d"))
    denominator = on.multiply_add(c, c, on.on_floats("fmul", d, d))
    sums = _combined(on, "%a", "%b", c, d)
    x, y = (
        _scaled(on, on.on_floats("fdiv", value, denominator), scales) for value in sums
    )
    lost = on.both(on.is_nan(x), on.is_nan(y))

    on = _Parts(rare, part, lanes, declarations)
    infinity, zero = on.number(_INFINITY), on.number(0)
    number = on.on_flags(
        "xor", on.both(on.is_nan("%a"), on.is_nan("%b")), "splat (i1 true)"
    )
    by_zero = on.both(on.on_floats("fcmp oeq", denominator, zero), number)
    signed = on.called("copysign", infinity, c)
    poles = [on.on_floats("fmul", signed, v) for v in ("%a", "%b")]
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
        value = on.choice(by_infinity, on.on_floats("fmul", zero, small[place]), old)
        value = on.choice(infinite, on.on_floats("fmul", infinity, large[place]), value)
        value = on.choice(by_zero, poles[place], value)
        second.append(on.choice(lost, value, old))
    return _function(name, on, common, (x, y), lost, rare, second)


def _combined(on: _Parts, a: str, b: str, c: str, d: str) -> tuple[str, str]:
    """Emit the parts of the product of a + bi and c - di."""
    return (
        on.multiply_add(a, c, on.on_floats("fmul", b, d)),
        on.multiply_add(on.on_floats("fneg", a), d, on.on_floats("fmul", b, c)),
    )


def _scales(on: _Parts) -> list[str]:
    """Emit two factors whose product is 2 ** -logb(fmax(|c|, |d|)); 1 if not finite."""
    form = FORMATS[on.dtype]
    fraction_bits, bias = form.fraction_bits, form.bias
    sizes = [on.called("fabs", v) for v in ("%c", "%d")]
    size = on.called("maxnum", *sizes)
    small = on.on_floats("fcmp olt", size, on.number(2.0 ** (1 - bias)))
    # a subnormal number gets an exponent of its own by an exact product
    up = on.on_floats("fmul", size, on.number(2.0**fraction_bits))
    normal = on.choice(small, up, size)
    field = on.on_bits("lshr", on.bits_of(normal), on.bits(fraction_bits))
    offsets = on.bits(bias + fraction_bits), on.bits(bias)
    power = on.on_bits("sub", on.select(small, on.pattern, *offsets), field)
    usable = on.both(on.is_finite(size), on.on_floats("fcmp ogt", size, on.number(0)))
    power = on.select(usable, on.pattern, power, "zeroinitializer")
    # One is as large as it can be, the rest comes first. A product with a rest below 1
    # that is no normal number is 0 in the end, so nothing is rounded twice.
    limited = on.lines.let(on.call_on_bits("smin", power, on.bits(bias)))
    most = on.lines.let(on.call_on_bits("smax", limited, on.bits(1 - bias)))
    factors = []
    for exponent in (on.on_bits("sub", power, most), most):
        biased = on.on_bits("add", exponent, on.bits(bias))
        factors.append(on.float_of(on.on_bits("shl", biased, on.bits(fraction_bits))))
    return factors


def _scaled(on: _Parts, x: str, factors: Sequence[str]) -> str:
    for factor in factors:
        x = on.on_floats("fmul", x, factor)
    return x


def _function(
    name: str,
    on: _Parts,
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
            f"  %bits = bitcast {on.flags} {lost} to i{on.lanes}",
            f"  %any = icmp ne i{on.lanes} %bits, 0",
            "  br i1 %any, label %rare, label %common",
            "common:",
            *returned("first", first),
            "rare:",
            f"  %again = call {pair} {name}.rare({parameters})",
            f"  ret {pair} %again",
            "}",
        ]
    )
