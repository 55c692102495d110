# SPDX-License-Identifier: Apache-2.0
"""Loads and stores of the elements that a GPU thread computes at a time."""

from collections.abc import Container
from typing import Final

from legate_diffuse.codegen.arguments import invariant
from legate_diffuse.codegen.gpu.parameters import Layout, emit_word, stride_word
from legate_diffuse.codegen.memory import Parts, from_memory, repeated, to_memory
from legate_diffuse.kernel.dtypes import COMPONENT, ITEMSIZE
from legate_diffuse.kernel.ir import Kernel
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import memory_type

POINTER: Final = "ptr addrspace(1)"
SHARED: Final = "ptr addrspace(3)"


def pointer_to(argument: int, local: Container[int]) -> str:
    """Return the type of pointers to an argument; `local` ones are in shared memory."""
    return SHARED if argument in local else POINTER


class Memory:
    """Emits loads and stores of the elements of a row."""

    def __init__(
        self,
        kernel: Kernel,
        layout: Layout,
        local: Container[int] = (),
        suffix: str = "",
    ) -> None:
        """Prepare for a kernel, some arguments of which may be in shared memory.

        The row of an argument is at `%row`, its number, and a `suffix`.
        """
        self._local = local
        self._kernel = kernel
        self._aligned = layout is Layout.ALIGNED
        self._unit = layout in (Layout.ALIGNED, Layout.UNIT)
        self._suffix = suffix

    def index(self, lines: Lines, number: int, x: str) -> str:
        """Emit the indices, from point `x` of the row on, that come as an argument."""
        stride = emit_word(lines, stride_word(self._kernel, number))
        kind = lines.vector("i64")
        first = lines.let(f"mul i64 {x}, {stride}")
        first = lines.let(f"add i64 {self._row(number)}, {first}")
        start = lines.repeat("i64", first)
        if lines.lanes == 1:
            return start
        places = ", ".join(f"i64 {lane}" for lane in range(lines.lanes))
        steps = lines.let(f"mul {kind} {lines.repeat('i64', stride)}, <{places}>")
        return lines.let(f"add {kind} {start}, {steps}")

    def load(self, lines: Lines, argument: int, x: str) -> Parts:
        """Load the elements of an argument from point `x` of the row on."""
        dtype = self._kernel.arguments[argument].dtype
        place = self.place(lines, argument, x)
        if not self._aligned or invariant(self._kernel, argument):
            return repeated(lines, dtype, pointer_to(argument, self._local), place)
        part = COMPONENT.get(dtype, dtype)
        count = (1 + (dtype in COMPONENT)) * lines.lanes
        kind = f"<{count} x {memory_type(part)}>"
        align = lines.lanes * ITEMSIZE[dtype]
        pointer = pointer_to(argument, self._local)
        loaded = lines.let(f"load {kind}, {pointer} {place}, align {align}")
        return from_memory(lines, dtype, loaded)

    def store(self, lines: Lines, argument: int, parts: Parts, x: str) -> None:
        """Store the elements of an argument from point `x` of the row on."""
        dtype = self._kernel.arguments[argument].dtype
        part = COMPONENT.get(dtype, dtype)
        place = self.place(lines, argument, x)
        # else complex numbers lie where their parts may
        align = lines.lanes * ITEMSIZE[dtype] if self._aligned else ITEMSIZE[part]
        value = to_memory(lines, dtype, parts)
        pointer = pointer_to(argument, self._local)
        lines.do(f"store {value}, {pointer} {place}, align {align}")

    def place(self, lines: Lines, argument: int, x: str) -> str:
        """Emit the address of point `x` of the row."""
        row = f"{pointer_to(argument, self._local)} {self._row(argument)}"
        if not self._unit:
            stride = emit_word(lines, stride_word(self._kernel, argument))
            offset = lines.let(f"mul i64 {x}, {stride}")
            return lines.let(f"getelementptr i8, {row}, i64 {offset}")
        if invariant(self._kernel, argument):
            return self._row(argument)
        size = ITEMSIZE[self._kernel.arguments[argument].dtype]
        return lines.let(f"getelementptr inbounds [{size} x i8], {row}, i64 {x}")

    def _row(self, number: int) -> str:
        return f"%row{number}{self._suffix}"


def scalar(lines: Lines, dtype: str, word: int) -> Parts:
    """Load a scalar from a kernel's parameter."""
    place = lines.let(f"getelementptr i64, ptr %parameter, i64 {word}")
    return repeated(lines, dtype, "ptr", place)
