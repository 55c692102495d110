# SPDX-License-Identifier: Apache-2.0
"""Vector routines for fmod and nextafter, which are exact."""

from typing import Final

from legate_diffuse.maths.formats import format_of
from legate_diffuse.maths.routine import Routine
from legate_diffuse.maths.vector_function import Vector, VectorFunction

_INFINITY: Final = float("inf")


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
    "fmod": Routine((_fmod,), "double", 2),
    "fmodf": Routine((_fmodf,), "float", 2),
    "nextafter": Routine((_nextafter,), "double", 2),
    "nextafterf": Routine((_nextafter,), "float", 2),
}
