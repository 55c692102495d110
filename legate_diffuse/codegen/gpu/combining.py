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

from legate_diffuse.codegen.gpu.exchange import BARRIER, WARPS, Exchange, Values
from legate_diffuse.codegen.gpu.fold import Fold
from legate_diffuse.codegen.gpu.memory import POINTER, SHARED
from legate_diffuse.codegen.gpu.shape import THREADS, WARP
from legate_diffuse.llvm.lines import Lines

_FENCE: Final = "call void @llvm.nvvm.membar.gl()"
"""What was written before is seen by who sees what is written after."""


class Combining(Exchange):
    """Emits what follows the rows of a slice, from block `rows.end` to `slice.end`."""

    def __init__(self, folds: Sequence[Fold], name: str) -> None:
        """Prepare for the function `name`."""
        super().__init__(folds, name, THREADS)
        self._flag = f"@{name}.flag"
        self.declarations |= {
            "fence": "declare void @llvm.nvvm.membar.gl()",
            self._flag: f"{self._flag} = internal addrspace(3) global "
            "i32 undef, align 4",
        }

    def roles(self) -> list[str]:
        """Return what depends on the thread and the grid only, in block `rows.end`.

        `%writes` is the thread that updates an element and has its partial result. A
        tile is what has a ticket: a slice, or a part of its columns.
        """
        lines = Lines(1, "q", "rows.end")
        line = lines.let("mul i64 %tid.y, %ntid.x")
        lines.do(f"%thread = add i64 {line}, %tid.x")
        lines.do("%leads = icmp eq i64 %thread, 0")
        lines.do("%top = icmp eq i64 %tid.y, 0")
        lines.do("%inside = icmp ult i64 %first.x, %extent")
        blocks = lines.let("mul i64 %nctaid.x, %nctaid.y")
        line = lines.let("mul i64 %ctaid.y, %nctaid.x")
        block = lines.let(f"add i64 {line}, %ctaid.x")
        for name, of_column, of_slice in (
            ("parts", "%nctaid.y", blocks),
            ("part", "%ctaid.y", block),
            ("tiles", "%nctaid.x", "1"),
            ("tile.first", "%ctaid.x", "0"),
            ("width", "%ntid.x", "1"),
            ("beside", "%tid.x", "0"),
            ("gather.first", "%tid.y", "%thread"),
            ("gather.step", "%ntid.y", str(THREADS)),
        ):
            lines.do(f"%{name} = select i1 %by.column, i64 {of_column}, i64 {of_slice}")
        of_column = lines.let("and i1 %top, %inside")
        lines.do(f"%writes = select i1 %by.column, i1 {of_column}, i1 %leads")
        # no partial results where there is no column
        lines.do("%outside = xor i1 %inside, true")
        lines.do("%lacks = and i1 %by.column, %outside")
        lines.do("%gathered = select i1 %lacks, i64 0, i64 %parts")
        lines.do("%alone = icmp eq i64 %parts, 1")
        return lines.text

    def emit(self, update: Callable[[Lines, Values], None]) -> list[str]:
        """Return the code; `update` emits the update of a slice's elements."""
        lines = Lines(1, "c", "rows.end")
        own = [each.of_all_lanes(lines) for each in self._folds]
        line = lines.let("mul i64 %slice, %tiles")
        lines.do(f"%tile = add i64 {line}, %tile.first")
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
        lines.do("br i1 %writes, label %write, label %slice.end")
        lines.block("write")
        update(lines, combined)
        lines.do("br label %slice.end")
        lines.block("slice.end")
        # before the next slice needs the shared memory
        lines.do(BARRIER)
        return lines.text

    def _of_block(self, lines: Lines, values: Values) -> Values:
        """Emit the combination of the values of the block's threads, or a column's."""
        ways, combined = [], self._names("block")
        lines.do("br i1 %by.column, label %columns, label %warps")
        for name, emit in (("columns", self._of_column), ("warps", self._of_warps)):
            lines.block(name)
            ways.append((emit(lines, values), lines.label))
            lines.do("br label %block")
        lines.block("block")
        self._phis(lines, combined, ways)
        return combined

    def _of_warps(self, lines: Lines, values: Values) -> Values:
        """Emit the combination of the block's threads, which the first one gets."""
        values = self._of_warp(lines, values, str(WARP // 2))
        warp = lines.let(f"udiv i64 %thread, {WARP}")
        self._put_first(lines, values, "%thread", warp)
        place = lines.let(f"and i64 %thread, {WARPS - 1}")
        return self._of_warp(lines, self._get(lines, place), str(WARPS // 2))

    def _of_column(self, lines: Lines, values: Values) -> Values:
        """Emit the combination of a column's threads, which the first one gets."""
        self._put(lines, values, "%thread")
        lines.do(BARRIER)
        # the others' values are not needed
        end = lines.let("select i1 %top, i64 %ntid.y, i64 1")

        def at(lines: Lines, y: str) -> Values:
            line = lines.let(f"mul i64 {y}, %ntid.x")
            place = lines.let(f"add i64 {line}, %tid.x")
            return self._get(lines, place)

        return self._in_order(lines, values, "1", end, "1", at)

    def _leave(self, lines: Lines, values: Values) -> None:
        """Emit the partial result, and the ticket; go on in the last block only."""
        lines.do("br i1 %writes, label %partial.put, label %ticket.wait")
        lines.block("partial.put")
        slot = self._slot(lines, "%part")
        for fold, parts in zip(self._folds, values, strict=True):
            for number, value in enumerate(parts):
                at = self._partial(lines, slot, fold.word + number)
                word = fold.to_word(lines, value)
                lines.do(f"store volatile i64 {word}, {POINTER} {at}, align 8")
        lines.do(_FENCE)
        lines.do("br label %ticket.wait")
        lines.block("ticket.wait")
        # other threads than the one with the ticket may have left something
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
        lines.do(f"store i32 {flag}, {SHARED} {self._flag}, align 4")
        lines.do("br label %ticket.read")
        lines.block("ticket.read")
        lines.do(BARRIER)
        flag = lines.let(f"load i32, {SHARED} {self._flag}, align 4")
        last = lines.let(f"icmp ne i32 {flag}, 0")
        lines.do(f"br i1 {last}, label %gather, label %slice.end")
        lines.block("gather")
        lines.do(_FENCE)

    def _gather(self, lines: Lines) -> tuple[Values, str]:
        """Emit what each thread combines of all partial results, up to a block."""
        first, step = "%gather.first", "%gather.step"
        starts = [fold.identity() for fold in self._folds]

        def at(lines: Lines, part: str) -> Values:
            slot = self._slot(lines, part)
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

    def _ticket(self, lines: Lines) -> str:
        return lines.let(f"getelementptr i32, {POINTER} %tickets, i64 %tile")

    def _slot(self, lines: Lines, part: str) -> str:
        """Emit the number of a partial result of the tile."""
        parts = lines.let("mul i64 %tile, %parts")
        slot = lines.let(f"add i64 {parts}, {part}")
        slots = lines.let(f"mul i64 {slot}, %width")
        return lines.let(f"add i64 {slots}, %beside")

    def _partial(self, lines: Lines, slot: str, word: int) -> str:
        kind = f"[{self._words} x i64]"
        place = f"{POINTER} %partials, i64 {slot}, i64 {word}"
        return lines.let(f"getelementptr {kind}, {place}")
