# SPDX-License-Identifier: Apache-2.0
"""The function of a GPU kernel: loops around the points that a thread computes.

::

    for each slice, from the grid's z on                       (reductions only)
        for each row of the slice, from the grid's y on
            find the row of each argument
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
from legate_diffuse.codegen.gpu.points import Points
from legate_diffuse.codegen.gpu.shape import groups_of, lanes_of
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


class Function:
    """Emits the function of a kernel, and collects what it declares.

    Attributes:
        declarations: declarations and definitions, by name.
    """

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
        }
        self._kernel = kernel
        self._vectors = vectors
        self._local = local
        self._maths = maths
        self._lanes = lanes_of(kernel) if vectors else 1
        self._groups = groups_of(kernel)
        self._folds = folds_of(kernel, self._lanes)
        # which different launches may reduce to
        self._several = len(self._folds) > 1
        reduced = {fold.argument for fold in self._folds}
        self._moving = [n for n in range(count_of(kernel)) if n not in reduced]

    def emit(self, name: str) -> str:
        """Return the text of the function."""
        words = words_of(self._kernel)
        found = self._find("row", self._moving, "%row.number", "row.found")
        body = [*found, *self._row()]
        text = [
            f"define ptx_kernel void @{name}"
            f"(ptr byval([{words} x i64]) align 16 %parameter) #1 {{",
            "entry:",
            *self._entry(),
        ]
        if not self._folds:
            text += ["  br label %rows.test", *rows_of("entry", body), "rows.end:"]
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
                "  br label %rows.test",
                *rows_of("slice.start", body),
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
        # a column has one thread; else the points of a block lie beside each other
        for name, of_column, of_group in (
            ("count", "1", str(self._groups)),
            ("apart", "%step.x", "%ntid.x"),
        ):
            chosen = f"i1 %by.column, i64 {of_column}, i64 {of_group}"
            lines.do(f"%group.{name} = select {chosen}")
        begin = lines.let("mul i64 %ctaid.x, %ntid.x")
        begin = lines.let(f"mul i64 {begin}, %group.count")
        lines.do(f"%group.first = add i64 {begin}, %tid.x")
        lines.do("%group.stride = mul i64 %nctaid.x, %group.count")
        self._find_vectors(lines)
        for number in range(count_of(self._kernel)):
            kind = self._kind(number)
            name_word(lines, f"base{number}", kind, POINTERS + number)
        if not self._folds:
            lines.do("%slice.first = add i64 0, 0")
        return lines.text

    def _find_vectors(self, lines: Lines) -> None:
        """Emit whether there are vectors, and how many points of a row are in them."""
        if not self._vectors:
            return
        layout = emit_word(lines, LAYOUT)
        lines.do(f"%in.vectors = icmp eq i64 {layout}, {Layout.ALIGNED.value}")
        whole = lines.let(f"and i64 %extent, {-self._lanes}")
        lines.do(f"%whole = select i1 %in.vectors, i64 {whole}, i64 0")

    def _row(self) -> list[str]:
        """Return the loops over the points of a row, from block `row.start` on."""
        text, whole, before = ["row.start:"], "0", "row.start"
        if self._vectors:
            whole = "%whole"
            text += [
                f"  %vector.first = mul i64 %group.first, {self._lanes}",
                f"  %vector.apart = mul i64 %group.apart, {self._lanes}",
                *self._loops("vector", self._lanes, before, "%whole", "single"),
                "single:",
            ]
            before = "single"
        return [
            *text,
            f"  %point.first = add i64 %group.first, {whole}",
            "  %point.apart = add i64 %group.apart, 0",
            *self._loops("point", 1, before, "%extent", "row.end"),
        ]

    def _loops(
        self, name: str, lanes: int, before: str, end: str, after: str
    ) -> list[str]:
        """Return a loop over groups of vectors, and one over what is left of them."""
        text, first = [], f"%{name}.first"
        group = f"{name}.group"
        step = f"  %{name}.step = mul i64 %{name}.apart, %group.stride"
        if self._groups > 1:
            reach = self._groups - 1
            text = [
                f"  %{name}.reach = mul i64 %{name}.apart, {reach}",
                f"  %{group}.step = mul i64 %{name}.apart, %group.stride",
                *self._loop(
                    group, lanes, (first, before), f"{name}.left", self._groups, end
                ),
                f"{name}.left:",
            ]
            first, before = f"%{group}", f"{name}.left"
            # to the end of the block's last group
            step = f"  %{name}.step = add i64 %{name}.apart, 0"
        return [
            *text,
            step,
            *self._loop(name, lanes, (first, before), after, 1, end),
        ]

    def _loop(
        self,
        name: str,
        lanes: int,
        start: tuple[str, str],
        after: str,
        groups: int,
        end: str,
    ) -> list[str]:
        """Return a loop over so many vectors at a time.

        It starts at a point, after a block.
        """
        stem = name.partition(".")[0]
        first, before = start
        last = f"%{name}"
        text = [
            f"  br label %{name}.test",
            f"{name}.test:",
            f"  %{name} = phi i64 [ {first}, %{before} ], "
            f"[ %{name}.next, %{name}.end ]",
        ]
        if groups > 1:
            last = f"%{name}.last"
            text.append(f"  {last} = add i64 %{name}, %{stem}.reach")
        return [
            *text,
            f"  %{name}.more = icmp slt i64 {last}, {end}",
            f"  br i1 %{name}.more, label %{name}.body, label %{after}",
            f"{name}.body:",
            *self._computed(lanes, name, groups),
            f"  br label %{name}.end",
            f"{name}.end:",
            f"  %{name}.next = add i64 %{name}, %{name}.step",
            f"  br label %{name}.test",
        ]

    def _computed(self, lanes: int, x: str, groups: int) -> list[str]:
        """Return the body of the kernel at the points from `x` on, and groups of them.

        All of them are loaded before the first is computed.
        """
        stem = x.partition(".")[0]
        lines = Lines(lanes, f"{x}.v", f"{x}.body")
        memory = Memory(self._kernel, stem == "vector", self._local)
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
        lines.text += self._find("element", reducing, "%slice.first", "write")
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
            fold.update(lines, lines.let(f"getelementptr i8, {moved}"), parts)
            if self._several:
                lines.do(f"br label %{done}")
                lines.block(done)

    def _find(
        self, name: str, arguments: list[int], number: str, before: str
    ) -> list[str]:
        """Return what finds the place of arguments in a row, after block `before`.

        The row with a number has coordinates along the outer loops; those that are left
        when nothing is left of the number are 0. Ends before block `name.start`.
        """
        text = [
            f"  br label %{name}.test",
            f"{name}.test:",
            f"  %{name}.loop = phi i64 [ 1, %{before} ], "
            f"[ %{name}.loop.next, %{name}.placed ]",
            f"  %{name}.rest = phi i64 [ {number}, %{before} ], "
            f"[ %{name}.rest.next, %{name}.placed ]",
        ]
        for argument in arguments:
            kind = self._kind(argument)
            text.append(
                f"  %{name}{argument} = phi {kind} [ %base{argument}, %{before} ], "
                f"[ %{name}{argument}.next, %{name}.placed ]"
            )
        text += [
            f"  %{name}.more = icmp ne i64 %{name}.rest, 0",
            f"  br i1 %{name}.more, label %{name}.step, label %{name}.start",
            f"{name}.step:",
            f"  %{name}.at = getelementptr i64, ptr %parameter, i64 %{name}.loop",
            f"  %{name}.extent = load i64, ptr %{name}.at, align 8",
            # most rows are in the first loop that there is; a division takes long
            f"  %{name}.here = icmp ult i64 %{name}.rest, %{name}.extent",
            f"  br i1 %{name}.here, label %{name}.placed, label %{name}.divide",
            f"{name}.divide:",
            *self._divided(name),
            f"  br label %{name}.placed",
            f"{name}.placed:",
            f"  %{name}.rest.next = phi i64 [ 0, %{name}.step ], "
            f"[ %{name}.quotient, %{name}.divide ]",
            f"  %{name}.whole = mul i64 %{name}.rest.next, %{name}.extent",
            f"  %{name}.place = sub i64 %{name}.rest, %{name}.whole",
        ]
        for argument in arguments:
            stem = f"%{name}{argument}"
            word = stride_word(self._kernel, argument)
            text += [
                f"  {stem}.at = getelementptr i64, ptr %{name}.at, i64 {word}",
                f"  {stem}.stride = load i64, ptr {stem}.at, align 8",
                f"  {stem}.moved = mul i64 %{name}.place, {stem}.stride",
                f"  {stem}.next = add i64 {stem}, {stem}.moved"
                if argument >= len(self._kernel.arguments)
                else f"  {stem}.next = getelementptr i8, {self._kind(argument)} "
                f"{stem}, i64 {stem}.moved",
            ]
        return [
            *text,
            f"  %{name}.loop.next = add i64 %{name}.loop, 1",
            f"  br label %{name}.test, !llvm.loop !0",
        ]

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


def rows_of(before: str, body: list[str]) -> list[str]:
    """Return the loop over the rows of a slice, after block `before`."""
    return [
        "rows.test:",
        f"  %row = phi i64 [ %first.y, %{before} ], [ %row.next, %row.end ]",
        "  %rows.more = icmp slt i64 %row, %rows",
        "  br i1 %rows.more, label %row.found, label %rows.end",
        "row.found:",
        "  %row.number = add i64 %row, %slice.first",
        *body,
        "row.end:",
        "  %row.next = add i64 %row, %step.y",
        "  br label %rows.test, !llvm.loop !0",
    ]
