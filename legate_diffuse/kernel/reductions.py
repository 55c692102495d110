# SPDX-License-Identifier: Apache-2.0
"""The operators that combine the values of many points to one element.

Meanings are those of Legion's reduction operators: `add` and `mul` wrap around for
integers; `min` and `max` keep the element unless the value is less, or greater, so a
NaN never replaces a number.

Follows: Legion and Realm (legion/api/redop.inl)
"""

from typing import Final

from legate_diffuse.kernel.dtypes import (
    COMPLEX,
    FLOATS,
    HALF,
    INTEGERS,
    ITEMSIZE,
    SIGNED,
    bits_of,
)

REDUCTIONS: Final = {
    "add": (*INTEGERS, HALF, *FLOATS, *COMPLEX),
    "mul": (*INTEGERS, HALF, *FLOATS, "complex64"),
    "min": (*INTEGERS, HALF, *FLOATS),
    "max": (*INTEGERS, HALF, *FLOATS),
    "and": ("bool",),
    "or": ("bool",),
}
"""By operator, the types of the elements that it combines."""

_LARGEST: Final = {
    "float16": 65504.0,
    "float32": float.fromhex("0x1.fffffep+127"),
    "float64": float.fromhex("0x1.fffffffffffffp+1023"),
}
_NEUTRAL: Final = {"add": 0, "mul": 1, "and": True, "or": False}


def identity(operator: str, dtype: str) -> bool | int | float:
    """Return the value from which Legion's reductions start.

    Of `min` and `max` over floats that is a finite number, not an infinity: the
    greatest of no other values than minus infinity is the lowest finite number.
    """
    if operator in _NEUTRAL:
        return _NEUTRAL[operator]
    least = operator == "max"
    if dtype in _LARGEST:
        return -_LARGEST[dtype] if least else _LARGEST[dtype]
    width = 8 * ITEMSIZE[dtype] - (dtype in SIGNED)
    if least:
        return -(1 << width) if dtype in SIGNED else 0
    return (1 << width) - 1


def identity_bytes(operator: str, dtype: str) -> bytes:
    """Return the same as bytes in memory."""
    return bits_of(dtype, identity(operator, dtype)).to_bytes(ITEMSIZE[dtype], "little")
