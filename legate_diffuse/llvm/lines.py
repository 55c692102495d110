# SPDX-License-Identifier: Apache-2.0
"""Lines of LLVM assembly under construction."""

from collections.abc import Iterable


class Lines:
    """Instructions over vectors of `lanes` elements.

    Attributes:
        label: the basic block in which the next instruction is.
    """

    def __init__(self, lanes: int, prefix: str, label: str = "") -> None:
        """Start in the block `label`; values are named `prefix` and a number."""
        self.lanes = lanes
        self.label = label
        self.text: list[str] = []
        self._prefix = prefix

    def vector(self, element: str) -> str:
        """Return the vector type of LLVM type `element`."""
        return f"<{self.lanes} x {element}>"

    def let(self, instruction: str) -> str:
        """Emit an instruction and return the name of its result."""
        name = f"%{self._prefix}{len(self.text)}"
        self.text.append(f"  {name} = {instruction}")
        return name

    def shuffle(self, kind: str, one: str, other: str, lanes: Iterable[int]) -> str:
        """Emit the vector of some lanes of two vectors of type `kind`."""
        order = ", ".join(f"i32 {lane}" for lane in lanes)
        which = f"<{order.count('i32')} x i32> <{order}>"
        return self.let(f"shufflevector {kind} {one}, {kind} {other}, {which}")

    def join(self, element: str, parts: list[str], width: int) -> str:
        """Emit one vector of a power of 2 of vectors, which have `width` elements."""
        while len(parts) > 1:
            kind = f"<{width} x {element}>"
            width *= 2
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [self.shuffle(kind, low, high, range(width)) for low, high in pairs]
        return parts[0]

    def repeat(self, element: str, value: str, lanes: int = 0) -> str:
        """Emit a vector that repeats a value; of `lanes`, if it has others."""
        count = lanes or self.lanes
        kind, zeros = f"<{count} x {element}>", f"<{count} x i32> zeroinitializer"
        first = self.let(f"insertelement {kind} poison, {element} {value}, i64 0")
        if count == 1:
            return first
        return self.let(f"shufflevector {kind} {first}, {kind} poison, {zeros}")

    def do(self, instruction: str) -> None:
        """Emit an instruction without a result."""
        self.text.append(f"  {instruction}")

    def new_label(self, name: str) -> str:
        """Return a label that no other block has."""
        return f"{self._prefix}{len(self.text)}.{name}"

    def block(self, label: str) -> None:
        """Start a basic block."""
        self.label = label
        self.text.append(f"{label}:")
