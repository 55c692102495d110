# SPDX-License-Identifier: Apache-2.0
"""Sums over rows of elements on a GPU: a thread adds up a row in order.

So the bits are those of a loop in C, with contraction or without, as on CPUs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from legate_diffuse.codegen.gpu.memory import POINTER
from legate_diffuse.codegen.memory import Parts
from legate_diffuse.codegen.operations import Operations
from legate_diffuse.codegen.row_sum import Step, step_of
from legate_diffuse.kernel.dtypes import COMPONENT
from legate_diffuse.kernel.operators import CONTRACTED_ROW_SUM
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import LLVM_TYPE

_PARAMETERS: Final = ("row", "columns", "values", "x")


def emit_row_sum(
    lines: Lines,
    on: Operations,
    operator: str,
    dtype: str,
    column_type: str,
    places: Sequence[str],
) -> Parts:
    """Emit the sum over the row that is told at the first of some places.

    The others are where columns, values and x begin.
    """
    count = 1 + (dtype in COMPONENT)
    kind = f"<1 x {LLVM_TYPE[COMPONENT.get(dtype, dtype)]}>"
    sums = f"[{count} x {kind}]"
    name = f"@{operator}.{dtype}.{column_type}"
    if name not in on.declarations:
        one = on.over_single_elements()
        step = step_of(dtype, column_type, one, operator == CONTRACTED_ROW_SUM)
        on.declarations[name] = "\n".join(_function(name, kind, sums, count, step))
        on.declarations.update(one.declarations)
    passed = [lines.let(f"addrspacecast {POINTER} {each} to ptr") for each in places]
    given = ", ".join(f"ptr {each}" for each in passed)
    found = lines.let(f"call {sums} {name}({given})")
    return tuple(lines.let(f"extractvalue {sums} {found}, {n}") for n in range(count))


def _function(name: str, kind: str, sums: str, count: int, step: Step) -> list[str]:
    """Return the text of the function that sums one row."""
    lines = Lines(1, "t")
    following = step(lines, "%k", tuple(f"%sum{n}" for n in range(count)))
    given = ", ".join(f"ptr %{each}" for each in _PARAMETERS)
    text = [
        f"define internal {sums} {name}({given}) #2 {{",
        "entry:",
        "  %first = load i64, ptr %row, align 8",
        "  %last.at = getelementptr i64, ptr %row, i64 1",
        "  %last = load i64, ptr %last.at, align 8",
        "  %some = icmp sle i64 %first, %last",
        "  br i1 %some, label %element, label %done",
        "element:",
        "  %k = phi i64 [ %first, %entry ], [ %k.next, %element ]",
    ]
    text += _phis("sum", kind, following)
    text += [
        *lines.text,
        "  %k.next = add nsw i64 %k, 1",
        "  %more = icmp slt i64 %k, %last",
        "  br i1 %more, label %element, label %done, !llvm.loop !0",
        "done:",
        *_phis("total", kind, following),
    ]
    result = "poison"
    for n in range(count):
        text.append(
            f"  %result{n} = insertvalue {sums} {result}, {kind} %total{n}, {n}"
        )
        result = f"%result{n}"
    return [*text, f"  ret {sums} {result}", "}"]


def _phis(stem: str, kind: str, following: Sequence[str]) -> list[str]:
    return [
        f"  %{stem}{n} = phi {kind} [ zeroinitializer, %entry ], [ {each}, %element ]"
        for n, each in enumerate(following)
    ]
