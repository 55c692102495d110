# SPDX-License-Identifier: Apache-2.0
"""Element types of kernels: NumPy names, sizes and bit patterns."""

import struct
from typing import Final

SIGNED: Final = ("int8", "int16", "int32", "int64")
UNSIGNED: Final = ("uint8", "uint16", "uint32", "uint64")
HALF: Final = "float16"
"""A float that kernels convert and copy, but compute with in float32."""
FLOATS: Final = ("float32", "float64")
COMPLEX: Final = ("complex64", "complex128")
INTEGERS: Final = SIGNED + UNSIGNED
ALL: Final = ("bool", *INTEGERS, HALF, *FLOATS, *COMPLEX)

RECT: Final = "rect1"
"""Two int64: the first and the last element of a row. Kernels do nothing else with it
than to sum over the row."""

ITEMSIZE: Final = {
    "bool": 1,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "uint8": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "float16": 2,
    "float32": 4,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
    RECT: 16,
}

COMPONENT: Final = {"complex64": "float32", "complex128": "float64"}
"""Real type of the two components of each complex type."""

_FLOAT_FORMAT: Final = {"float16": "<e", "float32": "<f", "float64": "<d"}


def bits_of(dtype: str, value: bool | int | float | complex) -> int:
    """Return the bit pattern of `value` as a `dtype`, as an unsigned integer.

    Integers wrap around, floats round to nearest (overflow gives an infinity), and the
    real part of a complex number is the lower half.
    """
    if dtype in COMPONENT:
        part = COMPONENT[dtype]
        number = complex(value)
        shift = 8 * ITEMSIZE[part]
        return bits_of(part, number.real) | bits_of(part, number.imag) << shift
    if isinstance(value, complex):
        raise TypeError(f"a complex constant cannot have type {dtype}")
    if dtype == "bool":
        return int(bool(value))
    if dtype in _FLOAT_FORMAT:
        try:
            encoded = struct.pack(_FLOAT_FORMAT[dtype], value)
        except OverflowError:
            infinity = float("inf") if value > 0 else float("-inf")
            encoded = struct.pack(_FLOAT_FORMAT[dtype], infinity)
        return int.from_bytes(encoded, "little")
    return int(value) & ((1 << 8 * ITEMSIZE[dtype]) - 1)
