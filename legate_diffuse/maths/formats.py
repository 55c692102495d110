# SPDX-License-Identifier: Apache-2.0
"""Bit patterns of floating-point numbers in vector maths routines."""

import struct
from dataclasses import dataclass
from typing import Final

from legate_diffuse.maths.vector_function import Vector, VectorFunction


@dataclass(frozen=True, slots=True)
class Format:
    """A binary format: LLVM's types, and its fields."""

    element: str
    integer: str
    fraction_bits: int
    bias: int

    @property
    def magnitude(self) -> int:
        """The mask of all bits but the sign."""
        return self.sign - 1

    @property
    def sign(self) -> int:
        """The bit of the sign."""
        return (2 * self.bias + 2) << self.fraction_bits

    @property
    def infinity(self) -> int:
        """The bit pattern of infinity, and the mask of the exponent."""
        return (2 * self.bias + 1) << self.fraction_bits

    @property
    def fraction(self) -> int:
        """The mask of the fraction."""
        return (1 << self.fraction_bits) - 1


DOUBLE: Final = Format("double", "i64", 52, 1023)
SINGLE: Final = Format("float", "i32", 23, 127)
FORMATS: Final = {"float64": DOUBLE, "float32": SINGLE}


def format_of(x: Vector) -> Format:
    """Return the format of a vector's elements."""
    return DOUBLE if x.element == "double" else SINGLE


def high_word(pattern: int) -> float:
    """Return the double whose upper 32 bits are `pattern`, and the lower ones 0."""
    number: float = struct.unpack("<d", struct.pack("<Q", pattern << 32))[0]
    return number


def word(pattern: int) -> float:
    """Return the number whose bits as a single are `pattern`."""
    number: float = struct.unpack("<f", struct.pack("<I", pattern))[0]
    return number


def scaled(f: VectorFunction, x: Vector, exponent: Vector) -> Vector:
    """Return x with `exponent`, a vector of integers, added to its exponent."""
    return (x.bits() + (exponent << format_of(x).fraction_bits)).as_float()


def power_of_two(f: VectorFunction, x: Vector, exponent: Vector) -> Vector:
    """Return 2^exponent for a vector of integers, as numbers like x."""
    form = format_of(x)
    return ((exponent + form.bias) << form.fraction_bits).as_float()


def numbers(text: str) -> tuple[float, ...]:
    """Return the decimal or hexadecimal numbers of a text."""
    return tuple(
        float.fromhex(word) if "p" in word else float(word) for word in text.split()
    )
