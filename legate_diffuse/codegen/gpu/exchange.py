# SPDX-License-Identifier: Apache-2.0
"""How the threads of a block combine what each of them has reduced."""

from collections.abc import Callable, Sequence
from typing import Final

from legate_diffuse.codegen.gpu.fold import Fold
from legate_diffuse.codegen.gpu.memory import SHARED
from legate_diffuse.codegen.gpu.shape import THREADS, WARP
from legate_diffuse.codegen.memory import Parts
from legate_diffuse.llvm.lines import Lines

BARRIER: Final = "call void @llvm.nvvm.barrier0()"
"""Waits for all threads of the block; what they wrote can be read then."""

WARPS: Final = THREADS // WARP
"""Of a block."""

_SHUFFLE: Final = "@llvm.nvvm.shfl.sync.down.i32"

Values = list[Parts]
"""The components of each reduction."""


class Exchange:
    """Emits how threads combine their values, through shared memory and within warps.

    Attributes:
        declarations: what the function needs, by name.
    """

    def __init__(self, folds: Sequence[Fold], name: str, places: int) -> None:
        """Prepare for the function `name`, in which a block has so many `places`."""
        self._folds = folds
        self._words = sum(each.count for each in folds)
        self._places = places
        self._shared = f"@{name}.shared"
        self.declarations = {
            "barrier": "declare void @llvm.nvvm.barrier0()",
            "shuffle": f"declare i32 {_SHUFFLE}(i32, i32, i32, i32)",
            self._shared: f"{self._shared} = internal addrspace(3) global "
            f"[{self._words * places} x i64] undef, align 16",
        }

    def _of_warp(self, lines: Lines, values: Values, first: str) -> Values:
        """Emit the combination of some threads of a warp, which the first one gets.

        They are combined at halving distances, from `first` on.
        """

        def combined(lines: Lines, distance: str, current: Values) -> Values:
            return [
                fold.combine(
                    lines,
                    parts,
                    [fold.shuffled(lines, x, _SHUFFLE, distance) for x in parts],
                )
                for fold, parts in zip(self._folds, current, strict=True)
            ]

        return self._repeat(
            lines,
            values,
            (first, "i32", "icmp ne i32 {}, 0", "lshr i32 {}, 1"),
            combined,
        )

    def _put_first(self, lines: Lines, values: Values, thread: str, warp: str) -> None:
        """Emit the stores of the values of each warp's first thread, and wait."""
        lane = lines.let(f"and i64 {thread}, {WARP - 1}")
        first = lines.let(f"icmp eq i64 {lane}, 0")
        put, wait = lines.new_label("put"), lines.new_label("wait")
        lines.do(f"br i1 {first}, label %{put}, label %{wait}")
        lines.block(put)
        self._put(lines, values, warp)
        lines.do(f"br label %{wait}")
        lines.block(wait)
        lines.do(BARRIER)

    def _in_order(
        self,
        lines: Lines,
        values: Values,
        first: str,
        end: str,
        step: str,
        get: Callable[[Lines, str], Values],
    ) -> Values:
        """Emit a loop that combines values with those at places below `end`."""

        def combined(lines: Lines, place: str, current: Values) -> Values:
            return [
                fold.combine(lines, old, value)
                for fold, old, value in zip(
                    self._folds, current, get(lines, place), strict=True
                )
            ]

        return self._repeat(
            lines,
            values,
            (first, "i64", f"icmp ult i64 {{}}, {end}", f"add i64 {{}}, {step}"),
            combined,
        )

    def _repeat(
        self,
        lines: Lines,
        values: Values,
        counter: tuple[str, str, str, str],
        combined: Callable[[Lines, str, Values], Values],
    ) -> Values:
        """Emit a loop, and return the values after it.

        The counter has a start, a type, what asks whether to go on, and a step.
        """
        first, kind, more, step = counter
        before = lines.label
        test, body, done = (lines.new_label(n) for n in ("test", "body", "done"))
        current, place = self._names(test), f"%{test}.place"
        inside = Lines(1, f"{body}.")
        new = combined(inside, place, current)
        following = inside.let(step.format(place))
        lines.do(f"br label %{test}")
        lines.block(test)
        lines.do(
            f"{place} = phi {kind} [ {first}, %{before} ], [ {following}, %{body} ]"
        )
        self._phis(lines, current, [(values, before), (new, body)])
        goes_on = lines.let(more.format(place))
        lines.do(f"br i1 {goes_on}, label %{body}, label %{done}")
        lines.block(body)
        lines.text.extend(inside.text)
        lines.do(f"br label %{test}, !llvm.loop !0")
        lines.block(done)
        return current

    def _names(self, stem: str) -> Values:
        """Return names for the components of all reductions."""
        return [
            tuple(f"%{stem}.{fold.word + part}" for part in range(fold.count))
            for fold in self._folds
        ]

    def _phis(
        self, lines: Lines, names: Values, ways: Sequence[tuple[Values, str]]
    ) -> None:
        """Emit values that come from one of several blocks."""
        for number, fold in enumerate(self._folds):
            for part, name in enumerate(names[number]):
                found = ", ".join(
                    f"[ {values[number][part]}, %{label} ]" for values, label in ways
                )
                lines.do(f"{name} = phi {fold.kind} {found}")

    def _put(self, lines: Lines, values: Values, place: str) -> None:
        """Emit the stores of words to a place in shared memory."""
        for fold, parts in zip(self._folds, values, strict=True):
            for number, value in enumerate(parts):
                at = self._in_shared(lines, place, fold.word + number)
                word = fold.to_word(lines, value)
                lines.do(f"store i64 {word}, {SHARED} {at}, align 8")

    def _get(self, lines: Lines, place: str) -> Values:
        """Emit the loads of what was put in a place."""
        found = []
        for fold in self._folds:
            parts = []
            for number in range(fold.count):
                at = self._in_shared(lines, place, fold.word + number)
                word = lines.let(f"load i64, {SHARED} {at}, align 8")
                parts.append(fold.from_word(lines, word))
            found.append(tuple(parts))
        return found

    def _in_shared(self, lines: Lines, place: str, word: int) -> str:
        slot = lines.let(f"add i64 {place}, {word * self._places}")
        return lines.let(f"getelementptr i64, {SHARED} {self._shared}, i64 {slot}")
