# SPDX-License-Identifier: Apache-2.0
"""Sums over rows of elements, of which a kernel's argument tells where they lie.

A function sums as many rows as a vector has lanes, and each in order, as a person would
write it. So the bits are those of a loop in C, with contraction or without. Most rows
are short, so a loop over one of them ends at once: the compiler must neither unroll nor
vectorise it. If rows follow one another and have one length, as most rows of a mesh,
one loop runs over four of them, and what rows far ahead need is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from legate_diffuse.codegen.memory import Parts
from legate_diffuse.codegen.operations import Operations
from legate_diffuse.codegen.target import Target
from legate_diffuse.kernel import operators
from legate_diffuse.kernel.dtypes import COMPONENT, ITEMSIZE
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import LLVM_TYPE

METADATA: Final = (
    '!10 = distinct !{!10, !{!"llvm.loop.unroll.disable"}, '
    '!{!"llvm.loop.vectorize.enable", i1 false}}'
)

ELEMENTS_OF_ROW: Final = (
    "  %first.at = getelementptr [2 x i64], ptr %rows, i64 %r",
    "  %first = load i64, ptr %first.at, align 8",
    "  %last.at = getelementptr i64, ptr %first.at, i64 1",
    "  %last = load i64, ptr %last.at, align 8",
    "  %some = icmp sle i64 %first, %last",
    "  br i1 %some, label %element, label %done",
    "element:",
    "  %k = phi i64 [ %first, %row ], [ %k.next, %element ]",
)
"""How the loop over the elements of row `%r` begins, from block `row` on."""

_AT_ONCE: Final = 4

_AHEAD: Final = 4096
"""Bytes. Of 2, 4, 6, 8, 10, 16 and 32 KiB this was the best on Zen 5.

There a product with a matrix in memory takes 0.8 of the time that it takes without, on
Granite Rapids 0.65, with 2 to 16 KiB alike.
"""

_PREFETCH: Final = "@llvm.prefetch.p0"
_CACHE_LINE: Final = 64

# Emits the sums after the element at a place, from those before it.
Step = Callable[[Lines, str, tuple[str, ...]], list[str]]


def define_row_sum(
    name: str, operator: str, dtype: str, columns: str, on: Operations, target: Target
) -> None:
    """Define the function of an operator, with columns of a type."""
    one = on.over_single_elements()
    contracted = operator == operators.CONTRACTED_ROW_SUM
    locality = 0 if target.prefetches_nontemporal else 3
    on.declarations[name] = row_sum_function(
        name, dtype, columns, one, on.lanes, contracted=contracted, locality=locality
    )
    on.declarations.update(one.declarations)
    on.declarations[_PREFETCH] = f"declare void {_PREFETCH}(ptr, i32, i32, i32)"


def call_on_rows(
    lines: Lines, name: str, dtype: str, rows: int, passed: Sequence[str]
) -> Parts:
    """Emit the call of a function for the rows of a vector of points.

    It is given the rows that are left, of an argument, their number, and what is
    ``passed``. It returns an array of vectors: real parts, and imaginary parts.
    """
    count, lanes = 1 + (dtype in COMPONENT), lines.lanes
    vectors = f"[{count} x {lines.vector(LLVM_TYPE[COMPONENT.get(dtype, dtype)])}]"
    point = lines.let("add i64 %i, %done")
    first = lines.let(f"getelementptr [2 x i64], ptr %a{rows}, i64 {point}")
    left = lines.let("sub i64 %left, %i")
    few = lines.let(f"icmp ult i64 {left}, {lanes}")
    some = lines.let(f"select i1 {few}, i64 {left}, i64 {lanes}")
    given = ", ".join((f"ptr {first}", f"i64 {some}", *passed))
    found = lines.let(f"call {vectors} {name}({given})")
    return tuple(
        lines.let(f"extractvalue {vectors} {found}, {n}") for n in range(count)
    )


def row_sum_function(
    name: str,
    dtype: str,
    columns: str,
    one: Operations,
    lanes: int,
    *,
    contracted: bool,
    locality: int,
) -> str:
    """Return the text of a function that sums rows of elements.

    Its parameters are pointers to the rows, their number, at most ``lanes``, and
    pointers to columns, values and x. It returns vectors of sums: real parts, and
    imaginary parts. ``one`` emits operators over single elements. With ``contracted``
    real products are not rounded before they are added; of complex products compilers
    need the rounded parts as well, to ask whether they are NaN. ``locality`` is what
    LLVM's prefetch is told of elements, which are used once.
    """
    part = COMPONENT.get(dtype, dtype)
    kind, size = LLVM_TYPE[part], ITEMSIZE[part]
    count = 1 + (dtype in COMPONENT)
    step = step_of(dtype, columns, one, contracted)
    vectors = f"[{count} x <{lanes} x {kind}>]"
    alike = lanes % _AT_ONCE == 0 and count == 1
    return "\n".join(
        [
            f"define internal {vectors} {name}(ptr noalias %rows, i64 %count, "
            "ptr noalias %columns, ptr noalias %values, ptr noalias %x) #0 {",
            "entry:",
            f"  %results = alloca {vectors}, align 64",
            *(
                _alike(dtype, columns, lanes, step, locality)
                if alike
                else ["  br label %each"]
            ),
            "each:",
            f"  store {vectors} zeroinitializer, ptr %results, align 64",
            "  br label %row",
            *_one_by_one(kind, size, count, lanes, step),
            f"  %found = load {vectors}, ptr %results, align 64",
            f"  ret {vectors} %found",
            "}",
        ]
    )


def step_of(dtype: str, columns: str, one: Operations, contracted: bool) -> Step:
    """Return what emits a step of a loop over the elements of a row."""
    part = COMPONENT.get(dtype, dtype)
    kind, size = LLVM_TYPE[part], ITEMSIZE[part]
    count = 1 + (dtype in COMPONENT)
    index = LLVM_TYPE[columns]

    def load(lines: Lines, pointer: str, place: str) -> tuple[str, ...]:
        parts = []
        for n in range(count):
            of_both = f"[{count} x {kind}], ptr {pointer}, i64 {place}, i64 {n}"
            at = lines.let(f"getelementptr inbounds {of_both}")
            parts.append(lines.let(f"load <1 x {kind}>, ptr {at}, align {size}"))
        return tuple(parts)

    def step(lines: Lines, place: str, sums: tuple[str, ...]) -> list[str]:
        values = load(lines, "%values", place)
        at = lines.let(f"getelementptr inbounds {index}, ptr %columns, i64 {place}")
        column = lines.let(f"load {index}, ptr {at}, align {ITEMSIZE[columns]}")
        if index != "i64":
            # unsigned: an index is never negative
            column = lines.let(f"zext {index} {column} to i64")
        operands = (values, load(lines, "%x", column))
        if contracted and count == 1:
            return list(one.emit(lines, "fma", part, (part,) * 3, (*operands, sums)))
        operator = "complex_mul" if count > 1 else "mul"
        products = one.emit(lines, operator, dtype, (dtype, dtype), operands)
        return [
            one.emit(lines, "add", part, (part, part), ((total,), (each,)))[0]
            for total, each in zip(sums, products, strict=True)
        ]

    return step


def _one_by_one(kind: str, size: int, count: int, lanes: int, step: Step) -> list[str]:
    """Return the loop over rows, of any length, from block `each`."""
    lines = Lines(1, "t")
    sums = step(lines, "%k", tuple(f"%sum{n}" for n in range(count)))
    vector = f"<1 x {kind}>"
    results = []
    for n in range(count):
        results += [
            f"  %place{n} = add i64 %r, {n * lanes}",
            f"  %at{n} = getelementptr inbounds {kind}, ptr %results, i64 %place{n}",
            f"  store {vector} %total{n}, ptr %at{n}, align {size}",
        ]
    return [
        "row:",
        "  %r = phi i64 [ 0, %each ], [ %next, %done ]",
        *ELEMENTS_OF_ROW,
        *(
            f"  %sum{n} = phi {vector} [ zeroinitializer, %row ], [ {each}, %element ]"
            for n, each in enumerate(sums)
        ),
        *lines.text,
        "  %k.next = add nsw i64 %k, 1",
        "  %more = icmp slt i64 %k, %last",
        "  br i1 %more, label %element, label %done, !llvm.loop !10",
        "done:",
        *(
            f"  %total{n} = phi {vector} [ zeroinitializer, %row ], "
            f"[ {each}, %element ]"
            for n, each in enumerate(sums)
        ),
        *results,
        "  %next = add nuw nsw i64 %r, 1",
        "  %again = icmp ult i64 %next, %count",
        "  br i1 %again, label %row, label %exit",
        "exit:",
    ]


def _alike(
    dtype: str, columns: str, lanes: int, step: Step, locality: int
) -> list[str]:
    """Return the code for rows that follow one another and have one length.

    It returns their sums, and goes to block `each` if the rows are others.
    """
    kind, text = LLVM_TYPE[dtype], _comparison(lanes)
    vectors = f"[1 x <{lanes} x {kind}>]"
    results: list[str] = []
    for group in range(lanes // _AT_ONCE):
        lines = Lines(1, f"g{group}.")
        rows = range(group * _AT_ONCE, (group + 1) * _AT_ONCE)
        loop, before, after = f"loop{group}", f"before{group}", f"before{group + 1}"
        sums = []
        for row in rows:
            place = lines.let(f"add nsw i64 %k{group}, %skip{row}")
            sums += step(lines, place, (f"%sum.of{row}",))
        if group == 0:
            read = {"%values": dtype, "%columns": columns}
            _prefetch(lines, lanes, read, locality)
        text += [
            f"{before}:",
            *(f"  %skip{row} = mul nsw i64 %length, {row}" for row in rows),
            f"  br label %{loop}",
            f"{loop}:",
            f"  %k{group} = phi i64 [ %start, %{before} ], [ %k{group}.next, %{loop} ]",
            *(
                f"  %sum.of{row} = phi <1 x {kind}> [ zeroinitializer, %{before} ], "
                f"[ {each}, %{loop} ]"
                for row, each in zip(rows, sums, strict=True)
            ),
            *lines.text,
            f"  %k{group}.next = add nsw i64 %k{group}, 1",
            f"  %more{group} = icmp sle i64 %k{group}.next, %end",
            f"  br i1 %more{group}, label %{loop}, label %{after}, !llvm.loop !10",
        ]
        results += sums
    text.append(f"{after}:")
    vector = f"<{lanes} x {kind}>"
    found = "poison"
    for row, total in enumerate(results):
        text += [
            f"  %element{row} = extractelement <1 x {kind}> {total}, i64 0",
            f"  %vector{row} = insertelement {vector} {found}, {kind} %element{row}, "
            f"i64 {row}",
        ]
        found = f"%vector{row}"
    return [
        *text,
        f"  %vectors = insertvalue {vectors} poison, {vector} {found}, 0",
        f"  ret {vectors} %vectors",
    ]


def _prefetch(lines: Lines, lanes: int, arrays: dict[str, str], locality: int) -> None:
    """Ask for elements of arrays far ahead, in the loop over those of one row.

    Each time it does so for as many as there are rows.
    """
    past = lines.let("sub nsw i64 %k0, %start")
    skipped = lines.let(f"mul nsw i64 {past}, {lanes}")
    place = lines.let(f"add nsw i64 {skipped}, %start")
    for pointer, dtype in arrays.items():
        at = lines.let(f"getelementptr {LLVM_TYPE[dtype]}, ptr {pointer}, i64 {place}")
        for line in range(0, lanes * ITEMSIZE[dtype], _CACHE_LINE):
            ahead = lines.let(f"getelementptr i8, ptr {at}, i64 {_AHEAD + line}")
            lines.do(
                f"call void {_PREFETCH}(ptr {ahead}, i32 0, i32 {locality}, i32 1)"
            )


def _comparison(lanes: int) -> list[str]:
    """Return the code that goes on to block `before0` if all rows are alike.

    They are if from each row to the next one both ends move by the first one's length.
    """
    numbers, flags = f"<{lanes} x i64>", f"<{lanes} x i1>"
    text = [
        f"  %full = icmp eq i64 %count, {lanes}",
        "  br i1 %full, label %compare, label %each",
        "compare:",
        "  %start = load i64, ptr %rows, align 8",
        "  %end.at = getelementptr i64, ptr %rows, i64 1",
        "  %end = load i64, ptr %end.at, align 8",
        "  %less = sub i64 %end, %start",
        "  %length = add i64 %less, 1",
        f"  %length.0 = insertelement {numbers} poison, i64 %length, i64 0",
        f"  %lengths = shufflevector {numbers} %length.0, {numbers} poison, "
        f"<{lanes} x i32> zeroinitializer",
    ]
    # a vector has the ends of half of the rows
    for n, row in enumerate((0, lanes // 2 - 1)):
        text += [
            f"  %row.at{n} = getelementptr [2 x i64], ptr %rows, i64 {row}",
            f"  %following.at{n} = getelementptr [2 x i64], ptr %rows, i64 {row + 1}",
            f"  %row{n} = load {numbers}, ptr %row.at{n}, align 8",
            f"  %following{n} = load {numbers}, ptr %following.at{n}, align 8",
            f"  %apart{n} = sub {numbers} %following{n}, %row{n}",
            f"  %same{n} = icmp eq {numbers} %apart{n}, %lengths",
        ]
    return [
        *text,
        f"  %same = and {flags} %same0, %same1",
        f"  %bits = bitcast {flags} %same to i{lanes}",
        f"  %all = icmp eq i{lanes} %bits, -1",
        "  %some.alike = icmp sgt i64 %length, 0",
        "  %alike = and i1 %all, %some.alike",
        "  br i1 %alike, label %before0, label %each",
    ]
