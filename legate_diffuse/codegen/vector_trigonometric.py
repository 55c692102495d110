# SPDX-License-Identifier: Apache-2.0
"""Vector routines for tan, asin, acos, atan and atan2 of doubles.

Results are at most one unit in the last place from glibc's, and less than 0.8 units
from the exact ones. glibc's own algorithms (IBM's Accurate Mathematical Library) look
up coefficients in tables of 13 to 20 kB, too many for vectors to gain. Here operands
are reduced as in FDLIBM (https://netlib.org/fdlibm), results are the sum of a leading
double and a small correction that has the rounding errors of the reduction, and the
polynomials are minimax fits (by Chebyshev's nodes). libm itself computes zeros,
infinities and what is very large or small where that takes another path.
"""

from collections.abc import Sequence
from typing import Final

from legate_diffuse.codegen.libm_patterns import DOUBLE, high_word, numbers
from legate_diffuse.codegen.libm_routine import Routine
from legate_diffuse.codegen.libm_trigonometric import reduced
from legate_diffuse.codegen.vector_function import Vector, VectorFunction

_NAN: Final = float("nan")

_ZERO: Final = (0.0, 0.0)
_QUARTER_PI: Final = numbers("0x1.921fb54442d18p-1 0x1.1a62633145c07p-55")
_HALF_PI: Final = numbers("0x1.921fb54442d18p+0 0x1.1a62633145c07p-54")
_THREE_QUARTER_PI: Final = numbers("0x1.2d97c7f3321d2p+1 0x1.a79394c9e8a0ap-54")
_PI: Final = numbers("0x1.921fb54442d18p+1 0x1.1a62633145c07p-53")
"""Multiples of pi as sums of two doubles."""

_SINE: Final = numbers("""
-0x1.5555555555555p-3 0x1.1111111111110p-7 -0x1.a01a01a019921p-13
0x1.71de3a545dd92p-19 -0x1.ae64540e0633bp-26 0x1.61217b49ad79ap-33
-0x1.ab159dc3b3c21p-41
""")
"""Coefficients of x^3, x^5 and so on for |x| < 0.786."""
_COSINE: Final = numbers("""
0x1.5555555555555p-5 -0x1.6c16c16c1695ep-10 0x1.a01a019f4c9c5p-16
-0x1.27e4fa1529574p-22 0x1.1eeb661c764f3p-29 -0x1.907b9fa75dee8p-37
""")
"""Coefficients of x^4, x^6 and so on for |x| < 0.786."""
_ARC_SINE: Final = numbers("""
0x1.5555555555556p-3 0x1.3333333332ecap-4 0x1.6db6db6e31f13p-5 0x1.f1c71c1db0623p-6
0x1.6e8bb1c8209a2p-6 0x1.1c4d35cf95421p-6 0x1.c9cf07674736ap-7 0x1.782651caa6547p-7
0x1.52420b04b37bep-7 0x1.65a9c4dfcf8b2p-8 0x1.1d189408314eep-6 -0x1.e6aaa8a0a04ccp-7
0x1.d72b2bc8155f8p-6
""")
"""Coefficients of x^3, x^5 and so on for |x| <= 1/2."""
_ARC_TANGENT: Final = numbers("""
-0x1.5555555555555p-2 0x1.99999999998e1p-3 -0x1.2492492488296p-3 0x1.c71c71c01b24cp-4
-0x1.745d16026efd7p-4 0x1.3b138e6372dcap-4 -0x1.110ea50256abfp-4 0x1.e1a7b2562efc5p-5
-0x1.ad44da04adea3p-5 0x1.7b20b751c966ap-5 -0x1.37d750492dd9bp-5 0x1.99b4e0c058248p-6
-0x1.2dfbaab9786efp-7
""")
"""Coefficients of x^3, x^5 and so on for |x| <= 1/2."""


def _tan(f: VectorFunction, x: Vector) -> Vector:
    size = f.fabs(x)
    small = size.compare("olt", high_word(0x3FE921FB))
    a, tail, n = reduced(f, x)
    a, tail = f.select(small, x, a), f.select(small, 0.0, tail)
    odd = (f.select(small, 0, n) & 1).compare("ne", 0)
    square = a * a
    square_low = f.fma(a, a, -square)
    cube, p = a * square, _even_odd(f, square, _SINE)
    cube_low = f.fma(a, square_low, f.fma(a, square, -cube))
    product = cube * p
    sine, sine_low = _sum(a, product)
    lost = f.fma(cube_low, p, f.fma(cube, p, -product))
    sine_low = sine_low + lost
    half = 0.5 * square
    head = 1.0 - half
    low = (1.0 - head) - half
    low = low - 0.5 * square_low
    low = f.fma(square * square, _even_odd(f, square, _COSINE), low)
    cosine, cosine_low = _sum(head, low)
    # -cos / sin for odd multiples of pi / 2
    numerator = f.select(odd, -cosine, sine)
    numerator_low = f.select(odd, -cosine_low, sine_low)
    denominator = f.select(odd, sine, cosine)
    denominator_low = f.select(odd, sine_low, cosine_low)
    inverse = 1.0 / denominator
    y = numerator * inverse
    rest = f.fma(-y, denominator, numerator)
    rest = (rest + f.fma(-y, denominator_low, numerator_low)) * inverse
    rest = f.fma(tail, f.fma(y, y, 1.0), rest)
    y = f.select(size.compare("olt", 2.0**-27), x, y + rest)
    large = size.compare("uge", high_word(0x419921FB))
    return f.where_any(large, y, lambda: f.libm("tan", large, x))


def _asin(f: VectorFunction, x: Vector) -> Vector:
    size = f.fabs(x)
    small = size.compare("olt", 0.5)
    main, low = _arc_sine(f, size, small)
    high, half_pi_low = _HALF_PI
    head = high - main
    rest = ((high - head) - main) + (half_pi_low - low)
    y = f.select(small, main, head) + f.select(small, low, rest)
    y = f.copysign(y, x)
    y = f.select(size.compare("olt", 2.0**-27), x, y)
    return f.select(size.compare("ole", 1.0), y, _NAN)


def _acos(f: VectorFunction, x: Vector) -> Vector:
    size = f.fabs(x)
    small = size.compare("olt", 0.5)
    main, low = _arc_sine(f, size, small)
    right = x.compare("oge", 0.5)
    up = right | (small & x.compare("olt", 0.0))
    main, low = f.select(up, main, -main), f.select(up, low, -low)
    base, base_low = _choice(f, small, _HALF_PI, right, _ZERO, _PI)
    head = base + main
    y = head + (((base - head) + main) + (base_low + low))
    return f.select(size.compare("ole", 1.0), y, _NAN)


def _arc_sine(f: VectorFunction, size: Vector, small: Vector) -> tuple[Vector, Vector]:
    """Return a sum: asin(size) where `small` is true, else pi / 2 - asin(size)."""
    z = f.select(small, size * size, 0.5 - 0.5 * size)
    root = f.sqrt(z)
    p = z * _even_odd(f, z, _ARC_SINE)
    double = root + root
    not_zero = f.select(z.compare("oeq", 0.0), 1.0, double)
    root_low = f.fma(-root, root, z) / not_zero
    main = f.select(small, size, double)
    low = f.fma(main, p, f.select(small, 0.0, root_low + root_low))
    return main, low


def _atan(f: VectorFunction, x: Vector) -> Vector:
    size = f.fabs(x)
    bounded = f.select(size.compare("olt", 2.0**60), size, 2.0**60)
    small = size.compare("olt", 0.5)
    large = size.compare("ogt", 2.0)
    sum_, error = _exact_sum(bounded, f.constant("double", 1.0))
    numerator = f.select(large, -1.0, bounded - 1.0)
    numerator = f.select(small, bounded, numerator)
    known = f.constant("double", 1.0)
    denominator = f.select(large, bounded, f.select(small, known, sum_))
    error = f.select(large | small, 0.0, error)
    base, base_low = _choice(f, small, _ZERO, large, _HALF_PI, _QUARTER_PI)
    y = _arc_tangent(f, numerator, denominator, error, base, base_low)
    y = f.copysign(y, x)
    y = f.select(size.compare("olt", 2.0**-27), x, y)
    return f.select(x.compare("uno", x), x, y)


def _atan2(f: VectorFunction, y: Vector, x: Vector) -> Vector:
    y_size, x_size = f.fabs(y), f.fabs(x)
    small = (y_size + y_size).compare("olt", x_size)
    large = y_size.compare("ogt", x_size + x_size)
    sum_, error = _exact_sum(x_size, y_size)
    numerator = f.select(large, -x_size, f.select(small, y_size, y_size - x_size))
    denominator = f.select(large, y_size, f.select(small, x_size, sum_))
    error = f.select(large | small, 0.0, error)
    base, base_low = _choice(f, small, _ZERO, large, _HALF_PI, _QUARTER_PI)
    # atan2(y, -x) is pi - atan2(y, x)
    left = x.compare("olt", 0.0)
    numerator = f.select(left, -numerator, numerator)
    base, base_low = (
        f.select(left, turned, known)
        for turned, known in zip(
            _choice(f, small, _PI, large, _HALF_PI, _THREE_QUARTER_PI),
            (base, base_low),
            strict=True,
        )
    )
    result = _arc_tangent(f, numerator, denominator, error, base, base_low)
    result = f.copysign(result, y)
    extreme = _extreme(x) | _extreme(y)
    return f.where_any(extreme, result, lambda: f.libm("atan2", extreme, y, x))


def _choice(
    f: VectorFunction,
    small: Vector,
    at_small: Sequence[float],
    large: Vector,
    at_large: Sequence[float],
    else_: Sequence[float],
) -> tuple[Vector, Vector]:
    """Return the sum of two doubles for where `small` is true, `large` is, or none."""
    high, low = (
        f.select(
            small,
            at_small[i],
            f.select(large, at_large[i], f.constant("double", else_[i])),
        )
        for i in range(2)
    )
    return high, low


def _extreme(x: Vector) -> Vector:
    """Return where x is not within 2^-450 and 2^450 in size."""
    least, end = (1023 - 450) << 52, (1023 + 450) << 52
    return ((x.bits() & ~DOUBLE.sign) - least).compare("uge", end - least)


def _arc_tangent(
    f: VectorFunction,
    numerator: Vector,
    denominator: Vector,
    error: Vector,
    base: Vector,
    base_low: Vector,
) -> Vector:
    """Return atan(numerator / (denominator + error)) + base; the quotient <= 1/2."""
    inverse = 1.0 / denominator
    t = numerator * inverse
    rest = f.fma(-t, error, f.fma(-t, denominator, numerator)) * inverse
    square = t * t
    p = (t * square) * _even_odd(f, square, _ARC_TANGENT)
    rest = f.fma(-rest, square, rest)
    head = base + t
    return head + (((base - head) + t) + (p + (rest + base_low)))


def _sum(x: Vector, y: Vector) -> tuple[Vector, Vector]:
    """Return x + y as a double and the rest; |x| >= |y|."""
    head = x + y
    return head, y - (head - x)


def _exact_sum(x: Vector, y: Vector) -> tuple[Vector, Vector]:
    """Return x + y as a double and the rest (D. Knuth's TwoSum)."""
    head = x + y
    other = head - x
    return head, (x - (head - other)) + (y - other)


def _even_odd(f: VectorFunction, x: Vector, c: Sequence[float]) -> Vector:
    """Return c0 + c1 x + c2 x^2 and so on, even and odd powers side by side."""
    square = x * x
    odd = f.fused_polynomial(square, c[1::2])
    return f.fma(x, odd, f.fused_polynomial(square, c[::2]))


ROUTINES: Final = {
    "acos": Routine((_acos,), "double", 1, ulps=1),
    "asin": Routine((_asin,), "double", 1, ulps=1),
    "atan": Routine((_atan,), "double", 1, ulps=1),
    "atan2": Routine((_atan2,), "double", 2, ulps=1),
    "tan": Routine((_tan,), "double", 1, ulps=1),
}
