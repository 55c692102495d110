# SPDX-License-Identifier: Apache-2.0
"""Which machine routine computes each function of C's maths library.

The vector routines are those of glibc's libmvec, found by their names in the x86-64
vector function ABI. They are accurate to 4 units in the last place; the functions of
libm, which cuPyNumeric's tasks call, to about 1.
"""

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Final

from legate_diffuse.kernel.operators import MATHS_OF_ONE, MATHS_OF_TWO

INEXACT: Final = frozenset({"cbrtf", "log10f"})
"""C functions whose vector routine misses results that libm gives exactly.

For instance log10f(1000) and cbrtf(27), which programs round down to integers.
"""


class MathMode(Enum):
    """How functions such as `exp` are computed."""

    VECTOR = "vector"
    """libmvec where it has the function, else libm."""
    LIBM = "libm"
    """libm for each element: bit-identical to unfused cuPyNumeric."""


@dataclass(frozen=True, slots=True)
class MathLibrary:
    """The routines of one machine.

    `vector` has the symbol in libmvec of each C function (for instance `expf`) that is
    computed by a vector routine; `addresses` has the address of every symbol that code
    may call.
    """

    mode: MathMode
    vector: Mapping[str, str]
    addresses: Mapping[str, int]


def c_name(operator: str, dtype: str) -> str:
    """Return the name of the C function of a maths operator for `dtype`."""
    stem = operator.removeprefix("libm_")
    return stem if dtype == "float64" else stem + "f"


def native_lanes(dtype: str, vector_bytes: int) -> int:
    """Return how many elements a vector routine takes at once."""
    return vector_bytes // (8 if dtype == "float64" else 4)


@cache
def probe(mode: MathMode, vector_isa: str, vector_bytes: int) -> MathLibrary:
    """Look up the routines that this machine has.

    Raises:
        OSError: there is no C maths library.
    """
    libm = ctypes.CDLL("libm.so.6")
    libmvec: ctypes.CDLL | None = None
    if mode is MathMode.VECTOR and vector_isa:
        try:
            libmvec = ctypes.CDLL("libmvec.so.1")
        except OSError:
            libmvec = None
    vector: dict[str, str] = {}
    addresses: dict[str, int] = {}
    for operator in sorted(MATHS_OF_ONE | MATHS_OF_TWO | {"ldexp"}):
        for dtype in ("float32", "float64"):
            name = c_name(operator, dtype)
            addresses[name] = _address(libm, name)
            if libmvec is None or name in INEXACT or operator.startswith("libm_"):
                continue
            lanes = native_lanes(dtype, vector_bytes)
            parameters = "v" if operator in MATHS_OF_ONE else "vv"
            symbol = f"_ZGV{vector_isa}N{lanes}{parameters}_{name}"
            if hasattr(libmvec, symbol):
                vector[name] = symbol
                addresses[symbol] = _address(libmvec, symbol)
    return MathLibrary(mode, MappingProxyType(vector), MappingProxyType(addresses))


def _address(library: ctypes.CDLL, symbol: str) -> int:
    address = ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
    assert address is not None
    return address
