# SPDX-License-Identifier: Apache-2.0
"""Vector routines that give what glibc's cbrt, fmod, hypot and nextafter give.

fmod and nextafter are exact, so any way to compute them gives the same bits. cbrt
does the operations of Ulrich Drepper's function of 1997, which glibc had until 2.41;
hypot those of C. Borges, "An Improved Algorithm for hypot(a,b)" (arXiv 1904.09481,
2019), in its form without fused operations, which glibc has on x86-64 since 2.35.
"""

from typing import Final

from legate_diffuse.codegen.libm_patterns import format_of, numbers, scaled
from legate_diffuse.codegen.libm_routine import Routine
from legate_diffuse.codegen.vector_function import Vector, VectorFunction

_INFINITY: Final = float("inf")

_CBRT_2: Final = 1.2599210498948731648
_CBRT_4: Final = 1.5874010519681994748
_CBRT: Final = numbers("""
0.354895765043919860 1.50819193781584896 -2.11499494167371287 2.44693122563534430
-1.83469277483613086 0.784932344976639262 -0.145263899385486377
""")
_CBRT_F: Final = (0.492659620528969547, 0.697570460207922770, -0.191502161678719066)


def _cbrt(f: VectorFunction, x: Vector) -> Vector:
    form = format_of(x)
    size = f.fabs(x)
    bits = form.fraction_bits + 2
    subnormal = size.compare("olt", 2.0 ** (1 - form.bias))
    pattern = f.select(subnormal, size * 2.0**bits, size).bits()
    exponent = (pattern >> form.fraction_bits) - (form.bias - 1)
    exponent = f.select(subnormal, exponent - bits, exponent)
    half = (form.bias - 1) << form.fraction_bits
    mantissa = ((pattern & form.fraction) | half).as_float()
    e = exponent.converted("sitofp", x.element)
    third = f.trunc(e * (1.0 / 3.0 + 2.0**-20))
    rest = e - 3.0 * third
    factor = f.constant("double", 1.0)
    for number, power in ((-2, 1 / _CBRT_4), (-1, 1 / _CBRT_2), (1, _CBRT_2)):
        factor = f.select(rest.compare("oeq", number), power, factor)
    factor = f.select(rest.compare("oeq", 2.0), _CBRT_4, factor)
    if x.element == "double":
        u = f.polynomial(mantissa, _CBRT)
        cube = u * u * u
        y = u * (cube + 2.0 * mantissa) / (2.0 * cube + mantissa) * factor
    else:
        wide = mantissa.converted("fpext", "double")
        start = f.polynomial(wide, _CBRT_F).converted("fptrunc", "float")
        cube = (start * start * start).converted("fpext", "double")
        u = start.converted("fpext", "double")
        y = u * (cube + 2.0 * wide) / (2.0 * cube + wide) * factor
        y = y.converted("fptrunc", "float")
    y = f.copysign(scaled(f, y, third.converted("fptosi", form.integer)), x)
    odd = size.compare("ueq", 0.0) | size.compare("oeq", _INFINITY)
    return f.select(odd, x, y)


def _hypot(f: VectorFunction, x: Vector, y: Vector) -> Vector:
    x_size, y_size = f.fabs(x), f.fabs(y)
    swapped = x_size.compare("olt", y_size)
    large = f.select(swapped, y_size, x_size)
    small = f.select(swapped, x_size, y_size)
    up = small.compare("olt", 2.0**-459)
    down = large.compare("ogt", 2.0**511)
    known = f.constant("double", 1.0)
    to = f.select(down, 2.0**-600, f.select(up, 2.0**600, known))
    back = f.select(down, 2.0**600, f.select(up, 2.0**-600, known))
    apart = (small * to * 2.0**54).compare("ole", large * to)
    result = _root_of_squares(f, large * to, small * to) * back
    result = f.select(apart, large + small, result)
    result = f.select(x.compare("uno", y), x + y, result)
    infinite = x_size.compare("oeq", _INFINITY) | y_size.compare("oeq", _INFINITY)
    return f.select(infinite, _INFINITY, result)


def _root_of_squares(f: VectorFunction, large: Vector, small: Vector) -> Vector:
    h = f.sqrt(large * large + small * small)
    similar = h.compare("ole", 2.0 * small)
    from_small, from_large = h - small, h - large
    t1 = f.select(
        similar,
        large * (2.0 * from_small - large),
        2.0 * from_large * (large - 2.0 * small),
    )
    t2 = f.select(
        similar,
        (from_small - 2.0 * (large - small)) * from_small,
        (4.0 * from_large - small) * small + from_large * from_large,
    )
    return h - (t1 + t2) / (2.0 * h)


def _hypotf(f: VectorFunction, x: Vector, y: Vector) -> Vector:
    a, b = x.converted("fpext", "double"), y.converted("fpext", "double")
    result = f.sqrt(a * a + b * b).converted("fptrunc", "float")
    infinite = f.fabs(x).compare("oeq", _INFINITY) | f.fabs(y).compare("oeq", _INFINITY)
    return f.select(infinite, _INFINITY, result)


def _fmod(f: VectorFunction, x: Vector, y: Vector) -> Vector:
    result = _remainder(f, f.fabs(x), f.fabs(y))
    many = ~(f.fabs(x) / f.fabs(y)).compare("olt", 2.0**52)
    many = many | f.fabs(y).compare("oeq", _INFINITY)
    result = f.copysign(result, x)
    return f.where_any(many, result, lambda: f.libm("fmod", many, x, y))


def _fmodf(f: VectorFunction, x: Vector, y: Vector) -> Vector:
    a = f.fabs(x).converted("fpext", "double")
    b = f.fabs(y).converted("fpext", "double")
    result = f.copysign(_remainder(f, a, b).converted("fptrunc", "float"), x)
    many = ~(a / b).compare("olt", 2.0**52) | b.compare("oeq", _INFINITY)
    return f.where_any(many, result, lambda: f.libm("fmodf", many, x, y))


def _remainder(f: VectorFunction, x: Vector, y: Vector) -> Vector:
    """Return x modulo y, both positive and finite, for x / y < 2^52.

    The quotient may be 1 too large after its rounding; all else is exact.
    """
    r = f.fma(-f.trunc(x / y), y, x)
    return f.select(r.compare("olt", 0.0), r + y, r)


def _nextafter(f: VectorFunction, x: Vector, y: Vector) -> Vector:
    form = format_of(x)
    away = x.compare("olt", y) ^ x.bits().compare("slt", 0)
    step = f.select(away, 1, f.constant(form.integer, -1))
    result = (x.bits() + step).as_float()
    least = ((y.bits() & form.sign) | 1).as_float()
    result = f.select(x.compare("oeq", 0.0), least, result)
    result = f.select(x.compare("oeq", y), y, result)
    return f.select(x.compare("uno", y), x + y, result)


ROUTINES: Final = {
    "cbrt": Routine((_cbrt,), "double", 1),
    "cbrtf": Routine((_cbrt,), "float", 1),
    "fmod": Routine((_fmod,), "double", 2),
    "fmodf": Routine((_fmodf,), "float", 2),
    "hypot": Routine((_hypot,), "double", 2),
    "hypotf": Routine((_hypotf,), "float", 2),
    "nextafter": Routine((_nextafter,), "double", 2),
    "nextafterf": Routine((_nextafter,), "float", 2),
}
