# SPDX-License-Identifier: Apache-2.0
"""Vector routines for singles that round correctly, from those for doubles.

glibc from 2.41 on has correctly rounded functions for singles, of the CORE-MATH project
(https://core-math.gitlabpages.inria.fr). A result of double precision rounds to the
same single as the exact result, unless a number midway between two singles is as near
as the error. libm itself computes those elements: one in ten million.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from legate_diffuse.maths.formats import DOUBLE, SINGLE
from legate_diffuse.maths.routine import Routine
from legate_diffuse.maths.vector_function import Vector, VectorFunction

_LOST_BITS: Final = DOUBLE.fraction_bits - SINGLE.fraction_bits
_MIDWAY: Final = 1 << _LOST_BITS - 1
_ERROR: Final = 16
"""Units in the last place of a double: more than any of the functions is wrong by."""

_NAMES: Final = {
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cosh"),
    *("expm1", "log10", "log1p", "sinh", "tan", "tanh"),
}


def with_correct_rounding(routines: Mapping[str, Routine]) -> dict[str, Routine]:
    """Return the routines for singles, with one more variant from those for doubles.

    It is the first one if others need not give what libm gives.
    """
    found = {}
    for name in sorted(_NAMES):
        single, double = routines[name + "f"], routines[name]
        variants = [*single.variants]
        place = 0 if single.ulps else len(variants)
        variants.insert(place, _through_doubles(name + "f", double.variants[0]))
        found[name + "f"] = replace(single, variants=tuple(variants))
    return found


def _through_doubles(name: str, emit: Callable[..., Vector]) -> Callable[..., Vector]:
    def emit_single(f: VectorFunction, *operands: Vector) -> Vector:
        y = emit(f, *(operand.converted("fpext", "double") for operand in operands))
        lost = y.bits() & ((1 << _LOST_BITS) - 1)
        doubtful = (lost - (_MIDWAY - _ERROR)).compare("ule", 2 * _ERROR)
        # subnormal singles have fewer digits
        small = f.fabs(y).compare("olt", 2.0 ** (1 - SINGLE.bias))
        doubtful = doubtful | (small & y.compare("une", 0.0))
        rounded = y.converted("fptrunc", "float")
        return f.where_any(doubtful, rounded, lambda: f.libm(name, doubtful, *operands))

    return emit_single
