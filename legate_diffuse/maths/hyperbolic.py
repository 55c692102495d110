# SPDX-License-Identifier: Apache-2.0
"""Vector routines that give, bit for bit, what glibc's expm1, sinh, cosh, tanh give.

They do FDLIBM's operations in the order in which glibc does them, for all cases at
once. In double precision expm1 has a variant with what gcc fuses in glibc since 2.39
(and in later updates of older versions), and one in which nothing is fused.

Follows: FDLIBM (s_expm1.c, e_sinh.c, e_cosh.c, s_tanh.c, and their conversions to
singles)
"""

from dataclasses import dataclass
from typing import Final

from legate_diffuse.maths.formats import (
    format_of,
    high_word,
    numbers,
    power_of_two,
    scaled,
    word,
)
from legate_diffuse.maths.powers import exp, expf
from legate_diffuse.maths.routine import Routine, multiplier, variants
from legate_diffuse.maths.vector_function import Vector, VectorFunction

_INFINITY: Final = float("inf")


@dataclass(frozen=True, slots=True)
class _Constants:
    """What differs between double and single precision.

    `half_ln2` and so on are the least numbers that are treated as above these bounds.
    """

    tiny: float
    half_ln2: float
    largest_all_minus_1: float
    overflow: float
    inverse_ln2: float
    ln2_high: float
    ln2_low: float
    polynomial: tuple[float, ...]
    precise_powers: int
    tanh_tiny: float
    sinh_tiny: float
    cosh_tiny: float
    cosh_small: float
    exp_overflow: float
    overflow_of_half: float


_DOUBLE: Final = _Constants(
    tiny=2.0**-54,
    half_ln2=high_word(0x3FD62E43),
    largest_all_minus_1=high_word(0x4043687A),
    overflow=7.09782712893383973096e02,
    inverse_ln2=1.44269504088896338700e00,
    ln2_high=6.93147180369123816490e-01,
    ln2_low=1.90821492927058770002e-10,
    polynomial=numbers("""
    1.0 -3.33333333333331316428e-02 1.58730158725481460165e-03
    -7.93650757867487942473e-05 4.00821782732936239552e-06 -2.01099218183624371326e-07
    """),
    precise_powers=20,
    tanh_tiny=2.0**-55,
    sinh_tiny=2.0**-28,
    cosh_tiny=2.0**-55,
    cosh_small=high_word(0x3FD62E43),
    exp_overflow=high_word(0x40862E42),
    overflow_of_half=float.fromhex("0x1.633ce8fb9f87dp+9"),
)
_SINGLE: Final = _Constants(
    tiny=2.0**-25,
    half_ln2=word(0x3EB17219),
    largest_all_minus_1=word(0x4195B844),
    overflow=word(0x42B17217),
    inverse_ln2=1.4426950216e00,
    ln2_high=6.9313812256e-01,
    ln2_low=9.0580006145e-06,
    polynomial=numbers("""
    1.0 -3.3333335072e-02 1.5873016091e-03 -7.9365076090e-05 4.0082177293e-06
    -2.0109921195e-07
    """),
    precise_powers=23,
    tanh_tiny=2.0**-55,
    sinh_tiny=2.0**-28,
    cosh_tiny=2.0**-55,
    cosh_small=word(0x3EB17218),
    exp_overflow=word(0x42B17180),
    overflow_of_half=word(0x42B2D4FC),
)


def _constants(x: Vector) -> _Constants:
    return _DOUBLE if x.element == "double" else _SINGLE


def _expm1(f: VectorFunction, x: Vector, fused: bool) -> Vector:
    c = _constants(x)
    size = f.fabs(x)
    y = _expm1_of_bounded(f, x, fused)
    y = f.select(size.compare("olt", c.tiny), x, y)
    y = f.select(x.compare("ole", -c.largest_all_minus_1), -1.0, y)
    y = f.select(x.compare("ogt", c.overflow), _INFINITY, y)
    return f.select(x.compare("uno", x), x, y)


def _expm1_of_bounded(f: VectorFunction, x: Vector, fused: bool) -> Vector:
    """Return exp(x) - 1 where it neither overflows nor is next to x or -1."""
    c = _constants(x)
    multiply_add = multiplier(f, x, fused)
    size = f.fabs(x)
    rounded = f.trunc(c.inverse_ln2 * x + f.copysign(f.constant(x.element, 0.5), x))
    t = f.select(size.compare("oge", c.half_ln2), rounded, 0.0)
    k = t.converted("fptosi", format_of(x).integer)
    high = x - t * c.ln2_high
    low = t * c.ln2_low
    r = high - low
    correction = (high - r) - low
    half = 0.5 * r
    square = r * half
    p = _expm1_polynomial(f, square, c, fused)
    t = multiply_add(-p, half, f.constant(x.element, 3.0))
    e = square * ((p - t) / multiply_add(-r, t, f.constant(x.element, 6.0)))
    at_0 = r - multiply_add(r, e, -square)
    e = multiply_add(r, e - correction, -correction) - square
    difference = e - r
    at_minus_1 = -0.5 * difference - 0.5
    at_1 = f.select(
        r.compare("olt", -0.25), -2.0 * (e - (r + 0.5)), 1.0 - 2.0 * difference
    )
    inverse = power_of_two(f, x, 0 - k)
    far = k.compare("sle", -2) | k.compare("sgt", 56)
    near = k.compare("slt", c.precise_powers)
    start = f.select(far, 1.0, 1.0 - inverse)
    y = f.select(far | near, start - difference, (r - (e + inverse)) + 1.0)
    y = scaled(f, y, k)
    y = f.select(far, y - 1.0, y)
    y = f.select(k.compare("eq", 1), at_1, y)
    y = f.select(k.compare("eq", -1), at_minus_1, y)
    return f.select(k.compare("eq", 0), at_0, y)


def _expm1_polynomial(
    f: VectorFunction, x: Vector, c: _Constants, fused: bool
) -> Vector:
    if x.element == "float":
        return f.polynomial(x, c.polynomial)
    multiply_add = multiplier(f, x, fused)
    q0, q1, q2, q3, q4, q5 = (f.constant(x.element, q) for q in c.polynomial)
    square = x * x
    p = multiply_add(square, multiply_add(x, q3, q2), multiply_add(x, q1, q0))
    return multiply_add(square * square, multiply_add(x, q5, q4), p)


def _tanh(f: VectorFunction, x: Vector, fused: bool) -> Vector:
    c = _constants(x)
    size = f.fabs(x)
    large = size.compare("oge", 1.0)
    double = size + size
    t = _expm1_of_bounded(f, f.select(large, double, -double), fused)
    quotient = f.select(large, 2.0, -t) / (t + 2.0)
    y = f.select(large, 1.0 - quotient, quotient)
    y = f.select(size.compare("oge", 22.0), 1.0, y)
    y = f.copysign(y, x)
    return f.select(size.compare("oge", c.tanh_tiny), y, x)


def _sinh(f: VectorFunction, x: Vector, fused: bool) -> Vector:
    c = _constants(x)
    size = f.fabs(x)
    half = f.copysign(f.constant(x.element, 0.5), x)
    t = _expm1_of_bounded(f, size, fused)
    below_1 = size.compare("olt", 1.0)
    quotient = f.select(below_1, t * t, t) / (t + 1.0)
    y = half * f.select(below_1, 2.0 * t - quotient, t + quotient)

    def far() -> Vector:
        return _half_of_exp(f, x, half)

    y = f.where_any(size.compare("uge", 22.0), y, far)
    return f.select(size.compare("olt", c.sinh_tiny), x, y)


def _cosh(f: VectorFunction, x: Vector, fused: bool) -> Vector:
    c = _constants(x)
    size = f.fabs(x)
    power = (exp if x.element == "double" else expf)(f, size)
    y = 0.5 * power + 0.5 / power

    def near() -> Vector:
        t = _expm1_of_bounded(f, size, fused)
        w = 1.0 + t
        near_0 = 1.0 + (t * t) / (w + w)
        return f.select(size.compare("olt", c.cosh_tiny), 1.0, near_0)

    y = f.where_any(size.compare("olt", c.cosh_small), y, near)

    def far() -> Vector:
        return _half_of_exp(f, x, f.constant(x.element, 0.5))

    return f.where_any(size.compare("uge", 22.0), y, far)


def _half_of_exp(f: VectorFunction, x: Vector, half: Vector) -> Vector:
    """Return half * exp(|x|), where `half` is 0.5 or -0.5."""
    c = _constants(x)
    size = f.fabs(x)
    split = size.compare("oge", c.exp_overflow)
    power = (exp if x.element == "double" else expf)(
        f, f.select(split, 0.5 * size, size)
    )
    y = half * power
    y = f.select(split, y * power, y)
    return f.select(size.compare("ogt", c.overflow_of_half), half * _INFINITY, y)


ROUTINES: Final = {
    "cosh": Routine(variants(_cosh), "double", 1),
    "coshf": Routine(variants(_cosh)[1:], "float", 1),
    "expm1": Routine(variants(_expm1), "double", 1),
    "expm1f": Routine(variants(_expm1)[1:], "float", 1),
    "sinh": Routine(variants(_sinh), "double", 1),
    "sinhf": Routine(variants(_sinh)[1:], "float", 1),
    "tanh": Routine(variants(_tanh), "double", 1),
    "tanhf": Routine(variants(_tanh)[1:], "float", 1),
}
