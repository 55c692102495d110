# SPDX-License-Identifier: Apache-2.0
"""Vector routines for sin, cos and tan of singles.

sinf and cosf give glibc's bits: they do the operations of its functions since version
2.28, fused where gcc fuses them in the variants for processors with FMA. tanf is the
quotient of their polynomials, in double precision.

Follows: Arm Optimized Routines (math/sinf.c, cosf.c, sincosf.h, sincosf_data.c)
"""

from typing import Final

from legate_diffuse.maths.formats import SINGLE, numbers
from legate_diffuse.maths.routine import Routine
from legate_diffuse.maths.vector_function import Vector, VectorFunction

_INFINITY: Final = float("inf")
_NAN: Final = float("nan")
_TWO_OVER_PI: Final = float.fromhex("1.45f306dc9c883p-1")
_HALF_PI: Final = float.fromhex("1.921fb54442d18p+0")
_FIRST_WORD: Final = 1
"""The word of the table of 2 / pi that begins 24 bits before it."""

_SINE: Final = numbers("""
-0x1.555545995a603p-3 0x1.1107605230bc4p-7 -0x1.994eb3774cf24p-13
""")
_COSINE: Final = numbers("""
0x1p+0 -0x1.ffffffd0c621cp-2 0x1.55553e1068f19p-5 -0x1.6c087e89a359dp-10
0x1.99343027bf8c3p-16
""")


def _sinf(f: VectorFunction, x: Vector) -> Vector:
    y = _sine_f(f, *_reduced(f, x), 0)
    size = f.fabs(x)
    y = f.select(size.compare("olt", 2.0**-12), x, y)

    def far() -> Vector:
        far_y = _sine_f(f, *_reduced_far(f, size), 0)
        far_y = (far_y.bits() ^ (x.bits() & SINGLE.sign)).as_float()
        return f.select(size.compare("olt", _INFINITY), far_y, _NAN)

    return f.where_any(size.compare("uge", 120.0), y, far)


def _cosf(f: VectorFunction, x: Vector) -> Vector:
    y = _sine_f(f, *_reduced(f, x), 1)
    size = f.fabs(x)

    def far() -> Vector:
        far_y = _sine_f(f, *_reduced_far(f, size), 1)
        return f.select(size.compare("olt", _INFINITY), far_y, _NAN)

    return f.where_any(size.compare("uge", 120.0), y, far)


def _sine_f(f: VectorFunction, r: Vector, n: Vector, quarters: int) -> Vector:
    """Return sin(r + (n + quarters) * pi / 2) as singles for doubles r."""
    n = n + quarters
    sine, cosine = _sine_and_cosine(f, r)
    y = f.select((n & 1).compare("ne", 0), cosine, sine)
    y = y.converted("fptrunc", "float")
    return (y.bits() ^ ((n & 2) << 30)).as_float()


def _sine_and_cosine(f: VectorFunction, r: Vector) -> tuple[Vector, Vector]:
    square = r * r
    s1, s2, s3 = _SINE
    cube = square * r
    sine = f.fma(f.fma(square, s3, s2), square * cube, f.fma(cube, s1, r))
    c0, c1, c2, c3, c4 = _COSINE
    fourth = square * square
    cosine = f.fma(fourth, c2, f.fma(square, c1, c0))
    cosine = f.fma(f.fma(square, c4, c3), square * fourth, cosine)
    return sine, cosine


def _reduced(f: VectorFunction, x: Vector) -> tuple[Vector, Vector]:
    """Return r, a double, and n with x = r + n pi / 2, for |x| < 120."""
    wide = x.converted("fpext", "double")
    scaled = (wide * (_TWO_OVER_PI * 2**24)).converted("fptosi", "i32")
    n = (scaled + (1 << 23)).arithmetic_shift(24)
    return f.fma(n.converted("sitofp", "double"), -_HALF_PI, wide), n


def _reduced_far(f: VectorFunction, x: Vector) -> tuple[Vector, Vector]:
    """Return r, a double, and n with x = r + n pi / 2 (modulo 2 pi), for x >= 2.

    The product of x's digits with those 96 digits of 2 / pi that matter.
    """
    pattern = x.bits()
    i = ((pattern >> 26) & 15).converted("zext", "i64") + _FIRST_WORD
    shift = ((pattern >> 23) & 7).converted("zext", "i64")
    digits = ((pattern & SINGLE.fraction) | 1 << 23).converted("zext", "i64") << shift
    word, next_word = (word.bits() for word in f.lookup_pair("two_over_pi", i))
    product = ((digits * (word >> 32)) << 32) | ((digits * (next_word >> 32)) >> 32)
    product = product + digits * (word & 0xFFFFFFFF)
    n = (product + (1 << 61)) >> 62
    rest = (product - (n << 62)).converted("sitofp", "double")
    return rest * (_HALF_PI * 2.0**-62), n.converted("trunc", "i32")


def _tanf(f: VectorFunction, x: Vector) -> Vector:
    size = f.fabs(x)
    y = _tangent(f, *_reduced(f, x))
    y = f.select(size.compare("olt", 2.0**-12), x, y)

    def far() -> Vector:
        r, n = _reduced_far(f, size)
        far_y = _tangent(f, f.select(x.compare("olt", 0.0), -r, r), n)
        return f.select(size.compare("olt", _INFINITY), far_y, _NAN)

    return f.where_any(size.compare("uge", 120.0), y, far)


def _tangent(f: VectorFunction, r: Vector, n: Vector) -> Vector:
    """Return tan(r + n pi / 2): for odd n that is -cos(r) / sin(r)."""
    sine, cosine = _sine_and_cosine(f, r)
    odd = (n & 1).compare("ne", 0)
    y = f.select(odd, -cosine, sine) / f.select(odd, sine, cosine)
    return y.converted("fptrunc", "float")


ROUTINES: Final = {
    "cosf": Routine((_cosf,), "float", 1),
    "sinf": Routine((_sinf,), "float", 1),
    "tanf": Routine((_tanf,), "float", 1, ulps=1),
}
