# SPDX-License-Identifier: Apache-2.0
"""The loops over the rows of a slice, and where the arguments of a row are."""

from collections.abc import Callable, Sequence

from legate_diffuse.codegen.gpu.parameters import emit_word, stride_word
from legate_diffuse.kernel.ir import Kernel
from legate_diffuse.llvm.lines import Lines


class RowLoops:
    """Emits loops over rows; arguments are at `%row` and their number.

    Args:
        kernel: the kernel.
        moving: the arguments and indices that have a place in each row.
        kind: returns the LLVM type of the pointer to one; those of indices are numbers.
        divided: returns what divides `name.rest` by `name.extent`.
    """

    def __init__(
        self,
        kernel: Kernel,
        moving: Sequence[int],
        kind: Callable[[int], str],
        divided: Callable[[str], list[str]],
    ) -> None:
        self._kernel = kernel
        self._moving = moving
        self._kind = kind
        self._divided = divided

    def one_by_one(
        self, before: str, first: str, number: str, step: str, body: list[str]
    ) -> list[str]:
        """Return a loop that finds each row, by its `number`, after block `before`.

        `%row` counts the rows of a slice. The body goes from block `row.start` to
        `row.done`, and the loop to `rows.end`.
        """
        return [
            "rows.test:",
            f"  %row = phi i64 [ {first}, %{before} ], [ %row.following, %row.done ]",
            "  %rows.more = icmp slt i64 %row, %rows",
            "  br i1 %rows.more, label %rows.start, label %rows.end",
            "rows.start:",
            f"  %row.number = add i64 %row, {number}",
            *self.find("row", self._moving, "%row.number", "rows.start"),
            *body,
            "row.done:",
            f"  %row.following = add i64 %row, {step}",
            "  br label %rows.test, !llvm.loop !1",
        ]

    def chunks(
        self, before: str, body: list[str], suffix: str = "", moved: str = "1"
    ) -> list[str]:
        """Return a loop over rows that follow each other, after block `before`.

        It finds the first row of a chunk, and of each line along the first outer loop,
        and moves the arguments from row to row, by as many as the body has `moved`. Of
        these there are `%line.left` in the line and the chunk. The body goes from block
        `row.start` to `row.done`, and the loop to `rows.end`.
        """
        text = [
            *_chunk_starts(before),
            "line.begin:",
            "  %line.row = phi i64 [ %chunk.first, %chunk.start ], "
            "[ %line.following, %line.end ]",
            "  %line.all = phi i32 [ %chunk.left, %chunk.start ], "
            "[ %line.others, %line.end ]",
            "  %line.number = add i64 %line.row, %slice.first",
            *self.find("line", self._moving, "%line.number", "line.begin"),
            "line.start:",
            "  %line.most = zext i32 %line.all to i64",
            "  %line.count = call i64 @llvm.smin.i64(i64 %line.behind, i64 %line.most)",
            "  %line.rows = trunc i64 %line.count to i32",
            "  br label %line.next",
            "line.next:",
            "  %line.left = phi i32 [ %line.rows, %line.start ], "
            "[ %line.left.next, %line.move ]",
        ]
        for number in self._moving:
            row = f"%row{number}{suffix}"
            text.append(
                f"  {row} = phi {self._kind(number)} "
                f"[ %line{number}, %line.start ], [ {row}.next, %line.move ]"
            )
        return [
            *text,
            "  br label %row.start" if not suffix else f"  br label %row.start{suffix}",
            *body,
            f"row.done{suffix}:",
            f"  %line.left.next = sub i32 %line.left, {moved}",
            "  %line.within = icmp sgt i32 %line.left.next, 0",
            "  br i1 %line.within, label %line.move, label %line.end",
            "line.end:",
            "  %line.following = add i64 %line.row, %line.count",
            "  %line.others = sub i32 %line.all, %line.rows",
            "  %line.again = icmp sgt i32 %line.others, 0",
            "  br i1 %line.again, label %line.begin, label %chunk.end, !llvm.loop !1",
            "line.move:",
            *self.moved(suffix, f"{suffix}.next", moved),
            "  br label %line.next, !llvm.loop !1",
            "chunk.end:",
            "  %chunk.next = add i64 %chunk.first, %chunk.stride",
            "  br label %chunk.test, !llvm.loop !1",
        ]

    def moved(self, suffix: str, name: str, count: str) -> list[str]:
        """Return what moves arguments by `count` rows along the first outer loop."""
        lines = Lines(1, f"row{name}.r", name)
        if count.startswith("%"):
            count = lines.let(f"zext i32 {count} to i64")
        for number in self._moving:
            kind = self._kind(number)
            stride = emit_word(lines, stride_word(self._kernel, number) + 1)
            if count != "1":
                stride = lines.let(f"mul i64 {stride}, {count}")
            row, place = f"%row{number}{suffix}", f"%row{number}{name}"
            lines.do(
                f"{place} = add i64 {row}, {stride}"
                if kind == "i64"
                else f"{place} = getelementptr i8, {kind} {row}, i64 {stride}"
            )
        return lines.text

    def _placed(self, name: str, argument: int) -> list[str]:
        """Return what moves an argument to its place along an outer loop."""
        stem = f"%{name}{argument}"
        word = stride_word(self._kernel, argument)
        return [
            f"  {stem}.at = getelementptr i64, ptr %{name}.at, i64 {word}",
            f"  {stem}.stride = load i64, ptr {stem}.at, align 8",
            f"  {stem}.moved = mul i64 %{name}.place, {stem}.stride",
            f"  {stem}.next = add i64 {stem}, {stem}.moved"
            if argument >= len(self._kernel.arguments)
            else f"  {stem}.next = getelementptr i8, {self._kind(argument)} "
            f"{stem}, i64 {stem}.moved",
        ]

    def find(
        self, name: str, arguments: Sequence[int], number: str, before: str
    ) -> list[str]:
        """Return what finds the place of arguments in a row, after block `before`.

        The row with a number has coordinates along the outer loops; those that are left
        when nothing is left of the number are 0. `name.behind` is how many rows lie
        along the first of these loops from it on. Ends before block `name.start`.
        """
        text = [
            f"  %{name}.beside = getelementptr i64, ptr %parameter, i64 1",
            f"  %{name}.along = load i64, ptr %{name}.beside, align 8",
            f"  br label %{name}.test",
            f"{name}.test:",
            f"  %{name}.loop = phi i64 [ 1, %{before} ], "
            f"[ %{name}.loop.next, %{name}.placed ]",
            f"  %{name}.rest = phi i64 [ {number}, %{before} ], "
            f"[ %{name}.rest.next, %{name}.placed ]",
            f"  %{name}.behind = phi i64 [ %{name}.along, %{before} ], "
            f"[ %{name}.behind.next, %{name}.placed ]",
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
            f"  %{name}.is.first = icmp eq i64 %{name}.loop, 1",
            f"  %{name}.passed = select i1 %{name}.is.first, i64 %{name}.place, i64 0",
            f"  %{name}.behind.next = sub i64 %{name}.behind, %{name}.passed",
        ]
        return [
            *text,
            *(line for each in arguments for line in self._placed(name, each)),
            f"  %{name}.loop.next = add i64 %{name}.loop, 1",
            f"  br label %{name}.test, !llvm.loop !1",
        ]


def _chunk_starts(before: str) -> list[str]:
    """Return the begin of a loop over chunks of rows, after block `before`."""
    return [
        "chunk.test:",
        f"  %chunk.first = phi i64 [ %chunk.begin, %{before} ], "
        "[ %chunk.next, %chunk.end ]",
        "  %chunk.more = icmp slt i64 %chunk.first, %rows",
        "  br i1 %chunk.more, label %chunk.start, label %rows.end",
        "chunk.start:",
        # the native part keeps chunks below 2^31 rows
        "  %chunk.rest = sub i64 %rows, %chunk.first",
        "  %chunk.count = call i64 @llvm.smin.i64(i64 %chunk.rest, i64 %chunk)",
        "  %chunk.left = trunc i64 %chunk.count to i32",
        "  br label %line.begin",
    ]
