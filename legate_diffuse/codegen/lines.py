# SPDX-License-Identifier: Apache-2.0
"""Lines of LLVM assembly under construction."""


class Lines:
    """The instructions of one basic block, over vectors of `lanes` elements."""

    def __init__(self, lanes: int, prefix: str) -> None:
        """Start a block whose values are named `prefix` and a number."""
        self.lanes = lanes
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

    def do(self, instruction: str) -> None:
        """Emit an instruction without a result."""
        self.text.append(f"  {instruction}")
