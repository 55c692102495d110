# SPDX-License-Identifier: Apache-2.0
"""All vector maths routines.

Largest errors found, in units in the last place of the exact results (mpmath), and on
how many operands: random bit patterns, numbers of usual sizes, numbers near 0, 1 and
multiples of pi / 4, and thresholds. fmod and nextafter are exact. Those of acos, asin,
atan, atan2 and tan for doubles are these routines' own, and at most one unit from
glibc's results; all others are those of glibc 2.36, bit for bit. Whatever the version
of glibc, a routine is used only if it agrees with it (see `libm_check`).

    function  double  operands    single operands
    acos        0.57    63,318      0.77   14,372
    acosh       1.70    10,917      1.84   10,272
    asin        0.61    63,319      0.76   15,856
    asinh       1.39    34,593      1.42   34,540
    atan        0.66   143,825      0.79   34,540
    atan2       0.65   142,798      1.19   34,253
    atanh       1.52    15,230      1.29   14,354
    cbrt        2.99    19,749      0.92   19,800
    cos         0.57    34,597      0.56   34,555
    cosh        1.16    24,701      1.34   22,231
    exp         0.51    24,736      0.51   22,337
    exp2        0.51    25,487      0.51   22,626
    expm1       0.76    29,586      0.75   28,242
    hypot       0.52    34,590      0.50   34,490
    log         0.51    19,748      0.79   18,301
    log10       1.56    19,748      1.65   18,301
    log1p       0.72    26,148      0.73   26,125
    log2        0.53    19,748      0.74   18,301
    pow         0.51    21,826      0.53   21,028
    sin         0.51    34,593      0.56   34,540
    sinh        1.71    24,697      1.73   22,216
    tan         0.73   166,338      1.26   34,540
    tanh        1.92    34,593      1.94   34,540
"""

from typing import Final

from legate_diffuse.codegen import (
    libm_algebraic,
    libm_exponential,
    libm_inverse,
    libm_logarithmic,
    libm_powers,
    libm_trigonometric,
    vector_trigonometric,
)
from legate_diffuse.codegen.correctly_rounded import with_correct_rounding

_ROUTINES: Final = {
    **libm_algebraic.ROUTINES,
    **libm_exponential.ROUTINES,
    **libm_inverse.ROUTINES,
    **libm_logarithmic.ROUTINES,
    **libm_powers.ROUTINES,
    **libm_trigonometric.ROUTINES,
    **vector_trigonometric.ROUTINES,
}

ROUTINES: Final = {**_ROUTINES, **with_correct_rounding(_ROUTINES)}
"""The C functions that are computed on vectors, by name."""
