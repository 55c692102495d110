# SPDX-License-Identifier: Apache-2.0
"""The last points of a call, fewer than a vector.

The loop computes them as a whole vector like all others, between buffers of a vector
for each argument. No byte beyond the last point is touched: masked instructions of
AVX-512 fill and empty the buffers, or `memcpy` does. The lanes beyond it repeat the
first value, which takes no way through a maths routine that the others do not take.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from legate_diffuse.kernel.dtypes import ITEMSIZE
from legate_diffuse.kernel.ir import Argument
from legate_diffuse.llvm.lines import Lines

_LARGEST_WORD: Final = 8
"""Bytes of the widest integer in a vector; a complex128 is two of them."""


class Remainder:
    """Emits the copies of the arguments that have an element for each point.

    Argument n begins at `%an`, and its buffer at `%bn`. The elements to copy begin with
    number `%done`; there are `%left` of them.

    Attributes:
        declarations: declarations of the functions that are called, by name.
    """

    def __init__(
        self, arguments: Mapping[int, Argument], lanes: int, masked: bool
    ) -> None:
        """Prepare to copy `arguments`, by number, with `masked` instructions."""
        self.declarations: dict[str, str] = {}
        self._masked = masked
        self._arguments = arguments
        self._lanes = lanes

    def buffers(self) -> list[str]:
        """Return the instructions that make room for the buffers."""
        return [
            f"  %b{number} = alloca [{self._lanes * ITEMSIZE[argument.dtype]} x i8], "
            "align 64"
            for number, argument in self._arguments.items()
        ]

    def fill(self, lines: Lines) -> None:
        """Emit the copies of what the kernel reads to the buffers."""
        read = [n for n, a in self._arguments.items() if a.reads or a.reduces]
        for part in self._parts(lines, read):
            kind, word = part.vector, part.word
            first = lines.let(f"load {word}, ptr {part.pointer}, align {part.bytes}")
            fill = lines.repeat(word, first, part.words)
            if not self._masked:
                lines.do(f"store {kind} {fill}, ptr {part.buffer}, align 64")
                self._copy(lines, part.buffer, part.pointer, part)
                continue
            function = f"@llvm.masked.load.v{part.words}{word}.p0"
            self._declare(f"{kind} {function}(ptr, i32, {part.flags}, {kind})")
            passed = f"ptr {part.pointer}, i32 {part.bytes}, {part.mask}, {kind} {fill}"
            values = lines.let(f"call {kind} {function}({passed})")
            lines.do(f"store {kind} {values}, ptr {part.buffer}, align 64")

    def empty(self, lines: Lines) -> None:
        """Emit the copies of what the kernel writes from the buffers."""
        written = [n for n, a in self._arguments.items() if a.writes or a.reduces]
        for part in self._parts(lines, written):
            if not self._masked:
                self._copy(lines, part.pointer, part.buffer, part)
                continue
            kind = part.vector
            values = lines.let(f"load {kind}, ptr {part.buffer}, align 64")
            function = f"@llvm.masked.store.v{part.words}{part.word}.p0"
            self._declare(f"void {function}({kind}, ptr, i32, {part.flags})")
            passed = f"{kind} {values}, ptr {part.pointer}, i32 {part.bytes}"
            lines.do(f"call void {function}({passed}, {part.mask})")

    def _copy(self, lines: Lines, to: str, source: str, part: "_Part") -> None:
        self._declare("void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        size = lines.let(f"mul i64 %left, {part.bytes * part.words // self._lanes}")
        copied = f"ptr {to}, ptr {source}, i64 {size}, i1 false"
        lines.do(f"call void @llvm.memcpy.p0.p0.i64({copied})")

    def _parts(self, lines: Lines, numbers: list[int]) -> "Iterator[_Part]":
        masks: dict[int, str] = {}
        for number in numbers:
            itemsize = ITEMSIZE[self._arguments[number].dtype]
            size = min(itemsize, _LARGEST_WORD)
            words = itemsize // size
            if self._masked and words not in masks:
                count = lines.let(f"mul i64 %left, {words}")
                masks[words] = lanes_below(lines, count, self._lanes * words)
            place = f"[{itemsize} x i8], ptr %a{number}, i64 %done"
            pointer = lines.let(f"getelementptr {place}")
            mask = masks.get(words, "")
            yield _Part(f"%b{number}", pointer, size, self._lanes * words, mask)

    def _declare(self, signature: str) -> None:
        self.declarations[signature] = f"declare {signature}"


@dataclass(frozen=True, slots=True)
class _Part:
    """The last elements of an argument, as a vector of integers."""

    buffer: str
    pointer: str
    bytes: int
    words: int
    mask_name: str

    @property
    def word(self) -> str:
        return f"i{8 * self.bytes}"

    @property
    def vector(self) -> str:
        return f"<{self.words} x {self.word}>"

    @property
    def flags(self) -> str:
        return f"<{self.words} x i1>"

    @property
    def mask(self) -> str:
        return f"{self.flags} {self.mask_name}"


def lanes_below(lines: Lines, limit: str, lanes: int) -> str:
    """Emit which lanes have numbers below `limit`, an i64 of at most `lanes`."""
    kind = f"<{lanes} x i16>"
    narrow = lines.let(f"trunc i64 {limit} to i16")
    limits = lines.repeat("i16", narrow, lanes)
    numbers = ", ".join(f"i16 {lane}" for lane in range(lanes))
    return lines.let(f"icmp ult {kind} <{numbers}>, {limits}")
