# SPDX-License-Identifier: Apache-2.0
"""Sums over rows of elements, of which a kernel's argument tells where they lie.

A function sums several rows, one after the other, and each in order, as a person would
write it. So the bits are those of a loop in C without contraction. Rows do not depend
on one another, so the processor works on some of them at once. Most are short: the
compiler must neither unroll nor vectorise the loop over a row.
"""

from typing import Final

from legate_diffuse.codegen.operations import Operations
from legate_diffuse.kernel.dtypes import COMPONENT, ITEMSIZE
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import LLVM_TYPE

METADATA: Final = (
    '!10 = distinct !{!10, !{!"llvm.loop.unroll.disable"}, '
    '!{!"llvm.loop.vectorize.enable", i1 false}}'
)


def row_sum_function(name: str, dtype: str, columns: str, one: Operations) -> str:
    """Return the text of a function that sums rows of elements.

    Its parameters are pointers to the rows, their number, pointers to columns, values
    and x, and one to the results: their real parts, and ``lanes`` elements later the
    imaginary parts. ``one`` emits operators over single elements.
    """
    part = COMPONENT.get(dtype, dtype)
    kind, size = LLVM_TYPE[part], ITEMSIZE[part]
    vector, count = f"<1 x {kind}>", 1 + (dtype in COMPONENT)
    index = LLVM_TYPE[columns]
    lines = Lines(1, "t")

    def load(pointer: str, place: str) -> tuple[str, ...]:
        parts = []
        for n in range(count):
            of_both = f"[{count} x {kind}], ptr {pointer}, i64 {place}, i64 {n}"
            at = lines.let(f"getelementptr inbounds {of_both}")
            parts.append(lines.let(f"load {vector}, ptr {at}, align {size}"))
        return tuple(parts)

    values = load("%values", "%k")
    at = lines.let(f"getelementptr inbounds {index}, ptr %columns, i64 %k")
    column = lines.let(f"load {index}, ptr {at}, align {ITEMSIZE[columns]}")
    if index != "i64":
        # unsigned: an index is never negative
        column = lines.let(f"zext {index} {column} to i64")
    operator = "complex_mul" if count > 1 else "mul"
    operands = (values, load("%x", column))
    products = one.emit(lines, operator, dtype, (dtype, dtype), operands)
    sums = [
        one.emit(lines, "add", part, (part, part), ((f"%sum{n}",), (each,)))[0]
        for n, each in enumerate(products)
    ]
    results = []
    for n in range(count):
        results += [
            f"  %skip{n} = mul i64 %lanes, {n}",
            f"  %place{n} = add i64 %skip{n}, %r",
            f"  %at{n} = getelementptr inbounds {kind}, ptr %results, i64 %place{n}",
            f"  store {vector} %total{n}, ptr %at{n}, align {size}",
        ]
    return "\n".join(
        [
            f"define internal void {name}(ptr noalias %rows, i64 %count, "
            "ptr noalias %columns, ptr noalias %values, ptr noalias %x, "
            "ptr noalias %results, i64 %lanes) #0 {",
            "entry:",
            "  br label %row",
            "row:",
            "  %r = phi i64 [ 0, %entry ], [ %next, %done ]",
            "  %first.at = getelementptr [2 x i64], ptr %rows, i64 %r",
            "  %first = load i64, ptr %first.at, align 8",
            "  %last.at = getelementptr i64, ptr %first.at, i64 1",
            "  %last = load i64, ptr %last.at, align 8",
            "  %some = icmp sle i64 %first, %last",
            "  br i1 %some, label %element, label %done",
            "element:",
            "  %k = phi i64 [ %first, %row ], [ %k.next, %element ]",
            *(
                f"  %sum{n} = phi {vector} [ zeroinitializer, %row ], "
                f"[ {each}, %element ]"
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
            "  ret void",
            "}",
        ]
    )
