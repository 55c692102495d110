# SPDX-License-Identifier: Apache-2.0
"""How the threads of a grid combine what they have reduced, in a fixed order.

Each thread has values for a slice. In the layouts for rows the block's threads combine
theirs to one: warps by shuffles, at halving distances, then the results of the warps in
shared memory. In the layout for columns only the threads of one column do, in order.

If a slice has several blocks, each leaves its result, a partial result, in memory and
takes a ticket. The block with the last ticket combines all partial results: each thread
some, in order, then the threads as above. So the order follows from the grid alone, and
the grid from the extents.
"""

from collections.abc import Callable, Sequence
from typing import Final

from legate_diffuse.codegen.gpu.fold import Fold
from legate_diffuse.codegen.gpu.memory import POINTER, Layout
from legate_diffuse.codegen.gpu.shape import THREADS, WARP
from legate_diffuse.codegen.operations import Parts
from legate_diffuse.llvm.lines import Lines

BARRIER: Final = "call void @llvm.nvvm.barrier0()"
"""Waits for all threads of the block; what they wrote can be read then."""

_FENCE: Final = "call void @llvm.nvvm.membar.gl()"
"""What was written before is seen by who sees what is written after."""

_SHUFFLE: Final = "@llvm.nvvm.shfl.sync.down.i32"
_SHARED: Final = "ptr addrspace(3)"
_WARPS: Final = THREADS // WARP

Values = list[Parts]
"""The components of each reduction."""


class Combining:
    """Emits what follows the rows of a slice, from block `rows.end` to `slice.end`.

    Attributes:
        declarations: what the function needs, by name.
    """

    def __init__(self, folds: Sequence[Fold], layout: Layout, name: str) -> None:
        """Prepare for the function `name` of a layout."""
        self._folds = folds
        self._columns = layout is Layout.COLUMNS
        self._words = sum(each.count for each in folds)
        self._shared = f"@{name}.shared"
        self._flag = f"@{name}.flag"
        slots = self._words * (THREADS if self._columns else _WARPS)
        self.declarations = {
            "barrier": "declare void @llvm.nvvm.barrier0()",
            "fence": "declare void @llvm.nvvm.membar.gl()",
            "shuffle": f"declare i32 {_SHUFFLE}(i32, i32, i32, i32)",
            self._shared: f"{self._shared} = internal addrspace(3) global "
            f"[{slots} x i64] undef, align 16",
            self._flag: f"{self._flag} = internal addrspace(3) global "
            "i32 undef, align 4",
        }

    def entry(self) -> list[str]:
        """Return what depends on the thread and the grid only.

        `%writes` is the thread that updates an element and has its partial result.
        """
        lines = Lines(1, "q", "entry")
        line = lines.let("mul i64 %tid.y, %ntid.x")
        lines.do(f"%thread = add i64 {line}, %tid.x")
        lines.do("%leads = icmp eq i64 %thread, 0")
        if self._columns:
            lines.do("%top = icmp eq i64 %tid.y, 0")
            lines.do("%writes = and i1 %top, %inside")
            lines.do("%parts = add i64 %nctaid.y, 0")
            # no partial results where there is no column
            lines.do("%gathered = select i1 %inside, i64 %parts, i64 0")
        else:
            lines.do("%writes = or i1 %leads, false")
            lines.do("%parts = mul i64 %nctaid.x, %nctaid.y")
            lines.do("%gathered = add i64 %parts, 0")
        lines.do("%alone = icmp eq i64 %parts, 1")
        return lines.text

    def emit(self, update: Callable[[Lines, Values], None]) -> list[str]:
        """Return the code; `update` emits the update of a slice's elements."""
        lines = Lines(1, "c", "rows.end")
        own = [each.of_all_lanes(lines) for each in self._folds]
        # first of the block's own values, then of all partial results
        values = self._names("own")
        combine = Lines(1, "d", "combine")
        combined = self._of_block(combine, values)
        combine.do("%complete = or i1 %again, %alone")
        combine.do("br i1 %complete, label %update, label %partial")
        combine.block("partial")
        self._leave(combine, combined)
        gathered, after = self._gather(combine)
        combine.do("br label %combine")
        lines.do("br label %combine")
        lines.block("combine")
        lines.do(f"%again = phi i1 [ false, %rows.end ], [ true, %{after} ]")
        self._phis(lines, values, [(own, "rows.end"), (gathered, after)])
        lines.text.extend(combine.text)
        lines.block("update")
        values = combined
        lines.do("br i1 %writes, label %write, label %slice.end")
        lines.block("write")
        update(lines, values)
        lines.do("br label %slice.end")
        lines.block("slice.end")
        # before the next slice needs the shared memory
        lines.do(BARRIER)
        return lines.text

    def _of_block(self, lines: Lines, values: Values) -> Values:
        """Emit the combination of the values of the block's threads."""
        if self._columns:
            return self._of_column(lines, values)
        values = self._of_warp(lines, values, str(WARP // 2))
        warp = lines.let(f"udiv i64 %thread, {WARP}")
        self._put_first(lines, values, "%thread", warp)
        place = lines.let(f"and i64 %thread, {_WARPS - 1}")
        return self._of_warp(lines, self._get_of_warp(lines, place), str(_WARPS // 2))

    def _put_first(self, lines: Lines, values: Values, thread: str, warp: str) -> None:
        """Emit the stores of the values of each warp's first thread, and wait."""
        lane = lines.let(f"and i64 {thread}, {WARP - 1}")
        first = lines.let(f"icmp eq i64 {lane}, 0")
        put, wait = lines.new_label("put"), lines.new_label("wait")
        lines.do(f"br i1 {first}, label %{put}, label %{wait}")
        lines.block(put)
        self._put(lines, values, warp, _WARPS)
        lines.do(f"br label %{wait}")
        lines.block(wait)
        lines.do(BARRIER)

    def _get_of_warp(self, lines: Lines, warp: str) -> Values:
        return self._get(lines, warp, _WARPS)

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

    def _of_column(self, lines: Lines, values: Values) -> Values:
        """Emit the combination of a column's threads, which the first one gets."""
        self._put(lines, values, "%thread", THREADS)
        lines.do(BARRIER)
        # the others' values are not needed
        end = lines.let("select i1 %top, i64 %ntid.y, i64 1")

        def at(lines: Lines, y: str) -> Values:
            line = lines.let(f"mul i64 {y}, %ntid.x")
            place = lines.let(f"add i64 {line}, %tid.x")
            return self._get(lines, place, THREADS)

        return self._in_order(lines, values, "1", end, "1", at)

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

    def _leave(self, lines: Lines, values: Values) -> None:
        """Emit the partial result, and the ticket; go on in the last block only."""
        lines.do("br i1 %writes, label %partial.put, label %ticket.wait")
        lines.block("partial.put")
        part = "%ctaid.y"
        if not self._columns:
            line = lines.let("mul i64 %ctaid.y, %nctaid.x")
            part = lines.let(f"add i64 {line}, %ctaid.x")
        slot = self._slot(lines, self._tile(lines), part)
        for fold, parts in zip(self._folds, values, strict=True):
            for number, value in enumerate(parts):
                at = self._partial(lines, slot, fold.word + number)
                word = fold.to_word(lines, value)
                lines.do(f"store volatile i64 {word}, {POINTER} {at}, align 8")
        lines.do(_FENCE)
        lines.do("br label %ticket.wait")
        lines.block("ticket.wait")
        if self._columns:
            # other threads than the one with the ticket have left something
            lines.do(BARRIER)
        lines.do("br i1 %leads, label %ticket.take, label %ticket.read")
        lines.block("ticket.take")
        lines.do(_FENCE)
        ticket = self._ticket(lines)
        old = lines.let(f"atomicrmw add {POINTER} {ticket}, i32 1 monotonic")
        taken = lines.let(f"zext i32 {old} to i64")
        count = lines.let(f"add i64 {taken}, 1")
        last = lines.let(f"icmp eq i64 {count}, %parts")
        flag = lines.let(f"zext i1 {last} to i32")
        lines.do(f"store i32 {flag}, {_SHARED} {self._flag}, align 4")
        lines.do("br label %ticket.read")
        lines.block("ticket.read")
        lines.do(BARRIER)
        flag = lines.let(f"load i32, {_SHARED} {self._flag}, align 4")
        last = lines.let(f"icmp ne i32 {flag}, 0")
        lines.do(f"br i1 {last}, label %gather, label %slice.end")
        lines.block("gather")
        lines.do(_FENCE)

    def _gather(self, lines: Lines) -> tuple[Values, str]:
        """Emit what each thread combines of all partial results, up to a block."""
        tile = self._tile(lines)
        first, step = ("%thread", str(THREADS))
        if self._columns:
            first, step = "%tid.y", "%ntid.y"
        starts = [fold.identity() for fold in self._folds]

        def at(lines: Lines, part: str) -> Values:
            slot = self._slot(lines, tile, part)
            found = []
            for fold in self._folds:
                parts = []
                for number in range(fold.count):
                    place = self._partial(lines, slot, fold.word + number)
                    load = f"load volatile i64, {POINTER} {place}, align 8"
                    parts.append(fold.from_word(lines, lines.let(load)))
                found.append(tuple(parts))
            return found

        values = self._in_order(lines, starts, first, "%gathered", step, at)
        put, after = lines.new_label("reset"), lines.new_label("gathered")
        lines.do(f"br i1 %leads, label %{put}, label %{after}")
        lines.block(put)
        lines.do(f"store i32 0, {POINTER} {self._ticket(lines)}, align 4")
        lines.do(f"br label %{after}")
        lines.block(after)
        return values, after

    def _tile(self, lines: Lines) -> str:
        """Emit the number of what has a ticket: a slice, or a part of its columns."""
        if not self._columns:
            return "%slice"
        tiles = lines.let("mul i64 %slice, %nctaid.x")
        return lines.let(f"add i64 {tiles}, %ctaid.x")

    def _ticket(self, lines: Lines) -> str:
        tile = self._tile(lines)
        return lines.let(f"getelementptr i32, {POINTER} %tickets, i64 {tile}")

    def _slot(self, lines: Lines, tile: str, part: str) -> str:
        """Emit the number of a partial result of a tile."""
        slots = lines.let(f"mul i64 {tile}, %parts")
        slot = lines.let(f"add i64 {slots}, {part}")
        if not self._columns:
            return slot
        slots = lines.let(f"mul i64 {slot}, %ntid.x")
        return lines.let(f"add i64 {slots}, %tid.x")

    def _partial(self, lines: Lines, slot: str, word: int) -> str:
        kind = f"[{self._words} x i64]"
        place = f"{POINTER} %partials, i64 {slot}, i64 {word}"
        return lines.let(f"getelementptr {kind}, {place}")

    def _put(self, lines: Lines, values: Values, place: str, count: int) -> None:
        """Emit the stores of words to shared memory; each word has `count` places."""
        for fold, parts in zip(self._folds, values, strict=True):
            for number, value in enumerate(parts):
                at = self._in_shared(lines, place, count, fold.word + number)
                word = fold.to_word(lines, value)
                lines.do(f"store i64 {word}, {_SHARED} {at}, align 8")

    def _get(self, lines: Lines, place: str, count: int) -> Values:
        found = []
        for fold in self._folds:
            parts = []
            for number in range(fold.count):
                at = self._in_shared(lines, place, count, fold.word + number)
                word = lines.let(f"load i64, {_SHARED} {at}, align 8")
                parts.append(fold.from_word(lines, word))
            found.append(tuple(parts))
        return found

    def _in_shared(self, lines: Lines, place: str, count: int, word: int) -> str:
        slot = lines.let(f"add i64 {place}, {word * count}")
        return lines.let(f"getelementptr i64, {_SHARED} {self._shared}, i64 {slot}")
