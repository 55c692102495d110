# SPDX-License-Identifier: Apache-2.0
"""Vector routines that give, bit for bit, what glibc's sin, cos, sinf, cosf, tanf give.

sinf and cosf are those of Arm's Optimized Routines (math/sinf.c, cosf.c, sincosf.h;
Copyright 2018 Arm Limited; MIT or Apache-2.0 with LLVM exceptions); tanf is FDLIBM's
(k_tanf.c; Copyright 1993 Sun Microsystems) with their reduction. sin and cos do what
glibc has done since version 2.28: sines and cosines of multiples of 1/128 from a table,
and the rest by short polynomials. What is fused is what gcc fuses in the variants that
glibc chooses on processors with FMA. libm itself computes sin and cos of large
numbers.
"""

from functools import cache
from typing import Final

from legate_diffuse.codegen.libm_patterns import (
    DOUBLE,
    SINGLE,
    high_word,
    numbers,
    word,
)
from legate_diffuse.codegen.libm_routine import MultiplyAdd, Routine, multiplier
from legate_diffuse.codegen.vector_function import Vector, VectorFunction

_INFINITY: Final = float("inf")
_NAN: Final = float("nan")
_ROUND: Final = float.fromhex("1.8p+52")
"""Adding it rounds to an integer, which the low bits of the sum then hold."""
_ROUND_TO_STEP: Final = float.fromhex("1.8p+45")
"""Adding it rounds to a multiple of 1 / _STEPS."""
_STEPS: Final = 128
_TWO_OVER_PI: Final = float.fromhex("1.45f306dc9c883p-1")
_HALF_PI: Final = numbers(
    "0x1.921fb58p+0 -0x1.dde973cp-27 -0x1.cb3b398p-55 -0x1.d747f23e32ed7p-83"
)
"""Their sum is pi / 2; products of all but the last with n < 2^26 are exact."""
_HALF_PI_HIGH: Final = float.fromhex("1.921fb54442d18p+0")
_HALF_PI_LOW: Final = float.fromhex("1.1a62633145c07p-54")

_SINE_NEAR_0: Final = numbers("""
-0x1.5555555555555p-3 0x1.1111111110ecep-7 -0x1.a01a019db08b8p-13
0x1.71de27b9a7ed9p-19 -0x1.addffc2fcdf59p-26
""")
"""Coefficients of x^3, x^5 and so on for |x| < 0.126."""
_SINE_STEP: Final = (
    -1.66666666666664880952546298448555e-01,
    8.33333214285722277379541354343671e-03,
)
_COSINE_STEP: Final = (
    0.5,
    -4.16666666666664434524222570944589e-02,
    1.38888874007937613028114285595617e-03,
)

_SINE_F: Final = numbers("""
-0x1.555545995a603p-3 0x1.1107605230bc4p-7 -0x1.994eb3774cf24p-13
""")
_COSINE_F: Final = numbers("""
0x1p+0 -0x1.ffffffd0c621cp-2 0x1.55553e1068f19p-5 -0x1.6c087e89a359dp-10
0x1.99343027bf8c3p-16
""")
_TANGENT_F: Final = numbers("""
3.3333334327e-01 1.3333334029e-01 5.3968254477e-02 2.1869488060e-02 8.8632395491e-03
3.5920790397e-03 1.4562094584e-03 5.8804126456e-04 2.4646313977e-04 7.8179444245e-05
7.1407252108e-05 -1.8558637748e-05 2.5907305826e-05
""")


@cache
def sines() -> list[tuple[float, float, float, float]]:
    """Return rows of sin and cos of i / _STEPS, with what their doubles lack.

    Rows from _STEPS on have cos before sin.
    """
    rows = [(*_double_double(s), *_double_double(c)) for s, c in _fixed_point_sines()]
    return rows + [(c, c_low, s, s_low) for s, s_low, c, c_low in rows]


@cache
def digits_of_two_over_pi() -> list[tuple[int, int, int, int]]:
    """Return rows of three 32-bit words of 2 / pi; row i begins after 8 i - 24 bits."""
    two_over_pi = (2 << 2 * _POINT) // _pi()
    words = [(two_over_pi >> _POINT - 8 * (i + 1)) & 0xFFFFFFFF for i in range(24)]
    return [(words[i], words[i + 4], words[i + 8], 0) for i in range(16)]


_POINT: Final = 240


def _pi() -> int:
    """Return pi by J. Machin's formula."""

    def arc_tangent_of_inverse(n: int) -> int:
        total, term, k = 0, (1 << _POINT) // n, 1
        while term:
            total += (-term if k % 4 == 3 else term) // k
            term //= n * n
            k += 2
        return total

    return 16 * arc_tangent_of_inverse(5) - 4 * arc_tangent_of_inverse(239)


def _fixed_point_sines() -> list[tuple[int, int]]:
    found = []
    for i in range(_STEPS):
        x = (i << _POINT) // _STEPS
        sums, term, number = [0, 0], 1 << _POINT, 0
        while term:
            sums[number % 2] += -term if number % 4 > 1 else term
            number += 1
            term = (term * x >> _POINT) // number
        found.append((sums[1], sums[0]))
    return found


def _double_double(x: int) -> tuple[float, float]:
    one = 1 << _POINT
    high = x / one
    return high, (x - int(high * 2.0**60) * (one >> 60)) / one


def _sin(f: VectorFunction, x: Vector) -> Vector:
    return _sine(f, x, 0)


def _cos(f: VectorFunction, x: Vector) -> Vector:
    return _sine(f, x, 1)


def _sine(f: VectorFunction, x: Vector, quarters: int) -> Vector:
    """Return sin(x + quarters * pi / 2)."""
    size = f.fabs(x)
    a, tail, n = reduced(f, x)
    n = n + quarters
    rest = _HALF_PI_HIGH - size
    flip = n << 62
    near = size.compare("olt", high_word(0x3FEB6000))
    middle = size.compare("olt", high_word(0x400368FD))
    if quarters:
        middle_a = rest + _HALF_PI_LOW
        middle_tail = (rest - middle_a) + _HALF_PI_LOW
        flip = f.select(middle, 0, flip)
    else:
        middle_a, middle_tail = rest, f.constant("double", _HALF_PI_LOW)
        flip = f.select(middle, f.select(near, 0, x.bits()), flip)
    a = f.select(middle, f.select(near, x, middle_a), a)
    tail = f.select(middle, f.select(near, 0.0, middle_tail), tail)
    n = f.select(middle, f.select(near, quarters, f.constant("i64", 1 - quarters)), n)
    y = _sine_of_reduced(f, a, tail, (n & 1).compare("ne", 0))
    y = (y.bits() ^ (flip & DOUBLE.sign)).as_float()
    if quarters == 0:
        y = f.select(size.compare("olt", 2.0**-26), x, y)
    large = size.compare("uge", high_word(0x419921FB))
    name = "cos" if quarters else "sin"
    return f.where_any(large, y, lambda: f.libm(name, large, x))


def reduced(f: VectorFunction, x: Vector) -> tuple[Vector, Vector, Vector]:
    """Return a, b and n with x = a + b + n pi / 2, |a| <= pi / 4, for |x| < 1e8."""
    p1, p2, p3, p4 = _HALF_PI
    rounded = f.fma(x, _TWO_OVER_PI, _ROUND)
    n = rounded - _ROUND
    y = f.fma(n, -p2, f.fma(n, -p1, x))
    first = f.fma(n, -p3, y)
    low = f.fma(n, -p3, y - first)
    second = f.fma(n, -p4, first)
    low = low + f.fma(n, -p4, first - second)
    return second, low, rounded.bits()


def _sine_of_reduced(
    f: VectorFunction, x: Vector, tail: Vector, cosine: Vector
) -> Vector:
    """Return sin(x + tail), or cos(x + tail) where `cosine` is true; |x| < 0.8555."""
    size = f.fabs(x)
    towards = f.select(x.compare("ole", 0.0), -tail, tail)
    rounded = size + _ROUND_TO_STEP
    r = size - (rounded - _ROUND_TO_STEP)
    r = f.select(cosine, r + towards, r)
    sine_tail = f.select(cosine, 0.0, towards)
    square = r * r
    s3, s5 = _SINE_STEP
    cube = r * square
    step = f.fma(square, s5, s3)
    s = f.fma(cube, step, f.select(cosine, r, sine_tail))
    s = f.select(cosine, -s, r + s)
    c = f.fma(r, sine_tail, square * f.fused_polynomial(square, _COSINE_STEP))
    i = rounded.bits() & (_STEPS - 1)
    i = f.select(cosine, i | _STEPS, i)
    a, a_low, b, b_low = f.lookup_four("sin", i)
    correction = f.fma(s, b, f.fma(-c, a, f.fma(s, b_low, a_low)))
    y = a + correction
    square = size * size
    p = f.fused_polynomial(square, _SINE_NEAR_0)
    near = size + f.fma(f.fma(p, size, -(0.5 * towards)), square, towards)
    y = f.select(size.compare("olt", 0.126) & ~cosine, near, y)
    return f.select(cosine, y, f.copysign(y, x))


def _sinf(f: VectorFunction, x: Vector) -> Vector:
    y = _sine_f(f, *_reduced_f(f, x, f.fma), 0)
    size = f.fabs(x)
    y = f.select(size.compare("olt", 2.0**-12), x, y)

    def far() -> Vector:
        far_y = _sine_f(f, *_reduced_far_f(f, size), 0)
        far_y = (far_y.bits() ^ (x.bits() & SINGLE.sign)).as_float()
        return f.select(size.compare("olt", _INFINITY), far_y, _NAN)

    return f.where_any(size.compare("uge", 120.0), y, far)


def _cosf(f: VectorFunction, x: Vector) -> Vector:
    y = _sine_f(f, *_reduced_f(f, x, f.fma), 1)
    size = f.fabs(x)

    def far() -> Vector:
        far_y = _sine_f(f, *_reduced_far_f(f, size), 1)
        return f.select(size.compare("olt", _INFINITY), far_y, _NAN)

    return f.where_any(size.compare("uge", 120.0), y, far)


def _sine_f(f: VectorFunction, r: Vector, n: Vector, quarters: int) -> Vector:
    """Return sin(r + (n + quarters) * pi / 2) as singles for doubles r."""
    n = n + quarters
    square = r * r
    s1, s2, s3 = _SINE_F
    cube = square * r
    sine = f.fma(f.fma(square, s3, s2), square * cube, f.fma(cube, s1, r))
    c0, c1, c2, c3, c4 = _COSINE_F
    fourth = square * square
    cosine = f.fma(fourth, c2, f.fma(square, c1, c0))
    cosine = f.fma(f.fma(square, c4, c3), square * fourth, cosine)
    y = f.select((n & 1).compare("ne", 0), cosine, sine)
    y = y.converted("fptrunc", "float")
    return (y.bits() ^ ((n & 2) << 30)).as_float()


def _reduced_f(
    f: VectorFunction, x: Vector, multiply_add: MultiplyAdd
) -> tuple[Vector, Vector]:
    """Return r, a double, and n with x = r + n pi / 2, for |x| < 120."""
    wide = x.converted("fpext", "double")
    scaled = (wide * (_TWO_OVER_PI * 2**24)).converted("fptosi", "i32")
    n = (scaled + (1 << 23)).arithmetic_shift(24)
    half_pi = f.constant("double", -_HALF_PI_HIGH)
    return multiply_add(n.converted("sitofp", "double"), half_pi, wide), n


def _reduced_far_f(f: VectorFunction, x: Vector) -> tuple[Vector, Vector]:
    """Return r, a double, and n with x = r + n pi / 2 (modulo 2 pi), for x >= 2.

    The product of x's digits with those 96 digits of 2 / pi that matter.
    """
    pattern = x.bits()
    i = ((pattern >> 26) & 15).converted("zext", "i64")
    shift = ((pattern >> 23) & 7).converted("zext", "i64")
    digits = ((pattern & SINGLE.fraction) | 1 << 23).converted("zext", "i64") << shift
    high, middle, low, _ = (part.bits() for part in f.lookup_four("two_over_pi", i))
    product = ((digits * high) << 32) | ((digits * low) >> 32)
    product = product + digits * middle
    n = (product + (1 << 61)) >> 62
    rest = (product - (n << 62)).converted("sitofp", "double")
    return rest * (_HALF_PI_HIGH * 2.0**-62), n.converted("trunc", "i32")


def _tanf(f: VectorFunction, x: Vector) -> Vector:
    size = f.fabs(x)
    r, n = _reduced_f(f, x, multiplier(f, x, fused=False))
    y = _tangent_of_reduced_f(f, x, r, n)

    def far() -> Vector:
        r, n = _reduced_far_f(f, size)
        r = f.select(x.compare("olt", 0.0), -r, r)
        far_y = _tangent_of_reduced_f(f, x, r, n)
        return f.select(size.compare("olt", _INFINITY), far_y, _NAN)

    return f.where_any(size.compare("uge", 120.0), y, far)


def _tangent_of_reduced_f(f: VectorFunction, x: Vector, r: Vector, n: Vector) -> Vector:
    """Return tan(x); x = r + n pi / 2."""
    small = f.fabs(x).compare("ole", word(0x3F490FDA))
    head = r.converted("fptrunc", "float")
    tail = (r - head.converted("fpext", "double")).converted("fptrunc", "float")
    head = f.select(small, x, head)
    tail = f.select(small, 0.0, tail)
    n = f.select(small, 0, n & 1)
    return _tangent_f(f, head, tail, n.compare("ne", 0))


def _tangent_f(f: VectorFunction, x: Vector, tail: Vector, inverse: Vector) -> Vector:
    """Return tan(x + tail), or -1 / tan(x + tail) where `inverse` is true."""
    size = f.fabs(x)
    steep = size.compare("oge", word(0x3F2CA140))
    quarter_high, quarter_low = 7.8539812565e-01, 3.7748947079e-08
    away = f.select(x.compare("olt", 0.0), -tail, tail)
    from_quarter = (quarter_high - size) + (quarter_low - away)
    r = f.select(steep, from_quarter, x)
    tail = f.select(steep, 0.0, tail)
    t = _TANGENT_F
    square = r * r
    fourth = square * square
    odd = f.polynomial(fourth, t[1::2])
    even = square * f.polynomial(fourth, t[2::2])
    cube = square * r
    low = tail + square * (cube * (odd + even) + tail)
    low = low + t[0] * cube
    w = r + low
    one = f.select(inverse, f.constant("float", -1.0), 1.0)
    far = one - 2.0 * (r - (w * w / (w + one) - low))
    near_quarter = one * (1.0 - 2.0 * one * r)
    far = f.select(f.fabs(r).compare("olt", 2.0**-13), near_quarter, far)
    far = f.copysign(f.constant("float", 1.0), x) * far
    head = (w.bits() & 0xFFFFF000).as_float()
    v = low - (head - r)
    a = -1.0 / w
    t_head = (a.bits() & 0xFFFFF000).as_float()
    rest = 1.0 + t_head * head
    y = f.select(inverse, t_head + a * (rest + t_head * v), w)
    tiny = f.select(inverse, -1.0 / x, x)
    y = f.select(size.compare("olt", 2.0**-13), tiny, y)
    return f.select(steep, far, y)


ROUTINES: Final = {
    "cos": Routine((_cos,), "double", 1),
    "cosf": Routine((_cosf,), "float", 1),
    "sin": Routine((_sin,), "double", 1),
    "sinf": Routine((_sinf,), "float", 1),
    "tanf": Routine((_tanf,), "float", 1),
}
