# SPDX-License-Identifier: Apache-2.0
"""How element types and their values are written in LLVM's assembly language."""

import struct
from typing import Final

from legate_diffuse.kernel.dtypes import HALF, ITEMSIZE, bits_of

LLVM_TYPE: Final = {
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "i8",
    "uint16": "i16",
    "uint32": "i32",
    "uint64": "i64",
    "float16": "half",
    "float32": "float",
    "float64": "double",
}
"""Types of values in registers. A complex value is two of its component type."""

INTRINSIC_SUFFIX: Final = {"float32": "f32", "float64": "f64"}


def memory_type(dtype: str) -> str:
    """Return the type in memory of one component of a `dtype`."""
    return "i8" if dtype == "bool" else LLVM_TYPE[dtype]


def literal_of_bits(dtype: str, bits: int) -> str:
    """Return a vector that repeats the value with this bit pattern."""
    if dtype == "float64":
        text = f"0x{bits:016X}"
    elif dtype == HALF:
        text = f"0xH{bits:04X}"
    elif dtype == "float32":
        # LLVM writes single precision with the bits of the equal double.
        single = struct.unpack("<f", bits.to_bytes(4, "little"))[0]
        text = f"0x{_widened(bits, single):016X}"
    else:
        text = str(bits)
        if bits >> (8 * ITEMSIZE[dtype] - 1) and dtype != "bool":
            text = str(bits - (1 << 8 * ITEMSIZE[dtype]))
    return f"splat ({LLVM_TYPE[dtype]} {text})"


def literal(dtype: str, value: int | float) -> str:
    """Return a vector that repeats `value`."""
    return literal_of_bits(dtype, bits_of(dtype, value))


def _widened(bits: int, single: float) -> int:
    if single == single:
        return bits_of("float64", single)
    sign, payload = bits >> 31, bits & 0x7FFFFF
    return sign << 63 | 0x7FF << 52 | payload << 29
