# SPDX-License-Identifier: Apache-2.0
"""Instructions over vectors of floats, and of the integers with their bits."""

from legate_diffuse.kernel.dtypes import ITEMSIZE
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import INTRINSIC_SUFFIX, LLVM_TYPE, literal
from legate_diffuse.maths.formats import FORMATS


class FloatCode:
    """Emits instructions.

    Attributes:
        kind: the type of the floats.
        pattern: the type of the integers.
        flags: the type of truth values.
        sign: the bits of -0, which are the lowest integer.
    """

    def __init__(
        self, lines: Lines, dtype: str, lanes: int, declarations: dict[str, str]
    ) -> None:
        """Emit into `lines`; functions that are called get their declarations."""
        self.lines = lines
        self.dtype = dtype
        self.lanes = lanes
        self.declarations = declarations
        self._integer = f"int{8 * ITEMSIZE[dtype]}"
        self.kind = f"<{lanes} x {LLVM_TYPE[dtype]}>"
        self.pattern = f"<{lanes} x {LLVM_TYPE[self._integer]}>"
        self.flags = f"<{lanes} x i1>"
        self.sign = 1 << 8 * ITEMSIZE[dtype] - 1

    def number(self, value: float) -> str:
        """Return a vector that repeats a number."""
        return literal(self.dtype, value)

    def bits(self, number: int) -> str:
        """Return a vector that repeats an integer, modulo its size."""
        return literal(self._integer, number)

    def bits_of_power(self, power: int) -> int:
        """Return the bits of a power of two."""
        form = FORMATS[self.dtype]
        return form.bias + power << form.fraction_bits

    def on_floats(self, step: str, *operands: str) -> str:
        """Emit an instruction over floats."""
        return self.lines.let(f"{step} {self.kind} {', '.join(operands)}")

    def on_bits(self, step: str, *operands: str) -> str:
        """Emit an instruction over integers."""
        return self.lines.let(f"{step} {self.pattern} {', '.join(operands)}")

    def on_flags(self, step: str, *operands: str) -> str:
        """Emit an instruction over truth values."""
        return self.lines.let(f"{step} {self.flags} {', '.join(operands)}")

    def select(self, mask: str, kind: str, one: str, other: str) -> str:
        """Emit the choice of `one` where the mask is true, of `other` elsewhere."""
        return self.lines.let(
            f"select {self.flags} {mask}, {kind} {one}, {kind} {other}"
        )

    def bits_of(self, x: str) -> str:
        """Emit the bits of floats."""
        return self.lines.let(f"bitcast {self.kind} {x} to {self.pattern}")

    def float_of(self, bits: str) -> str:
        """Emit the floats with these bits."""
        return self.lines.let(f"bitcast {self.pattern} {bits} to {self.kind}")

    def call(self, name: str, *operands: str) -> str:
        """Return the call of one of LLVM's functions of floats."""
        suffix = f"v{self.lanes}{INTRINSIC_SUFFIX[self.dtype]}"
        return self._call(f"@llvm.{name}.{suffix}", self.kind, *operands)

    def call_on_bits(self, name: str, *operands: str) -> str:
        """Return the call of one of LLVM's functions of integers."""
        suffix = f"v{self.lanes}{LLVM_TYPE[self._integer]}"
        return self._call(f"@llvm.{name}.{suffix}", self.pattern, *operands)

    def _call(self, function: str, kind: str, *operands: str) -> str:
        kinds = ", ".join([kind] * len(operands))
        self.declarations[function] = f"declare {kind} {function}({kinds})"
        passed = ", ".join(f"{kind} {x}" for x in operands)
        return f"call {kind} {function}({passed})"

    def multiply_add(self, a: str, b: str, c: str) -> str:
        """Emit a b + c, rounded once."""
        return self.lines.let(self.call("fma", a, b, c))

    def multiply_subtract(self, a: str, b: str, c: str) -> str:
        """Emit c - a b, rounded once."""
        return self.multiply_add(self.on_floats("fneg", a), b, c)

    def half(self) -> "FloatCode":
        """Return what emits instructions over vectors of half as many lanes."""
        return FloatCode(self.lines, self.dtype, self.lanes // 2, self.declarations)

    def halves(self, kind: str, x: str) -> tuple[str, str]:
        """Emit the two halves of a vector of type `kind`."""
        middle = self.lanes // 2
        low = self.lines.shuffle(kind, x, "poison", range(middle))
        high = self.lines.shuffle(kind, x, "poison", range(middle, self.lanes))
        return low, high
