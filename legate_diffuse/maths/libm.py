# SPDX-License-Identifier: Apache-2.0
"""Which machine routine computes each function of C's maths library.

cuPyNumeric's tasks call libm for each element, so libm's results are the right ones.
glibc's vector library libmvec is no substitute: of its functions in version 2.36, all
but pow, hypotf, exp2f and powf give some results that are 2 to 4 units in the last
place from libm's, and each differs from it for 1.5 to 60 % of random numbers.
"""

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from types import MappingProxyType

from legate_diffuse.kernel.operators import MATHS_OF_ONE, MATHS_OF_TWO, POWERS


class MathMode(Enum):
    """How functions such as `exp` are computed.

    Both ways give the same results, but for routines with `Routine.ulps`, and for the
    powers of `legate_diffuse.maths.simple_powers`.
    """

    VECTOR = "vector"
    """By a routine for vectors where one agrees with libm, else by libm."""
    LIBM = "libm"
    """By libm for each element."""


@dataclass(frozen=True, slots=True)
class MathLibrary:
    """The C functions that are computed on vectors, and the elements of these."""

    mode: MathMode
    vector: frozenset[str]
    lanes: int


def c_name(operator: str, dtype: str) -> str:
    """Return the name of the C function of a maths operator for `dtype`."""
    stem = "pow" if operator in POWERS else operator
    return stem if dtype == "float64" else stem + "f"


@cache
def libm_addresses() -> Mapping[str, int]:
    """Return the address of each C function that kernels may call.

    Raises:
        OSError: there is no C maths library.
    """
    libm = ctypes.CDLL("libm.so.6")
    addresses: dict[str, int] = {}
    for operator in sorted(MATHS_OF_ONE | MATHS_OF_TWO | {"ldexp"}):
        for dtype in ("float32", "float64"):
            name = c_name(operator, dtype)
            address = ctypes.cast(getattr(libm, name), ctypes.c_void_p).value
            assert address is not None
            addresses[name] = address
    return MappingProxyType(addresses)
