# SPDX-License-Identifier: Apache-2.0
"""Kernels that run one after the other on each row of an axis, as one function.

::

    for the block's rows, from the grid's x on
        for each kernel
            compute the points of the row, and what they are reduced to
            wait for the other threads of the block

A block has as many rows side by side as its y; the threads along x share one. Kernels
have other rows each, so some rows have no points in some of them. What only these
kernels use lies in shared memory, where each of the block's rows has a place.
"""

from collections.abc import Callable, Sequence
from typing import Final

from legate_diffuse.codegen.gpu.exchange import BARRIER, WARPS, Exchange, Values
from legate_diffuse.codegen.gpu.fold import Fold
from legate_diffuse.codegen.gpu.function import Function, name_word
from legate_diffuse.codegen.gpu.maths import GpuMaths
from legate_diffuse.codegen.gpu.memory import SHARED
from legate_diffuse.codegen.gpu.parameters import (
    LOOPS,
    POINTERS,
    ROWS,
    SLICES,
    STORES,
    count_of,
    emit_word,
    stride_word,
    words_of,
)
from legate_diffuse.codegen.gpu.shape import WARP, has_row_vectors
from legate_diffuse.kernel.ir import RowProgram
from legate_diffuse.llvm.lines import Lines

HEAD: Final = 2
"""Words of the parameter before those of the kernels: the number of rows."""

MEMORY: Final = "@row_memory"
"""The shared memory of the rows, whose size the launch says."""

_FIRST: Final = SLICES
_END: Final = STORES
"""Words of a kernel's parameter: its rows, on the common axis."""

_REGISTERS: Final = ("tid.x", "tid.y", "ntid.x", "ntid.y", "ctaid.x", "nctaid.x")

_PASSED: Final = "i64 %place, i64 %tid.x, i64 %tid.y, i64 %ntid.x"


def words_of_rows(program: RowProgram) -> int:
    """Return how many words the parameter has."""
    return HEAD + sum(words_of(kernel) for kernel in program.kernels)


class RowFunction:
    """Emits the function, and collects what it declares.

    Attributes:
        declarations: declarations and definitions, by name.
    """

    def __init__(self, program: RowProgram, maths: GpuMaths) -> None:
        """Prepare for kernels."""
        self.declarations: dict[str, str] = {
            "memory": f"{MEMORY} = external addrspace(3) global [0 x i64], align 16",
            "barrier": "declare void @llvm.nvvm.barrier0()",
        }
        self._program = program
        self._maths = maths

    def emit(self, name: str) -> str:
        """Return the text of the function."""
        lines = Lines(1, "b", "body")
        texts = []
        first = HEAD
        for number, kernel in enumerate(self._program.kernels):
            local = {
                argument: place
                for argument, place in enumerate(self._program.local[number])
                if place is not None
            }
            part = _Part(kernel, self._maths, has_row_vectors(kernel), local)
            own = f"part{number}"
            texts.append(part.emit(own))
            self.declarations |= part.declarations
            place = lines.let(f"getelementptr i64, ptr %parameter, i64 {first}")
            lines.do(f"call void @{own}(ptr {place}, {_PASSED})")
            lines.do(BARRIER)
            first += words_of(kernel)
        entry = Lines(1, "e", "entry")
        for each in _REGISTERS:
            half = entry.let(f"call i32 @llvm.nvvm.read.ptx.sreg.{each}()")
            entry.do(f"%{each} = zext i32 {half} to i64")
            self.declarations[each] = f"declare i32 @llvm.nvvm.read.ptx.sreg.{each}()"
        text = [
            *texts,
            f"define ptx_kernel void @{name}"
            f"(ptr byval([{first} x i64]) align 16 %parameter) #1 {{",
            "entry:",
            *entry.text,
            "  %rows = load i64, ptr %parameter, align 16",
            "  %first = mul i64 %ctaid.x, %ntid.y",
            "  %step = mul i64 %nctaid.x, %ntid.y",
            "  br label %test",
            "test:",
            "  %group = phi i64 [ %first, %entry ], [ %next, %body ]",
            "  %more = icmp ult i64 %group, %rows",
            "  br i1 %more, label %body, label %exit",
            "body:",
            "  %place = add i64 %group, %tid.y",
            *lines.text,
            "  %next = add i64 %group, %step",
            "  br label %test, !llvm.loop !0",
            "exit:",
            "  ret void",
            "}",
        ]
        return "\n".join(text)


class _Part(Function):
    """One kernel, at one row, which has one element of each reduction."""

    has_columns = False

    def emit(self, name: str) -> str:
        """Return the text of the function that runs the kernel at a row."""
        combined: list[str] = []
        if self._folds:
            combining = _RowCombining(self._folds, name)
            self.declarations |= combining.declarations
            combined = [*combining.emit(self._update), "row.reduced:"]
        return "\n".join(
            [
                f"define internal void @{name}(ptr %parameter, {_PASSED}) #2 {{",
                "entry:",
                *self._entry(),
                *(line for fold in self._folds for line in fold.accumulators()),
                *(line for fold in self._folds for line in fold.clear()),
                "  br label %rows.test",
                # the lines of a row, of which there is mostly one
                *self._row_loops.one_by_one(
                    "entry", "0", "0", "1", self._point_loops.row()
                ),
                "rows.end:",
                *combined,
                "  ret void",
                "}",
            ]
        )

    def _entry(self) -> list[str]:
        """Return where the row is, and nothing to do for one that there is not."""
        lines = Lines(1, "e", "entry")
        lines.do("%group.first = add i64 %tid.x, 0")
        lines.do("%group.apart = add i64 %ntid.x, 0")
        lines.do(f"%group.stride = add i64 {self._groups}, 0")
        lines.do("%first.x = add i64 %tid.x, 0")
        lines.do("%step.x = add i64 %ntid.x, 0")
        lines.do("%stores = add i64 0, 1")
        begin, end = (emit_word(lines, word) for word in (_FIRST, _END))
        begun = lines.let(f"icmp sge i64 %place, {begin}")
        left = lines.let(f"icmp slt i64 %place, {end}")
        lines.do(f"%there = and i1 {begun}, {left}")
        lines.do(f"%row.of.nest = sub i64 %place, {begin}")
        for name, word in {"extent": 0, "rows": ROWS}.items():
            count = emit_word(lines, word)
            lines.do(f"%{name} = select i1 %there, i64 {count}, i64 0")
        self._find_vectors(lines)
        for number in range(count_of(self._kernel)):
            stride = emit_word(lines, stride_word(self._kernel, number) + LOOPS - 1)
            kind, base = self._kind(number), f"%base{number}"
            row = "%tid.y" if kind == SHARED else "%row.of.nest"
            moved = lines.let(f"mul i64 {row}, {stride}")
            if kind in ("i64", SHARED):
                first = emit_word(lines, POINTERS + number)
                moved = lines.let(f"add i64 {first}, {moved}")
            if kind == "i64":
                lines.do(f"{base} = add i64 {moved}, 0")
                continue
            begin = MEMORY
            if kind != SHARED:
                name_word(lines, f"origin{number}", kind, POINTERS + number)
                begin = f"%origin{number}"
            lines.do(f"{base} = getelementptr i8, {kind} {begin}, i64 {moved}")
        return lines.text

    def _divided(self, name: str) -> list[str]:
        """Return a division of numbers below those of the points of a row."""
        numbers = "rest", "extent"
        return [
            *(f"  %{name}.{n}.32 = trunc i64 %{name}.{n} to i32" for n in numbers),
            f"  %{name}.next.32 = udiv i32 %{name}.rest.32, %{name}.extent.32",
            f"  %{name}.quotient = zext i32 %{name}.next.32 to i64",
        ]

    def _update(self, lines: Lines, values: Values) -> None:
        for fold, parts in zip(self._folds, values, strict=True):
            number = fold.argument
            fold.update(lines, f"%base{number}", parts, self._kind(number))


class _RowCombining(Exchange):
    """Emits what follows the points of a row, from block `rows.end` on."""

    def __init__(self, folds: Sequence[Fold], name: str) -> None:
        """Prepare for the function `name`."""
        super().__init__(folds, name, WARPS)

    def emit(self, update: Callable[[Lines, Values], None]) -> list[str]:
        """Return the code; `update` emits the update of the row's elements."""
        lines = Lines(1, "c", "rows.end")
        line = lines.let("mul i64 %tid.y, %ntid.x")
        thread = lines.let(f"add i64 {line}, %tid.x")
        lines.do("%leads = icmp eq i64 %tid.x, 0")
        warp = lines.let(f"udiv i64 {thread}, {WARP}")
        values = [each.of_all_lanes(lines) for each in self._folds]
        few = lines.let(f"icmp ult i64 %ntid.x, {WARP}")
        beside = lines.let(f"select i1 {few}, i64 %ntid.x, i64 {WARP}")
        half = lines.let(f"lshr i64 {beside}, 1")
        distance = lines.let(f"trunc i64 {half} to i32")
        values = self._of_warp(lines, values, distance)
        self._put_first(lines, values, thread, warp)
        warps = lines.let(f"udiv i64 %ntid.x, {WARP}")
        end = lines.let(f"select i1 %leads, i64 {warps}, i64 0")

        def at(lines: Lines, place: str) -> Values:
            return self._get(lines, lines.let(f"add i64 {warp}, {place}"))

        values = self._in_order(lines, values, "1", end, "1", at)
        lines.do("%writes = and i1 %leads, %there")
        lines.do("br i1 %writes, label %write, label %row.reduced")
        lines.block("write")
        update(lines, values)
        lines.do("br label %row.reduced")
        return lines.text
