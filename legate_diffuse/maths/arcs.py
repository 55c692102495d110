# SPDX-License-Identifier: Apache-2.0
"""Vector routines for asin, acos, atan and atan2 of doubles, and asin of singles.

Operands are reduced as in FDLIBM. Results are the sum of a leading number and a small
correction that has the rounding errors of the reduction. Polynomials are those of
`scripts/minimax.py`. libm itself computes atan2 of zeros, infinities and what is very
large or small.

Follows: FDLIBM (e_asin.c, e_acos.c, s_atan.c, e_atan2.c)
"""

from collections.abc import Sequence
from typing import Final

from legate_diffuse.maths.formats import DOUBLE, numbers
from legate_diffuse.maths.routine import Routine
from legate_diffuse.maths.vector_function import Vector, VectorFunction

_NAN: Final = float("nan")

_ZERO: Final = (0.0, 0.0)
_QUARTER_PI: Final = numbers("0x1.921fb54442d18p-1 0x1.1a62633145c07p-55")
_HALF_PI: Final = numbers("0x1.921fb54442d18p+0 0x1.1a62633145c07p-54")
_HALF_PI_SINGLE: Final = numbers("0x1.921fb6p+0 -0x1.777a5cp-25")
_THREE_QUARTER_PI: Final = numbers("0x1.2d97c7f3321d2p+1 0x1.a79394c9e8a0ap-54")
_PI: Final = numbers("0x1.921fb54442d18p+1 0x1.1a62633145c07p-53")
"""Multiples of pi as sums of two doubles."""

_ARC_SINE: Final = numbers("""
0x1.5555555555577p-3 0x1.333333332e149p-4 0x1.6db6db7210a56p-5 0x1.f1c71a95c29a6p-6
0x1.6e8bdec66daa3p-6 0x1.1c49f255c1cbcp-6 0x1.ca1f5ad87cba6p-7 0x1.758741198eb79p-7
0x1.61325ece1ed87p-7 0x1.e697eb6eb942ep-9 0x1.63685f693c898p-6 -0x1.57afea47a3faap-6
0x1.0b2d41ff55e84p-5
""")
"""Of x^3, x^5 and so on in asin(x), |x| <= 1/2, to 2^-59.0 of it."""
_ARC_SINE_SINGLE: Final = numbers("""
0x1.55554cp-3 0x1.3338acp-4 0x1.6ca760p-5 0x1.04d196p-5 0x1.d54b84p-7 0x1.34aef8p-5
""")
"""The same for singles, to 2^-31.6 of it."""
_ARC_TANGENT: Final = numbers("""
-0x1.5555555555552p-2 0x1.999999999912fp-3 -0x1.249249245281bp-3 0x1.c71c71a938600p-4
-0x1.745d1339efe3bp-4 0x1.3b1358617ee92p-4 -0x1.110bf522b092cp-4 0x1.e1798cd7783fap-5
-0x1.ac37e399e66b3p-5 0x1.7707a8ea64d60p-5 -0x1.2d9a044faf497p-5 0x1.7c12a1a7622acp-6
-0x1.0837559896378p-7
""")
"""Of x^3, x^5 and so on in atan(x), |x| <= 1/2, to 2^-60.6 of it."""


def _asin(f: VectorFunction, x: Vector) -> Vector:
    size = f.fabs(x)
    small = size.compare("olt", 0.5)
    main, low = _arc_sine(f, size, small)
    high, half_pi_low = _HALF_PI if x.element == "double" else _HALF_PI_SINGLE
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
    coefficients = _ARC_SINE if size.element == "double" else _ARC_SINE_SINGLE
    p = z * f.even_odd(z, z * z, coefficients)
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
    p = (t * square) * f.even_odd(square, square * square, _ARC_TANGENT)
    rest = f.fma(-rest, square, rest)
    head = base + t
    return head + (((base - head) + t) + (p + (rest + base_low)))


def _exact_sum(x: Vector, y: Vector) -> tuple[Vector, Vector]:
    """Return x + y as a double and the rest (D. Knuth's TwoSum)."""
    head = x + y
    other = head - x
    return head, (x - (head - other)) + (y - other)


ROUTINES: Final = {
    "acos": Routine((_acos,), "double", 1, ulps=1),
    "asin": Routine((_asin,), "double", 1, ulps=1),
    "asinf": Routine((_asin,), "float", 1, ulps=1),
    "atan": Routine((_atan,), "double", 1, ulps=1),
    "atan2": Routine((_atan2,), "double", 2, ulps=1),
}
