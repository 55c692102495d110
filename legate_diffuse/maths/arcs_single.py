# SPDX-License-Identifier: Apache-2.0
"""Vector routines for acosf, atanf and atan2f.

They give, bit for bit, what glibc's give before 2.41, which has other algorithms: they
do FDLIBM's operations in single precision, for all cases at once. Nothing is fused.

Follows: FDLIBM (e_acos.c, s_atan.c, e_atan2.c, and their conversions to singles)
"""

from typing import Final

from legate_diffuse.maths.formats import numbers, word
from legate_diffuse.maths.routine import Routine
from legate_diffuse.maths.vector_function import Vector, VectorFunction

_NAN: Final = float("nan")
_INFINITY: Final = float("inf")
_FAR: Final = 2.0**24
"""libm itself computes arcs of larger tangents, which next to pi / 2 change little."""
_TRUNCATED: Final = 0xFFFFF000
"""Mask of the upper half of a number's digits."""

_HALF_PI_HIGH: Final = 1.5707962513e00
_HALF_PI_LOW: Final = 7.5497894159e-08
_PI: Final = 3.1415927410e00
_PI_LOW: Final = -8.7422776573e-08
_ACOS_NUMERATOR: Final = numbers("""
1.6666667163e-01 -3.2556581497e-01 2.0121252537e-01 -4.0055535734e-02 7.9153501429e-04
3.4793309169e-05
""")
_ACOS_DENOMINATOR: Final = numbers("""
1.0 -2.4033949375e+00 2.0209457874e+00 -6.8828397989e-01 7.7038154006e-02
""")
_ATAN: Final = numbers("""
3.3333334327e-01 -2.0000000298e-01 1.4285714924e-01 -1.1111110449e-01 9.0908870101e-02
-7.6918758452e-02 6.6610731184e-02 -5.8335702866e-02 4.9768779427e-02 -3.6531571299e-02
1.6285819933e-02
""")
_ATAN_HIGH: Final = (4.6364760399e-01, 7.8539812565e-01, 9.8279368877e-01)
_ATAN_LOW: Final = (5.0121582440e-09, 3.7748947079e-08, 3.4473217170e-08)
"""atan(0.5), atan(1) and atan(1.5)."""


def _acosf(f: VectorFunction, x: Vector) -> Vector:
    size = f.fabs(x)
    below_half = size.compare("olt", 0.5)
    z = f.select(below_half, x * x, (1.0 - size) * 0.5)
    p = f.polynomial(z, _ACOS_NUMERATOR) * z
    q = f.polynomial(z, _ACOS_DENOMINATOR)
    r = p / q
    near = _HALF_PI_HIGH - (x - (_HALF_PI_LOW - x * r))
    s = f.sqrt(z)
    pi = 3.1415925026e00
    left = pi - 2.0 * (s + (r * s - _HALF_PI_LOW))
    head = (s.bits() & _TRUNCATED).as_float()
    c = (z - head * head) / (s + head)
    right = 2.0 * (head + (r * s + c))
    y = f.select(x.compare("olt", 0.0), left, right)
    y = f.select(below_half, near, y)
    at_minus_1 = f.constant("float", _HALF_PI_LOW) * 2.0 + pi
    y = f.select(x.compare("oeq", 1.0), 0.0, y)
    y = f.select(x.compare("oeq", -1.0), at_minus_1, y)
    return f.select(size.compare("ugt", 1.0), _NAN, y)


def _atanf(f: VectorFunction, x: Vector) -> Vector:
    size = f.fabs(x)
    y = f.select(x.compare("uno", x), x, f.copysign(_atan_of_size(f, size), x))
    far = size.compare("oge", _FAR)
    return f.where_any(far, y, lambda: f.libm("atanf", far, x))


def _atan_of_size(f: VectorFunction, x: Vector) -> Vector:
    """Return atan(x) for 0 <= x < _FAR."""
    bounds = [word(bits) for bits in (0x3EE00000, 0x3F300000, 0x3F980000, 0x401C0000)]
    reach = [x.compare("oge", bound) for bound in bounds]
    numerators = [2.0 * x - 1.0, x - 1.0, x - 1.5, f.constant("float", -1.0)]
    denominators = [2.0 + x, x + 1.0, 1.0 + 1.5 * x, x]
    numerator, denominator = x, f.constant("float", 1.0)
    high, low = f.constant("float", 0.0), f.constant("float", 0.0)
    highs, lows = (*_ATAN_HIGH, _HALF_PI_HIGH), (*_ATAN_LOW, _HALF_PI_LOW)
    for case in range(4):
        numerator = f.select(reach[case], numerators[case], numerator)
        denominator = f.select(reach[case], denominators[case], denominator)
        high = f.select(reach[case], highs[case], high)
        low = f.select(reach[case], lows[case], low)
    t = numerator / denominator
    z = t * t
    w = z * z
    odd = f.polynomial(w, _ATAN[::2])
    even = f.polynomial(w, _ATAN[1::2])
    p = t * (z * odd + w * even)
    y = f.select(reach[0], high - ((p - low) - t), x - p)
    return f.select(x.compare("olt", 2.0**-29), x, y)


def _atan2f(f: VectorFunction, y: Vector, x: Vector) -> Vector:
    tangent = f.fabs(y / x)
    quotient = _atan_of_size(f, tangent)
    exponents = (f.fabs(y).bits() - f.fabs(x).bits()).arithmetic_shift(23)
    half_pi = f.constant("float", 0.5 * _PI_LOW) + 1.5707963705e00
    z = f.select(exponents.compare("sgt", 60), half_pi, quotient)
    negative = x.bits().compare("slt", 0)
    z = f.select(negative & exponents.compare("slt", -60), 0.0, z)
    # pi - z or z - pi is the same but for its sign
    result = f.copysign(f.select(negative, _PI - (z - _PI_LOW), z), y)
    special = _special(f, x) | _special(f, y) | tangent.compare("oge", _FAR)
    return f.where_any(special, result, lambda: f.libm("atan2f", special, y, x))


def _special(f: VectorFunction, x: Vector) -> Vector:
    """Return where x is zero, infinite or not a number."""
    size = f.fabs(x)
    return size.compare("ueq", 0.0) | size.compare("oeq", _INFINITY)


ROUTINES: Final = {
    "acosf": Routine((_acosf,), "float", 1),
    "atan2f": Routine((_atan2f,), "float", 2),
    "atanf": Routine((_atanf,), "float", 1),
}
