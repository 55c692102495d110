# SPDX-License-Identifier: Apache-2.0
"""The operators of the kernel IR as GPUs compute them.

Floats that an integer type cannot hold become its nearest number, as PTX's `cvt` gives
it. A NaN becomes 0, but the highest bit alone where the float or the integer has 64
bits. Types of less than 32 bits get the low bits of such a conversion to 32 bits, as
nvcc does it.
"""

from typing import Final

from legate_diffuse.codegen.casts import convert, emit_cast
from legate_diffuse.codegen.operations import Operations
from legate_diffuse.kernel.dtypes import ITEMSIZE, SIGNED
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import INTRINSIC_SUFFIX, LLVM_TYPE, literal_of_bits

_LEAST_SIZE: Final = 4
"""Bytes of the integers that the machine converts floats to."""


class GpuOperations(Operations):
    """Emits operators, and collects the functions that they call."""

    def cast(self, lines: Lines, source: str, target: str, value: str) -> str:
        """Emit the conversion of a real value."""
        return emit_cast(lines, source, target, value, self._float_to_integer)

    def complex_function(self, name: str, part: str) -> str:
        """Return the function of an operator over complex numbers.

        What it does rarely is part of it: a call would go through local memory.
        """
        helper = super().complex_function(name, part)
        text = self.declarations[helper]
        self.declarations[helper] = text.replace(" noinline cold", " alwaysinline")
        return helper

    def _float_to_integer(
        self, lines: Lines, source: str, target: str, value: str
    ) -> str:
        if ITEMSIZE[target] < _LEAST_SIZE:
            middle = "int32" if target in SIGNED else "uint32"
            wide = self._float_to_integer(lines, source, middle, value)
            return convert(lines, "trunc", middle, target, wide)
        kind, result = lines.vector(LLVM_TYPE[source]), lines.vector(LLVM_TYPE[target])
        suffix = f"v{lines.lanes}{LLVM_TYPE[target]}.v{lines.lanes}"
        sign = "s" if target in SIGNED else "u"
        function = f"@llvm.fpto{sign}i.sat.{suffix}{INTRINSIC_SUFFIX[source]}"
        self.declarations[function] = f"declare {result} {function}({kind})"
        held = lines.let(f"call {result} {function}({kind} {value})")
        bits = 8 * ITEMSIZE[target]
        if "64" not in source + target:
            return held
        flags = lines.vector("i1")
        number = lines.let(f"fcmp ord {kind} {value}, {value}")
        highest = literal_of_bits(target, 1 << bits - 1)
        return lines.let(
            f"select {flags} {number}, {result} {held}, {result} {highest}"
        )
