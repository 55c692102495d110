# SPDX-License-Identifier: Apache-2.0
"""All vector maths routines.

Largest errors found, in units in the last place of the exact results, and on how many
operands: random bit patterns, numbers of usual sizes, numbers near 0, 1 and multiples
of pi / 4, and thresholds. fmod and nextafter are exact. A star marks routines that are
our own; theirs were compared with long doubles, those for singles on all singles. All
others have the errors and the bits of glibc 2.36, whose results were compared with
mpmath's. Whatever the version of glibc, a routine is used only if it agrees with it
(see `agreement`).

    function   double   operands    single   operands
    acos        0.62* 10,000,000      0.79     14,524
    acosh       1.70      10,917      1.84     10,272
    asin        0.65* 10,000,000      0.66*       all
    asinh       1.39      34,593      1.42     34,540
    atan        0.73* 10,000,000      0.79     34,540
    atan2       0.78* 10,000,000      1.27     38,264
    atanh       1.52      15,230      1.29     14,354
    cbrt        0.50* 12,000,000      0.50*       all
    cos         0.60* 10,000,000      0.56     34,555
    cosh        1.16      24,701      1.34     22,231
    exp         0.51      24,736      0.51     22,337
    exp2        0.51      25,487      0.51     22,626
    expm1       0.76      29,586      0.75     28,242
    hypot       0.50* 10,000,000      0.50     38,419
    log         0.51      19,748      0.79     18,301
    log10       1.56      19,748      1.65     18,301
    log1p       0.72      26,148      0.73     26,125
    log2        0.53      19,748      0.74     18,301
    pow         0.51      21,826      0.53     21,028
    sin         0.60* 10,000,000      0.56     34,540
    sinh        1.71      24,697      1.73     22,216
    tan         0.64* 10,000,000      0.66*       all
    tanh        1.92      34,593      1.94     34,540

Of such operands, results of the starred routines for doubles differ from glibc 2.36's
for 0.2 to 1.6 %, by one unit; those of cbrt, where glibc is wrong by up to 3 units, for
half of them.
"""

from typing import Final

from legate_diffuse.maths import (
    arcs,
    arcs_single,
    exact,
    hyperbolic,
    logarithmic,
    powers,
    roots,
    trigonometric,
    trigonometric_single,
)
from legate_diffuse.maths.correctly_rounded import with_correct_rounding

_ROUTINES: Final = {
    **arcs.ROUTINES,
    **arcs_single.ROUTINES,
    **exact.ROUTINES,
    **hyperbolic.ROUTINES,
    **logarithmic.ROUTINES,
    **powers.ROUTINES,
    **roots.ROUTINES,
    **trigonometric.ROUTINES,
    **trigonometric_single.ROUTINES,
}

ROUTINES: Final = {**_ROUTINES, **with_correct_rounding(_ROUTINES)}
"""The C functions that are computed on vectors, by name."""
