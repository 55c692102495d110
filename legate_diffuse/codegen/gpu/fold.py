# SPDX-License-Identifier: Apache-2.0
"""The values that one thread reduces, and how two of them are combined.

Components are vectors of one element, in the type in which they are combined. In shared
memory and in partial results a component is one word of 64 bits.
"""

from typing import Final

from legate_diffuse.codegen.casts import emit_cast
from legate_diffuse.codegen.memory import Parts
from legate_diffuse.codegen.reduction import Combination
from legate_diffuse.kernel.dtypes import ITEMSIZE
from legate_diffuse.kernel.ir import Kernel
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import LLVM_TYPE

_BITS_OF_HALF: Final = 32
"""What a warp exchanges at a time."""


class Fold(Combination):
    """One reduction of a kernel.

    Attributes:
        argument: the number of the argument.
        word: the first of its words among those of all reductions.
    """

    def __init__(self, kernel: Kernel, argument: int, word: int, lanes: int) -> None:
        """Prepare for accumulators of `lanes` values."""
        super().__init__(kernel.arguments[argument])
        self.argument = argument
        self.word = word
        self._lanes = lanes

    def accumulators(self) -> list[str]:
        """Return the variables in which a thread accumulates, one for each lane."""
        return [
            f"  {place} = alloca {self.kind}"
            for lane in range(self._lanes)
            for place in self._places(lane)
        ]

    def clear(self) -> list[str]:
        """Return what lets the accumulators start from the identity."""
        return [
            f"  store {self.kind} {start}, ptr {place}"
            for lane in range(self._lanes)
            for start, place in zip(self.identity(), self._places(lane), strict=True)
        ]

    def accumulate(self, lines: Lines, values: Parts) -> None:
        """Emit the combination of accumulators and the values of all lanes."""
        given = lines.vector(LLVM_TYPE[self.stored])
        for lane in range(lines.lanes):
            one = Lines(1, f"{lines.new_label('lane')}.")
            new = []
            for value in values:
                part = one.shuffle(given, value, "poison", [lane])
                new.append(emit_cast(one, self.stored, self.dtype, part))
            old = self.load(one, lane)
            for place, x in zip(
                self._places(lane), self.combine(one, old, new), strict=True
            ):
                one.do(f"store {self.kind} {x}, ptr {place}")
            lines.text.extend(one.text)

    def load(self, lines: Lines, lane: int) -> Parts:
        """Emit the accumulators of a lane."""
        return tuple(
            lines.let(f"load {self.kind}, ptr {place}") for place in self._places(lane)
        )

    def of_all_lanes(self, lines: Lines) -> Parts:
        """Emit the combination of a thread's accumulators.

        Where there are no vectors the first one has all.
        """
        first = total = self.load(lines, 0)
        for lane in range(1, self._lanes):
            total = self.combine(lines, total, self.load(lines, lane))
        if self._lanes == 1:
            return total
        kind = self.kind
        return tuple(
            lines.let(f"select i1 %in.vectors, {kind} {each}, {kind} {one}")
            for each, one in zip(total, first, strict=True)
        )

    def to_word(self, lines: Lines, value: str) -> str:
        """Emit the word of a component."""
        bits = self._bits()
        number = lines.let(f"bitcast {self.kind} {value} to i{bits}")
        return number if bits == 64 else lines.let(f"zext i{bits} {number} to i64")

    def from_word(self, lines: Lines, word: str) -> str:
        """Emit the component of a word."""
        bits = self._bits()
        if bits < 64:
            word = lines.let(f"trunc i64 {word} to i{bits}")
        return lines.let(f"bitcast i{bits} {word} to {self.kind}")

    def shuffled(self, lines: Lines, value: str, function: str, distance: str) -> str:
        """Emit the component of the thread that is `distance` further in the warp."""
        word = self.to_word(lines, value)
        halves = []
        for start in range(0, max(self._bits(), _BITS_OF_HALF), _BITS_OF_HALF):
            part = lines.let(f"lshr i64 {word}, {start}") if start else word
            half = lines.let(f"trunc i64 {part} to i32")
            other = lines.let(
                f"call i32 {function}(i32 -1, i32 {half}, i32 {distance}, i32 31)"
            )
            halves.append(lines.let(f"zext i32 {other} to i64"))
        if len(halves) > 1:
            high = lines.let(f"shl i64 {halves[1]}, {_BITS_OF_HALF}")
            halves[0] = lines.let(f"or i64 {halves[0]}, {high}")
        return self.from_word(lines, halves[0])

    def _bits(self) -> int:
        return 1 if self.dtype == "bool" else 8 * ITEMSIZE[self.dtype]

    def _places(self, lane: int) -> list[str]:
        return [f"%acc{self.word + part}.{lane}" for part in range(self.count)]


def folds_of(kernel: Kernel, lanes: int) -> list[Fold]:
    """Return the reductions of a kernel, in the order of their arguments."""
    folds: list[Fold] = []
    for number, argument in enumerate(kernel.arguments):
        if argument.reduces is not None:
            word = folds[-1].word + folds[-1].count if folds else 0
            folds.append(Fold(kernel, number, word, lanes))
    return folds
