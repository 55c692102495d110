# SPDX-License-Identifier: Apache-2.0
"""The function of a GPU kernel: loops around the points that a thread computes.

::

    for each slice, from the grid's z on                       (reductions only)
        for rows of the slice, from the grid's y on
            find the row of each argument, or move it there from the last one
            for each group of vectors of points of the row, from the grid's x on
                load and compute
            for each vector that is left of the block's last group
                compute
            for points that are in no vector the same
        combine what the threads have reduced, and update the elements of the slice

Rows are counted over the outer loops, the first of them fastest. A slice has the rows
that are reduced to the same elements; without reductions there is one. The launch says
how arguments lie: whether there are vectors, and whether elements are reduced to along
the outer loops only; then a thread has one point of each row, which has an element of
its own.

A thread takes rows that follow each other where it has few points of each: where
nothing is reduced, when the grid has a thread for all points of a row, so that there is
no loop along it; and in a column, of which it reads several rows at once.
"""

from collections.abc import Container
from typing import Final

from legate_diffuse.codegen.gpu.combining import Combining
from legate_diffuse.codegen.gpu.exchange import Values
from legate_diffuse.codegen.gpu.fold import folds_of
from legate_diffuse.codegen.gpu.maths import GpuMaths
from legate_diffuse.codegen.gpu.memory import POINTER, Memory, pointer_to
from legate_diffuse.codegen.gpu.operations import GpuOperations
from legate_diffuse.codegen.gpu.parameters import (
    CHUNK,
    LAYOUT,
    PARTIALS,
    POINTERS,
    ROWS,
    SLICES,
    STORES,
    TICKETS,
    Layout,
    count_of,
    emit_word,
    stride_word,
    words_of,
)
from legate_diffuse.codegen.gpu.point_loops import PointLoops
from legate_diffuse.codegen.gpu.points import Points
from legate_diffuse.codegen.gpu.row_loops import RowLoops
from legate_diffuse.codegen.gpu.shape import column_rows, groups_of, lanes_of
from legate_diffuse.kernel.ir import Kernel
from legate_diffuse.llvm.lines import Lines

_REGISTERS: Final = tuple(
    f"{name}.{axis}" for name in ("tid", "ntid") for axis in "xy"
) + tuple(f"{name}.{axis}" for name in ("ctaid", "nctaid") for axis in "xyz")

METADATA: Final = """\
!0 = distinct !{!0, !2}
!1 = distinct !{!1, !2, !{!"llvm.licm.disable"}}
!2 = !{!"llvm.loop.unroll.disable"}"""
"""What marks loops.

Those around points mostly run once, or not at all. What follows the rows of a slice is
computed after them, also where it is the same for all slices: it would take registers
from the points, and so threads from the device.
"""

_LAYOUTS: Final = {
    "vector": Layout.ALIGNED,
    "point": Layout.UNIT,
    "strided": Layout.STRIDED,
}
"""What loops take for granted of the arguments."""


class Function:
    """Emits the function of a kernel, and collects what it declares.

    Attributes:
        declarations: declarations and definitions, by name.
        has_columns: whether threads may have a column each.
    """

    has_columns = True

    def __init__(
        self,
        kernel: Kernel,
        maths: GpuMaths,
        vectors: bool,
        local: Container[int] = (),
    ) -> None:
        """Prepare for a kernel, some arguments of which may be local.

        Without `vectors` it takes its points one at a time.
        """
        self.declarations = {
            name: f"declare i32 @llvm.nvvm.read.ptx.sreg.{name}()"
            for name in _REGISTERS
        } | {"smin": "declare i64 @llvm.smin.i64(i64, i64)"}
        self._kernel = kernel
        self._vectors = vectors
        self._local = local
        self._maths = maths
        self._lanes = lanes_of(kernel) if vectors else 1
        self._groups = groups_of(kernel)
        self._folds = folds_of(kernel, self._lanes)
        repeats = bool(self._folds) or not self.has_columns
        self._point_loops = PointLoops(
            self._lanes, self._groups, vectors, repeats, self._computed
        )
        # rows that a column's thread reads at once
        self._column_rows = column_rows(kernel)
        # which different launches may reduce to
        self._several = len(self._folds) > 1
        reduced = {fold.argument for fold in self._folds}
        moving = [n for n in range(count_of(kernel)) if n not in reduced]
        self._row_loops = RowLoops(kernel, moving, self._kind, self._divided)

    def emit(self, name: str) -> str:
        """Return the text of the function."""
        words = words_of(self._kernel)
        text = [
            f"define ptx_kernel void @{name}"
            f"(ptr byval([{words} x i64]) align 16 %parameter) #1 {{",
            "entry:",
            *self._entry(),
        ]
        rows = self._row_loops
        if not self._folds:
            text += [
                "  br label %chunk.test",
                *rows.chunks("entry", self._point_loops.row()),
                "rows.end:",
            ]
        else:
            combining = Combining(self._folds, name)
            self.declarations |= combining.declarations
            text += [
                *(line for fold in self._folds for line in fold.accumulators()),
                "  br label %slices.test",
                "slices.test:",
                "  %slice = phi i64 [ %ctaid.z, %entry ], [ %slice.next, %slice.end ]",
                "  %slice.more = icmp ult i64 %slice, %slices",
                "  br i1 %slice.more, label %slice.start, label %exit",
                "slice.start:",
                "  %slice.first = mul i64 %slice, %rows",
                *(line for fold in self._folds for line in fold.clear()),
                "  br i1 %by.column, label %chunk.test, label %rows.test",
                *rows.chunks("slice.start", self._columns(), ".0", "%column.rows"),
                *rows.one_by_one(
                    *("slice.start", "%first.y", "%slice.first", "%step.y"),
                    self._point_loops.row(),
                ),
                "rows.end:",
                *combining.roles(),
                *combining.emit(self._update),
                "  %slice.next = add i64 %slice, %nctaid.z",
                "  br label %slices.test, !llvm.loop !1",
                "exit:",
            ]
        return "\n".join([*text, "  ret void", "}"])

    def _entry(self) -> list[str]:
        """Return where the thread is in the block and the block in the grid."""
        lines = Lines(1, "e", "entry")
        for name in _REGISTERS:
            half = lines.let(f"call i32 @llvm.nvvm.read.ptx.sreg.{name}()")
            lines.do(f"%{name} = zext i32 {half} to i64")
        for axis in "xy":
            before = lines.let(f"mul i64 %ctaid.{axis}, %ntid.{axis}")
            lines.do(f"%first.{axis} = add i64 {before}, %tid.{axis}")
            lines.do(f"%step.{axis} = mul i64 %nctaid.{axis}, %ntid.{axis}")
        words = {"extent": 0, "rows": ROWS}
        if self._folds:
            words |= {"slices": SLICES}
        if self._several:
            words |= {"stores": STORES}
        for name, word in words.items():
            name_word(lines, name, "i64", word)
        for name, word in {"partials": PARTIALS, "tickets": TICKETS}.items():
            if self._folds:
                name_word(lines, name, POINTER, word)
        layout = emit_word(lines, LAYOUT)
        lines.do(f"%by.column = icmp eq i64 {layout}, {Layout.COLUMNS.value}")
        begin = lines.let("mul i64 %ctaid.x, %ntid.x")
        begin = lines.let(f"mul i64 {begin}, {self._groups}")
        lines.do(f"%group.first = add i64 {begin}, %tid.x")
        lines.do("%group.apart = add i64 %ntid.x, 0")
        lines.do(f"%group.stride = mul i64 %nctaid.x, {self._groups}")
        name_word(lines, "chunk", "i64", CHUNK)
        lines.do("%chunk.begin = mul i64 %first.y, %chunk")
        lines.do("%chunk.stride = mul i64 %step.y, %chunk")
        self._find_vectors(lines)
        for number in range(count_of(self._kernel)):
            kind = self._kind(number)
            name_word(lines, f"base{number}", kind, POINTERS + number)
        if not self._folds:
            lines.do("%slice.first = add i64 0, 0")
        return lines.text

    def _find_vectors(self, lines: Lines) -> None:
        """Emit what the layout says, and how many points of a row are in vectors."""
        layout = emit_word(lines, LAYOUT)
        lines.do(f"%in.steps = icmp ugt i64 {layout}, {Layout.UNIT.value}")
        if not self._vectors:
            return
        lines.do(f"%in.vectors = icmp eq i64 {layout}, {Layout.ALIGNED.value}")
        whole = lines.let(f"and i64 %extent, {-self._lanes}")
        lines.do(f"%whole = select i1 %in.vectors, i64 {whole}, i64 0")

    def _columns(self) -> list[str]:
        """Return what takes the points of a column: of several rows, or of one."""
        several = self._column_rows
        text = [
            "row.start.0:",
            "  %column.there = icmp slt i64 %first.x, %extent",
            f"  %column.several = icmp sge i32 %line.left, {several}",
            f"  %column.rows = select i1 %column.several, i32 {several}, i32 1",
            "  br i1 %column.there, label %column.test, label %row.done.0",
            "column.test:",
            "  br i1 %column.several, label %columns.body, label %column.body",
        ]
        for name, count in (("columns", several), ("column", 1)):
            lines = Lines(1, f"{name}.v", f"{name}.body")
            loaded = []
            for number in range(count):
                if number:
                    behind = self._row_loops.moved(".0", f".{number}", f"{number}")
                    lines.text += behind
                memory = Memory(self._kernel, Layout.STRIDED, self._local, f".{number}")
                points = Points(self._kernel, memory, lines, self._maths, "%first.x")
                loaded.append(points)
            for number, points in enumerate(loaded):
                self._compute(lines, points, f"{name}.{number}")
            text += [f"{name}.body:", *lines.text, "  br label %row.done.0"]
        return text

    def _computed(self, lanes: int, x: str, groups: int) -> list[str]:
        """Return the body of the kernel at the points from `x` on, and groups of them.

        All of them are loaded before the first is computed.
        """
        stem = x.partition(".")[0]
        lines = Lines(lanes, f"{x}.v", f"{x}.body")
        memory = Memory(self._kernel, _LAYOUTS[stem], self._local)
        places = [f"%{x}"]
        for _ in range(1, groups):
            one = Lines(1, f"{x}.g{len(places)}.", f"{x}.body")
            places.append(one.let(f"add i64 {places[-1]}, %{stem}.apart"))
            lines.text.extend(one.text)
        loaded = [
            Points(self._kernel, memory, lines, self._maths, place) for place in places
        ]
        for number, points in enumerate(loaded):
            self._compute(lines, points, f"{x}.{number}")
        return lines.text

    def _compute(self, lines: Lines, points: Points, name: str) -> None:
        """Emit what is done with points that were loaded."""
        points.compute()
        for fold in self._folds:
            if fold.multiplies_complex:
                one = GpuOperations(self._maths, 1, fast_math=False)
                one.complex_function("complex_mul", fold.dtype)
                self.declarations |= one.declarations
            fold.accumulate(lines, points.reduced[fold.argument])
        if self._several:
            lines.do(f"%{name}.stores = icmp ne i64 %stores, 0")
            lines.do(f"br i1 %{name}.stores, label %{name}.store, label %{name}.stored")
            lines.block(f"{name}.store")
        points.store()
        if self._several:
            lines.do(f"br label %{name}.stored")
            lines.block(f"{name}.stored")
        self.declarations |= points.operations.declarations

    def _update(self, lines: Lines, values: Values) -> None:
        """Emit the update of the elements of a slice, from block `write` on."""
        reducing = [fold.argument for fold in self._folds]
        lines.text += self._row_loops.find("element", reducing, "%slice.first", "write")
        lines.block("element.start")
        column = lines.let("select i1 %by.column, i64 %first.x, i64 0")
        for fold, parts in zip(self._folds, values, strict=True):
            number = fold.argument
            done = f"element{number}.done"
            if self._several:
                # another launch of the kernel reduces to what is missing in this one
                there = lines.let(f"icmp ne {POINTER} %base{number}, null")
                update = f"element{number}.update"
                lines.do(f"br i1 {there}, label %{update}, label %{done}")
                lines.block(update)
            stride = emit_word(lines, stride_word(self._kernel, number))
            offset = lines.let(f"mul i64 {column}, {stride}")
            moved = f"{POINTER} %element{number}, i64 {offset}"
            fold.update(lines, lines.let(f"getelementptr i8, {moved}"), parts, POINTER)
            if self._several:
                lines.do(f"br label %{done}")
                lines.block(done)

    def _divided(self, name: str) -> list[str]:
        """Return the division of `name.rest` by `name.extent`."""
        return [f"  %{name}.quotient = udiv i64 %{name}.rest, %{name}.extent"]

    def _kind(self, number: int) -> str:
        """Return the LLVM type of a pointer; those of indices are numbers."""
        if number >= len(self._kernel.arguments):
            return "i64"
        return pointer_to(number, self._local)


def name_word(lines: Lines, name: str, kind: str, word: int) -> None:
    """Emit the load of a word, under a name."""
    lines.do(f"%{name}.at = getelementptr i64, ptr %parameter, i64 {word}")
    lines.do(f"%{name} = load {kind}, ptr %{name}.at, align 8")
