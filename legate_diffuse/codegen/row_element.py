# SPDX-License-Identifier: Apache-2.0
"""The element of a row in a wanted column, for as many rows as a vector has lanes."""

from __future__ import annotations

from legate_diffuse.codegen.row_sum import ELEMENTS_OF_ROW
from legate_diffuse.kernel.dtypes import COMPONENT, ITEMSIZE
from legate_diffuse.llvm.types import LLVM_TYPE


def row_element_function(name: str, dtype: str, columns: str, lanes: int) -> str:
    """Return the text of a function that finds elements of rows.

    Its parameters are pointers to the rows, their number, at most ``lanes``, pointers
    to columns and values, and the columns that are wanted. It returns vectors of
    elements: real parts, and imaginary parts.
    """
    part = COMPONENT.get(dtype, dtype)
    kind, size, index = LLVM_TYPE[part], ITEMSIZE[part], LLVM_TYPE[columns]
    count = 1 + (dtype in COMPONENT)
    vectors, numbers = f"[{count} x <{lanes} x {kind}>]", f"<{lanes} x i64>"
    wide = index == "i64"
    copies = []
    for n in range(count):
        copies += [
            f"  %from{n} = getelementptr [{count} x {kind}], ptr %values, "
            f"i64 %found, i64 {n}",
            f"  %part{n} = load {kind}, ptr %from{n}, align {size}",
            f"  %place{n} = add i64 %r, {n * lanes}",
            f"  %to{n} = getelementptr {kind}, ptr %results, i64 %place{n}",
            f"  store {kind} %part{n}, ptr %to{n}, align {size}",
        ]
    return "\n".join(
        [
            f"define internal {vectors} {name}(ptr noalias %rows, i64 %count, "
            f"ptr noalias %columns, ptr noalias %values, {numbers} %wanted) #0 {{",
            "entry:",
            f"  %results = alloca {vectors}, align 64",
            f"  store {vectors} zeroinitializer, ptr %results, align 64",
            "  br label %row",
            "row:",
            "  %r = phi i64 [ 0, %entry ], [ %next, %done ]",
            f"  %sought = extractelement {numbers} %wanted, i64 %r",
            *ELEMENTS_OF_ROW,
            "  %before = phi i64 [ -1, %row ], [ %found, %element ]",
            f"  %column.at = getelementptr {index}, ptr %columns, i64 %k",
            f"  %column = load {index}, ptr %column.at, align {ITEMSIZE[columns]}",
            # an index is never negative
            *([] if wide else [f"  %wide = zext {index} %column to i64"]),
            f"  %is = icmp eq i64 {'%column' if wide else '%wide'}, %sought",
            "  %found = select i1 %is, i64 %k, i64 %before",
            "  %k.next = add nsw i64 %k, 1",
            "  %more = icmp slt i64 %k, %last",
            "  br i1 %more, label %element, label %end, !llvm.loop !10",
            "end:",
            "  %any = icmp sge i64 %found, 0",
            "  br i1 %any, label %copy, label %done",
            "copy:",
            *copies,
            "  br label %done",
            "done:",
            "  %next = add nuw nsw i64 %r, 1",
            "  %again = icmp ult i64 %next, %count",
            "  br i1 %again, label %row, label %exit",
            "exit:",
            f"  %all = load {vectors}, ptr %results, align 64",
            f"  ret {vectors} %all",
            "}",
        ]
    )
