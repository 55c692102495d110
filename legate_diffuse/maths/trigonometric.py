# SPDX-License-Identifier: Apache-2.0
"""Vector routines for sin, cos and tan of doubles.

An operand x is reduced to r = x - n pi / 2, |r| <= pi / 4, as the sum of two doubles:
by W. Cody's and W. Waite's method ("Software Manual for the Elementary Functions",
1980), from 10^8 on by that of M. Payne and R. Hanek ("Radian Reduction for
Trigonometric Functions", ACM SIGNUM Newsletter 18, 1983). sin(r) and cos(r) are sums of
a leading double and a small one. Polynomials are those of `scripts/minimax.py`.
"""

from collections.abc import Callable
from typing import Final

from legate_diffuse.maths.formats import DOUBLE, numbers
from legate_diffuse.maths.routine import Routine
from legate_diffuse.maths.vector_function import Vector, VectorFunction

_NAN: Final = float("nan")
_INFINITY: Final = float("inf")
_ROUND: Final = float.fromhex("1.8p+52")
"""Adding it rounds to an integer, which the low bits of the sum then hold."""
_FAR: Final = 1e8
"""From here on x is reduced in integers; it is between 2^26 and 2^26 pi / 2."""

_TWO_OVER_PI: Final = float.fromhex("0x1.45f306dc9c883p-1")
_HALF_PI: Final = numbers("""
0x1.921fb54442d18p+0 0x1.1a62630000000p-54 0x1.8a2e034000000p-81 0x1.839a252049c11p-108
""")
"""Their sum is pi / 2. The middle ones have 27 bits, so products with n are exact."""
_HALF_PI_LOW: Final = float.fromhex("0x1.1a62633145c07p-54")
"""The nearest double to what pi / 2 is more than its nearest double."""

_SINE: Final = numbers("""
-0x1.5555555555548p-3 0x1.111111110f730p-7 -0x1.a01a019be9378p-13
0x1.71de3555795fdp-19 -0x1.ae5e4c094a881p-26 0x1.5d8b9541352adp-33
""")
"""Of x^3, x^5 and so on in sin(x), |x| < 0.786, to 2^-57.8 of it."""
_COSINE: Final = numbers("""
0x1.555555555554bp-5 -0x1.6c16c16c1503ap-10 0x1.a01a019c94781p-16
-0x1.27e4f7f56caffp-22 0x1.1ee9ddb591541p-29 -0x1.8fa6da0aa1eb4p-37
""")
"""Of x^4, x^6 and so on in cos(x), |x| < 0.786, to 2^-62.4 of it."""

_STEP: Final = 8
"""Each word of the table of 2 / pi begins that many bits after the one before."""
_FIRST_BIT: Final = -31
"""The first word begins with the bit of 2^31; bits before the point are zero."""
_LIMB: Final = 32
_LIMB_MASK: Final = (1 << _LIMB) - 1

Sum = tuple[Vector, Vector]
"""A large and a small number, not added."""


def words_of_two_over_pi() -> list[tuple[int, int]]:
    """Return two words of 64 bits of 2 / pi from each eighth bit on."""
    point = 1400
    two_over_pi = (2 << 2 * point) // _pi(point)
    starts = range(_FIRST_BIT, 1200, _STEP)
    parts = [(two_over_pi >> point - start - 127) & (1 << 128) - 1 for start in starts]
    return [(part >> 64, part & (1 << 64) - 1) for part in parts]


def _pi(point: int) -> int:
    """Return pi with `point` fraction bits, by J. Machin's formula."""

    def arc_tangent_of_inverse(n: int) -> int:
        total, term, k = 0, (1 << point) // n, 1
        while term:
            total += (-term if k % 4 == 3 else term) // k
            term //= n * n
            k += 2
        return total

    return 16 * arc_tangent_of_inverse(5) - 4 * arc_tangent_of_inverse(239)


def _anywhere(
    evaluate: Callable[[VectorFunction, Vector, Vector, Vector], Vector],
    f: VectorFunction,
    x: Vector,
) -> Vector:
    """Return evaluate(f, r, low, n), where r + low + n pi / 2 is x."""
    size = f.fabs(x)
    y = evaluate(f, *_reduced(f, x))

    def far() -> Vector:
        far_y = evaluate(f, *_reduced_far(f, x))
        return f.select(size.compare("olt", _INFINITY), far_y, _NAN)

    return f.where_any(size.compare("uge", _FAR), y, far)


def _reduced(f: VectorFunction, x: Vector) -> tuple[Vector, Vector, Vector]:
    """Return r, low and n with x = r + low + n pi / 2, for |x| < 10^8.

    All is exact but the two differences, whose errors are, and the last two operations,
    which are wrong by 2^-105 if r is of usual size, and by 2^-130 where it is least.
    """
    rounded = f.fma(x, _TWO_OVER_PI, _ROUND)
    n = rounded - _ROUND
    first, second, third, fourth = _HALF_PI
    r, low = _difference(f.fma(n, -first, x), n * second)
    r, more = _difference(r, n * third)
    return r, f.fma(n, -fourth, low + more), rounded.bits()


def _difference(x: Vector, y: Vector) -> Sum:
    """Return x - y as a double and the rest, for |x| >= |y| or an exact x - y."""
    head = x - y
    return head, (x - head) - y


def _reduced_far(f: VectorFunction, x: Vector) -> tuple[Vector, Vector, Vector]:
    """Return r, low and n with x = r + low + n pi / 2 (modulo 2 pi), for |x| >= 2^26.

    The product of x's digits with those 192 digits of 2 / pi that matter.
    """
    pattern = x.bits()
    exponent = (pattern >> DOUBLE.fraction_bits) & (2 * DOUBLE.bias + 1)
    # x is its digits times 2^(exponent - 1075); only those bits of 2 / pi matter whose
    # product with that is less than 4
    shift = exponent - (1075 + 1 + _FIRST_BIT)
    known = exponent.compare("uge", DOUBLE.bias + 26)
    known = known & exponent.compare("ule", 2 * DOUBLE.bias)
    shift = f.select(known, shift, 0)
    digits = (pattern & DOUBLE.fraction) | 1 << DOUBLE.fraction_bits
    digits = digits << (shift & (_STEP - 1))
    i = shift >> 3
    words = [
        word.bits()
        for start in (i, i + 16)
        for word in f.lookup_pair("two_over_pi", start)
    ][:3]
    limbs = [half for word in words for half in (word >> _LIMB, word & _LIMB_MASK)]
    product = _product(f, digits, limbs)
    high = product[0] << _LIMB | product[1]
    n = (high + (1 << 61)) >> 62
    high = high - (n << 62)
    # the product in parts of 48 bits, which are exact as doubles
    middle = (high & 0xFFFF) << _LIMB | product[2]
    parts = [
        part.converted("sitofp", "double") * 2.0**scale
        for part, scale in (
            (high.arithmetic_shift(16), -46),
            (middle, -94),
            (product[3], -126),
        )
    ]
    quotient, error = _sum(parts[0], parts[1])
    error = error + parts[2]
    r = quotient * _HALF_PI[0]
    low = f.fma(quotient, _HALF_PI[0], -r)
    low = f.fma(quotient, _HALF_PI_LOW, f.fma(error, _HALF_PI[0], low))
    negative = x.compare("olt", 0.0)
    return (
        f.select(negative, -r, r),
        f.select(negative, -low, low),
        f.select(negative, 0 - n, n),
    )


def _product(f: VectorFunction, digits: Vector, limbs: list[Vector]) -> list[Vector]:
    """Return the product of `digits` and a number of `limbs`, modulo one above them.

    The last limb, and half of the one before, lack what the last product carries.
    """
    low, high = digits & _LIMB_MASK, digits >> _LIMB
    carry = f.constant("i64", 0)
    product: list[Vector] = []
    for place in reversed(range(len(limbs) - 1)):
        from_low, from_high = low * limbs[place], high * limbs[place + 1]
        total = (from_low & _LIMB_MASK) + (from_high & _LIMB_MASK) + carry
        product.insert(0, total & _LIMB_MASK)
        carry = (total >> _LIMB) + (from_low >> _LIMB) + (from_high >> _LIMB)
    return product


def _sine(f: VectorFunction, x: Vector, quarters: int) -> Vector:
    """Return sin(x + quarters * pi / 2)."""

    def evaluate(f: VectorFunction, r: Vector, low: Vector, n: Vector) -> Vector:
        n = n + quarters
        (sine, sine_low), (cosine, cosine_low) = _sine_and_cosine(f, r, low)
        odd = (n & 1).compare("ne", 0)
        y = f.select(odd, cosine, sine) + f.select(odd, cosine_low, sine_low)
        return (y.bits() ^ ((n & 2) << 62)).as_float()

    return _anywhere(evaluate, f, x)


def _sin(f: VectorFunction, x: Vector) -> Vector:
    return f.select(f.fabs(x).compare("olt", 2.0**-26), x, _sine(f, x, 0))


def _cos(f: VectorFunction, x: Vector) -> Vector:
    return _sine(f, x, 1)


def _tan(f: VectorFunction, x: Vector) -> Vector:
    y = _anywhere(_tangent, f, x)
    return f.select(f.fabs(x).compare("olt", 2.0**-27), x, y)


def _tangent(f: VectorFunction, r: Vector, low: Vector, n: Vector) -> Vector:
    """Return tan(r + low + n pi / 2): for odd n that is -cos / sin of r + low."""
    sine, cosine = (_sum(*each) for each in _sine_and_cosine(f, r, low))
    odd = (n & 1).compare("ne", 0)
    numerator, numerator_low = (
        f.select(odd, -c, s) for s, c in zip(sine, cosine, strict=True)
    )
    denominator, denominator_low = (
        f.select(odd, s, c) for s, c in zip(sine, cosine, strict=True)
    )
    inverse = 1.0 / denominator
    y = numerator * inverse
    rest = f.fma(-y, denominator, numerator) + f.fma(-y, denominator_low, numerator_low)
    return f.fma(rest, inverse, y)


def _sine_and_cosine(f: VectorFunction, r: Vector, low: Vector) -> tuple[Sum, Sum]:
    """Return sin(r + low) and cos(r + low) as sums."""
    square = r * r
    square_low = f.fma(r, r, -square)
    fourth = square * square
    s = square * f.even_odd(square, fourth, _SINE[1:])
    c = f.even_odd(square, fourth, _COSINE)
    half = 0.5 * square
    head = 1.0 - half
    cube = r * square
    cube_low = f.fma(r, square_low, f.fma(r, square, -cube))
    product = cube * _SINE[0]
    product_low = f.fma(cube_low, _SINE[0], f.fma(cube, _SINE[0], -product))
    sine, sine_low = _sum(r, product)
    sine_low = sine_low + f.fma(cube, s, f.fma(low, head, product_low))
    # half of (r + low)^2 is `half` and this
    half_low = f.fma(r, low, 0.5 * square_low)
    cosine_low = f.fma(fourth, c, ((1.0 - head) - half) - half_low)
    return (sine, sine_low), (head, cosine_low)


def _sum(x: Vector, y: Vector) -> Sum:
    """Return x + y as a double and the rest; |x| >= |y| or x = 0."""
    head = x + y
    return head, y - (head - x)


ROUTINES: Final = {
    "cos": Routine((_cos,), "double", 1, ulps=1),
    "sin": Routine((_sin,), "double", 1, ulps=1),
    "tan": Routine((_tan,), "double", 1, ulps=1),
}
