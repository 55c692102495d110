# SPDX-License-Identifier: Apache-2.0
"""Vector routines that give, bit for bit, glibc's log1p, log10, asinh, acosh and atanh.

They do FDLIBM's operations in the order in which glibc does them, for all cases at
once. In double precision log1p has a variant with what gcc fuses in glibc since 2.39
(and in later updates of older versions), and one in which nothing is fused.

Follows: FDLIBM (s_log1p.c, e_log10.c, s_asinh.c, e_acosh.c, e_atanh.c, and their
conversions to singles)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from legate_diffuse.maths.formats import (
    format_of,
    high_word,
    numbers,
    word,
)
from legate_diffuse.maths.powers import log, logf
from legate_diffuse.maths.routine import Routine, multiplier, variants
from legate_diffuse.maths.vector_function import Vector, VectorFunction

_INFINITY: Final = float("inf")
_NAN: Final = float("nan")


@dataclass(frozen=True, slots=True)
class _Constants:
    """What differs between double and single precision."""

    log: Callable[[VectorFunction, Vector], Vector]
    ln2_high: float
    ln2_low: float
    ln2: float
    polynomial: tuple[float, ...]
    near_0: tuple[float, float]
    """log1p does not reduce numbers between these."""
    no_tail: float
    """From here on 1 + x is not computed."""
    sqrt2: int
    """Fraction of the least number that is divided by two."""
    even_nearer_0: int
    """log(1 + r) needs only r^2 if the fraction of r is at most this."""
    even_nearer_1: int
    """The same if the fraction of 1 + r is at least this."""
    inverse_ln10: float
    log10_2_high: float
    log10_2_low: float
    asinh_tiny: float
    asinh_large: float


_DOUBLE: Final = _Constants(
    log=log,
    ln2_high=6.93147180369123816490e-01,
    ln2_low=1.90821492927058770002e-10,
    ln2=6.93147180559945286227e-01,
    polynomial=numbers("""
    6.666666666666735130e-01 3.999999999940941908e-01 2.857142874366239149e-01
    2.222219843214978396e-01 1.818357216161805012e-01 1.531383769920937332e-01
    1.479819860511658591e-01
    """),
    near_0=(high_word(0xBFD2BEC4), high_word(0x3FDA827A)),
    no_tail=high_word(0x43400000),
    sqrt2=0x6A09E << 32,
    even_nearer_0=0xFFFFFFFF,
    even_nearer_1=0xFFFFD << 32,
    inverse_ln10=4.34294481903251816668e-01,
    log10_2_high=3.01029995663611771306e-01,
    log10_2_low=3.69423907715893078616e-13,
    asinh_tiny=2.0**-28,
    asinh_large=high_word(0x41B00001),
)
_SINGLE: Final = _Constants(
    log=logf,
    ln2_high=6.9313812256e-01,
    ln2_low=9.0580006145e-06,
    ln2=6.9314718246e-01,
    polynomial=numbers("""
    6.6666668653e-01 4.0000000596e-01 2.8571429849e-01 2.2222198546e-01
    1.8183572590e-01 1.5313838422e-01 1.4798198640e-01
    """),
    near_0=(word(0xBE95F620), word(0x3ED413D7)),
    no_tail=word(0x5A000000),
    sqrt2=0x3504F7,
    even_nearer_0=0,
    even_nearer_1=0x7FFFFD,
    inverse_ln10=4.3429449201e-01,
    log10_2_high=3.0102920532e-01,
    log10_2_low=7.9034151668e-07,
    asinh_tiny=2.0**-28,
    asinh_large=word(0x4D800001),
)


def _constants(x: Vector) -> _Constants:
    return _DOUBLE if x.element == "double" else _SINGLE


def _log1p(f: VectorFunction, x: Vector, fused: bool) -> Vector:
    size = f.fabs(x)
    y = _log1p_of_finite(f, x, fused)
    small = f.select(size.compare("olt", 2.0**-54), x, x - x * x * 0.5)
    y = f.select(size.compare("olt", 2.0**-29), small, y)
    y = f.select(x.compare("oeq", _INFINITY), x, y)
    y = f.select(x.compare("oeq", -1.0), -_INFINITY, y)
    return f.select(x.compare("oge", -1.0), y, _NAN)


def _log1p_of_finite(f: VectorFunction, x: Vector, fused: bool) -> Vector:
    """Return log(1 + x) for -1 < x < infinity where it is not next to x."""
    c, form = _constants(x), format_of(x)
    multiply_add = multiplier(f, x, fused)
    ln2_high, ln2_low = (f.constant(x.element, v) for v in (c.ln2_high, c.ln2_low))
    low, high = c.near_0
    near_0 = x.compare("ogt", low) & x.compare("olt", high)
    huge = x.compare("oge", c.no_tail)
    u = f.select(huge, x, 1.0 + x)
    pattern = u.bits()
    k = pattern.arithmetic_shift(form.fraction_bits) - form.bias
    tail = f.select(k.compare("sgt", 0), 1.0 - (u - x), x - (u - 1.0))
    tail = f.select(huge, 0.0, tail / u)
    fraction = pattern & form.fraction
    above = fraction.compare("uge", c.sqrt2)
    exponent = f.select(above, (form.bias - 1) << form.fraction_bits, _one(f, x))
    k = f.select(above, k + 1, k)
    r = f.select(near_0, x, (fraction | exponent).as_float() - 1.0)
    k = f.select(near_0, f.constant(k.element, 0), k)
    t = k.converted("sitofp", x.element)
    even_nearer = (
        fraction.compare("ule", c.even_nearer_0)
        | fraction.compare("uge", c.even_nearer_1)
    ) & ~near_0
    half_square = 0.5 * r * r
    s = r / (2.0 + r)
    inner = s * (half_square + _log1p_polynomial(f, s * s, c, fused))
    carried = multiply_add(t, ln2_low, tail)
    y = multiply_add(t, ln2_high, -((half_square - (inner + carried)) - r))
    y = f.select(k.compare("eq", 0), r - (half_square - inner), y)

    def nearer() -> Vector:
        two_thirds = f.constant(x.element, 0.66666666666666666)
        rest = half_square * multiply_add(-r, two_thirds, f.constant(x.element, 1.0))
        near = multiply_add(t, ln2_high, -((rest - carried) - r))
        return f.select(k.compare("eq", 0), r - rest, near)

    return f.where_any(even_nearer, y, nearer)


def _one(f: VectorFunction, x: Vector) -> Vector:
    return f.constant(x.element, 1.0).bits()


def _log1p_polynomial(
    f: VectorFunction, x: Vector, c: _Constants, fused: bool
) -> Vector:
    if x.element == "float":
        return f.polynomial(x, c.polynomial) * x
    multiply_add = multiplier(f, x, fused)
    p1, p2, p3, p4, p5, p6, p7 = (f.constant(x.element, p) for p in c.polynomial)
    square = x * x
    fourth = square * square
    p = multiply_add(x, p1, square * multiply_add(x, p3, p2))
    p = multiply_add(fourth, multiply_add(x, p5, p4), p)
    return multiply_add(fourth * square, multiply_add(x, p7, p6), p)


def _log10(f: VectorFunction, x: Vector) -> Vector:
    c, form = _constants(x), format_of(x)
    bits = form.fraction_bits + 2
    subnormal = x.compare("olt", 2.0 ** (1 - form.bias))
    pattern = f.select(subnormal, x * 2.0**bits, x).bits()
    k = pattern.arithmetic_shift(form.fraction_bits) - form.bias
    k = f.select(subnormal, k - bits, k)
    negative = k.compare("slt", 0)
    k = f.select(negative, k + 1, k)
    exponent = f.select(negative, (form.bias - 1) << form.fraction_bits, _one(f, x))
    r = ((pattern & form.fraction) | exponent).as_float()
    t = k.converted("sitofp", x.element)
    y = (t * c.log10_2_low + c.inverse_ln10 * c.log(f, r)) + t * c.log10_2_high
    y = f.select(x.compare("ueq", _INFINITY), x, y)
    y = f.select(x.compare("oeq", 0.0), -_INFINITY, y)
    return f.select(x.compare("olt", 0.0), _NAN, y)


def _asinh(f: VectorFunction, x: Vector, fused: bool) -> Vector:
    c = _constants(x)
    size = f.fabs(x)
    square = size * size
    root = f.sqrt(square + 1.0)
    moderate = size.compare("olt", c.asinh_large)
    argument = f.select(moderate, 2.0 * size + 1.0 / (root + size), size)
    y = c.log(f, argument)
    y = f.select(moderate, y, y + c.ln2)
    small = size.compare("olt", _above_2(x))

    def below_2() -> Vector:
        return _log1p_of_finite(f, size + square / (1.0 + root), fused)

    y = f.where_any(small, y, below_2)
    y = f.copysign(y, x)
    y = f.select(size.compare("oge", c.asinh_tiny), y, x)
    if x.element == "double":
        return y
    # what may be neglected there is not the same in all versions of libm
    extreme = size.compare("ogt", 2.0**14)
    extreme = extreme | (size.compare("olt", 2.0**-12) & x.compare("one", 0.0))
    return f.where_any(extreme, y, lambda: f.libm("asinhf", extreme, x))


def _acosh(f: VectorFunction, x: Vector, fused: bool) -> Vector:
    c = _constants(x)
    root = f.sqrt(x * x - 1.0)
    moderate = x.compare("olt", 2.0**28)
    argument = f.select(moderate, 2.0 * x - 1.0 / (x + root), x)
    y = c.log(f, argument)
    y = f.select(moderate, y, y + c.ln2)

    def below_2() -> Vector:
        t = x - 1.0
        near = _log1p(f, t + f.sqrt(2.0 * t + t * t), fused)
        return f.select(x.compare("oeq", 1.0), 0.0, near)

    y = f.where_any(x.compare("ole", 2.0), y, below_2)
    return f.select(x.compare("olt", 1.0), _NAN, y)


def _above_2(x: Vector) -> float:
    """Return the least number that asinh treats as above 2."""
    return high_word(0x40000001) if x.element == "double" else word(0x40000001)


def _atanh(f: VectorFunction, x: Vector, fused: bool) -> Vector:
    size = f.fabs(x)
    double = size + size
    rest = 1.0 - size
    below_half = size.compare("olt", 0.5)
    quotient = f.select(below_half, double * size, double) / rest
    y = 0.5 * _log1p(f, f.select(below_half, double + quotient, quotient), fused)
    y = f.copysign(y, x)
    y = f.select(
        size.compare("oeq", 1.0), f.copysign(f.constant(x.element, _INFINITY), x), y
    )
    y = f.select(size.compare("olt", 2.0**-28), x, y)
    return f.select(size.compare("ugt", 1.0), _NAN, y)


ROUTINES: Final = {
    "acosh": Routine(variants(_acosh), "double", 1),
    "acoshf": Routine(variants(_acosh)[1:], "float", 1),
    "asinh": Routine(variants(_asinh), "double", 1),
    "asinhf": Routine(variants(_asinh)[1:], "float", 1),
    "atanh": Routine(variants(_atanh), "double", 1),
    "atanhf": Routine(variants(_atanh)[1:], "float", 1),
    "log10": Routine((_log10,), "double", 1),
    "log10f": Routine((_log10,), "float", 1),
    "log1p": Routine(variants(_log1p), "double", 1),
    "log1pf": Routine(variants(_log1p)[1:], "float", 1),
}
