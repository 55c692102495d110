# SPDX-License-Identifier: Apache-2.0
"""Vector routines for cbrt and hypot.

A result is the sum of a number and a correction of 2^-50 of it, so that almost all are
rounded correctly (cbrtf: all). Nothing overflows or underflows on the way. The
polynomial is that of `scripts/minimax.py`.
"""

from typing import Final

from legate_diffuse.maths.formats import DOUBLE, numbers
from legate_diffuse.maths.routine import Routine
from legate_diffuse.maths.vector_function import Vector, VectorFunction

_INFINITY: Final = float("inf")

_INVERSE_CUBE_ROOT: Final = numbers("""
0x1.ab857f0d6675cp+0 -0x1.2c41ac1ec7c69p+0 0x1.6415d500140d9p-1 -0x1.c5176cf1d501bp-3
0x1.d46e1ae9d991ep-6
""")
"""Of 1, x and so on in x^(-1/3), 1 <= x <= 2, to 2^-14.7 of it."""
_INVERSE: Final = 0x7FDE600000000000
"""Less the bit pattern of x, that of 1 / x, to 6 %, which Newton's steps square."""
_THIRD: Final = 21846
"""Its product with an integer below 2^11 is that integer's third times 2^16."""


def _cbrt(f: VectorFunction, x: Vector) -> Vector:
    size = f.fabs(x)
    subnormal = size.compare("olt", 2.0 ** (1 - DOUBLE.bias))
    root = _cube_root(f, f.select(subnormal, size * 2.0**54, size))
    root = f.select(subnormal, root * 2.0**-18, root)
    return _signed(f, root, x)


def _cbrtf(f: VectorFunction, x: Vector) -> Vector:
    root = _cube_root(f, f.fabs(x).converted("fpext", "double"))
    return _signed(f, root.converted("fptrunc", "float"), x)


def _signed(f: VectorFunction, root: Vector, x: Vector) -> Vector:
    """Return `root` with the sign of x; where x is zero, infinite or NaN, return x."""
    size = f.fabs(x)
    usual = size.compare("ogt", 0.0) & size.compare("olt", _INFINITY)
    return f.select(usual, f.copysign(root, x), x)


def _cube_root(f: VectorFunction, x: Vector) -> Vector:
    """Return the cube root of normal doubles x > 0.

    x = 2^(3 i + k) m with 1 <= m < 2 and k = 0, 1 or 2. From an approximation y of the
    inverse cube root of 2^k m one step of fourth order leads to 2^-52 of it; a residual
    in twice the precision corrects the cube root that is made from that.
    """
    bits = DOUBLE.fraction_bits
    pattern = x.bits()
    exponent = pattern >> bits
    third = exponent * _THIRD >> 16
    k = exponent - third * 3
    fraction = pattern & DOUBLE.fraction
    one = DOUBLE.bias << bits
    m = (fraction | one).as_float()
    a = (fraction | one + (k << bits)).as_float()
    factor = f.select(k.compare("eq", 1), 2.0 ** (-1 / 3), f.constant("double", 1.0))
    factor = f.select(k.compare("eq", 2), 4.0 ** (-1 / 3), factor)
    y = f.fused_polynomial(m, _INVERSE_CUBE_ROOT) * factor
    h = f.fma(-(a * y), y * y, 1.0)
    step = f.fused_polynomial(h, (1 / 3, 2 / 9, 14 / 81))
    y = f.fma(y * h, step, y)
    square = y * y
    root = a * square
    power = root * root
    rest = f.fma(-root, power, a) - root * f.fma(root, root, -power)
    root = f.fma(rest, square * (1 / 3), root)
    return (root.bits() + (third - DOUBLE.bias // 3 << bits)).as_float()


def _hypot(f: VectorFunction, x: Vector, y: Vector) -> Vector:
    bits = DOUBLE.fraction_bits
    x_size, y_size = f.fabs(x), f.fabs(y)
    swapped = x_size.compare("olt", y_size)
    large = f.select(swapped, y_size, x_size)
    small = f.select(swapped, x_size, y_size)
    # a power of two near `large`, whose inverse is normal, too
    least, most = 1 << bits, 2 * DOUBLE.bias - 1 << bits
    power = large.bits() & DOUBLE.infinity
    power = f.select(power.compare("ult", least), least, power)
    power = f.select(power.compare("ugt", most), most, power)
    inverse = (f.constant("i64", 2 * DOUBLE.bias << bits) - power).as_float()
    root = _root_of_squares(f, large * inverse, small * inverse) * power.as_float()
    root = f.select((large + small).compare("oeq", 0.0), 0.0, root)
    infinite = x_size.compare("oeq", _INFINITY) | y_size.compare("oeq", _INFINITY)
    return f.select(infinite, _INFINITY, root)


def _root_of_squares(f: VectorFunction, large: Vector, small: Vector) -> Vector:
    square, small_square = large * large, small * small
    total = square + small_square
    rest = (square - total) + small_square
    rest = rest + (f.fma(large, large, -square) + f.fma(small, small, -small_square))
    root = f.sqrt(total)
    rest = f.fma(-root, root, total) + rest
    inverse = (f.constant("i64", _INVERSE) - root.bits()).as_float()
    for _ in range(2):
        inverse = inverse * f.fma(inverse, -root, 2.0)
    return f.fma(rest, 0.5 * inverse, root)


def _hypotf(f: VectorFunction, x: Vector, y: Vector) -> Vector:
    a, b = x.converted("fpext", "double"), y.converted("fpext", "double")
    result = f.sqrt(a * a + b * b).converted("fptrunc", "float")
    infinite = f.fabs(x).compare("oeq", _INFINITY) | f.fabs(y).compare("oeq", _INFINITY)
    return f.select(infinite, _INFINITY, result)


ROUTINES: Final = {
    "cbrt": Routine((_cbrt,), "double", 1, ulps=4),
    "cbrtf": Routine((_cbrtf,), "float", 1, ulps=1),
    "hypot": Routine((_hypot,), "double", 2, ulps=1),
    "hypotf": Routine((_hypotf,), "float", 2),
}
