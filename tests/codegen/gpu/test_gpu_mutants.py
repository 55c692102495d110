# SPDX-License-Identifier: Apache-2.0
"""Whether the tests of reductions notice what is wrong in a kernel.

Each mutant is a kernel with one thing changed, which must give a wrong result or an
error in one of a few runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from emulated import EmulatedAssembler
from launches import Image, aligned, launch
from test_codegen_reductions import reduction_kernel

from legate_diffuse.codegen.gpu.combining import BARRIER
from legate_diffuse.codegen.gpu.module import gpu_module
from legate_diffuse.kernel import Kernel

KERNEL = reduction_kernel("add", "int64", broadcast=False)
Change = Callable[[str], str]

CASES = [
    # shape, shape of the result, axis of the inner loop: one block or several
    ((5, 701), (1, 1), 1),
    ((60, 1111), (1, 1), 1),
    ((40, 701), (40, 1), 1),
    ((3, 30001), (3, 1), 1),
    ((700, 65), (1, 65), 1),
    ((9000, 3), (1, 3), 1),
    ((9, 70000), (9, 1), 0),
    ((5, 40, 65), (5, 1, 65), 2),
    ((40, 300, 3), (1, 1, 1), 1),
    ((20, 65, 3), (1, 65, 1), 1),
]


def without(text: str, number: int) -> Change:
    """Return what leaves out an occurrence of a text."""

    def change(function: str) -> str:
        parts = function.split(text)
        assert len(parts) > number + 1, f"{text} is not there"
        kept = "" if text.startswith("call") else "; "
        before, after = text.join(parts[: number + 1]), text.join(parts[number + 1 :])
        return before + kept + after

    return change


def replaced(old: str, new: str) -> Change:
    def change(function: str) -> str:
        made, count = re.subn(old, new, function)
        assert count, f"{old} is not there"
        return made

    return change


PARTS = "%gathered = select i1 %lacks, i64 0, i64 %parts"

# Without barrier 2 a ticket may be taken before others of the block have left their
# partial results. Only blocks that run at the same time notice.
MUTANTS: dict[str, Change] = {
    f"barrier {number}": without(BARRIER, number) for number in (0, 1, 3, 4)
} | {
    f"distances from half of {distance} on": replaced(
        rf"phi i32 \[ {distance},", f"phi i32 [ {distance // 2},"
    )
    for distance in (4, 16)
}
MUTANTS |= {
    "vectors after the last": replaced(
        "icmp slt i64 %vector, %whole", "icmp sle i64 %vector, %whole"
    ),
    "no points after vectors": replaced(
        "%steps.first = add i64 %first.x, %whole",
        "%steps.first = add i64 %first.x, %extent",
    ),
    "points of vectors again": replaced(
        "%steps.first = add i64 %first.x, %whole",
        "%steps.first = add i64 %first.x, 0",
    ),
    "steps taken for units": replaced("%in.steps = icmp ugt", "%in.steps = icmp ult"),
    "one vector of a group": replaced(
        "add i64 %vector.group, %vector.apart", "add i64 %vector.group, 0"
    ),
    "groups of the next block": replaced(
        "%group.stride = mul i64 %nctaid.x", "%group.stride = mul i64 1"
    ),
    "a row too few": replaced(
        "%rows.more = icmp slt i64 %row, %rows",
        "%rows.less = sub i64 %rows, 1\n  %rows.more = icmp slt i64 %row, %rows.less",
    ),
    "rows of one block": replaced("add i64 %row, %step.y", "add i64 %row, %ntid.y"),
    "chunks of one block": replaced(
        "mul i64 %step.y, %chunk", "mul i64 %ntid.y, %chunk"
    ),
    "chunks overlap": replaced("mul i64 %first.y, %chunk", "add i64 %first.y, 0"),
    "chunks end behind the rows": replaced(
        r"@llvm.smin.i64\(i64 %chunk.rest, i64 %chunk",
        "@llvm.smin.i64(i64 %chunk, i64 %chunk",
    ),
    "a line too long": replaced(
        r"@llvm.smin.i64\(i64 %line.behind, i64", "@llvm.smin.i64(i64 %line.most, i64"
    ),
    "a line by its last extent": replaced(
        "select i1 %line.is.first, i64 %line.place", "select i1 false, i64 %line.place"
    ),
    "lines begin at the chunk": replaced(
        "%line.following = add i64 %line.row, %line.count",
        "%line.following = add i64 %chunk.first, %line.count",
    ),
    "columns behind the line": replaced(
        r"icmp sge i32 %line.left, \d+", "icmp sge i32 %line.left, 1"
    ),
    "every second distance": replaced(r"lshr i32 (%\S+), 1\n", r"lshr i32 \1, 2\n"),
    "last ticket": replaced(r"add i64 (%d\d+), 1\n", r"add i64 \1, 2\n"),
    "ticket kept": replaced(
        r"store i32 0, ptr addrspace\(1\) (%d\d+)",
        r"store i32 1, ptr addrspace(1) \1",
    ),
    "a partial result too few": replaced(
        PARTS, "%less = sub i64 %parts, 1\n  " + PARTS.replace("%parts", "%less")
    ),
    "a column's partial results": replaced(
        PARTS,
        "%less = select i1 %by.column, i64 1, i64 %parts\n  "
        + PARTS.replace("%parts", "%less"),
    ),
    "one place for partial results": replaced(
        "mul i64 %tile, %parts", "mul i64 %tile, 0"
    ),
    "one column for partial results": replaced(
        "%beside = select i1 %by.column, i64 %tid.x", "%beside = select i1 false, i64 0"
    ),
    "one ticket": replaced(
        r"(getelementptr i32, ptr addrspace\(1\) %tickets), i64 %tile", r"\1, i64 0"
    ),
    "all write": replaced(
        r"(%writes = select i1 %by.column, i1 \S+), i1 %leads", r"\1, i1 true"
    ),
    "slices overlap": replaced("add i64 %slice, %nctaid.z", "add i64 %slice, 1"),
    "old sums": replaced(r"store <1 x i64> splat \(i64 0\), ptr %acc0.0", "; nothing"),
}


def failures(text: str, cases=CASES) -> Iterator[bool]:
    """Yield of each run whether a module's results are wrong."""
    image = Image(EmulatedAssembler(passes=False).image(text))
    for shape, small, inner in cases:
        random = np.random.default_rng(shape[0])
        # rows start at multiples of 16 bytes
        *rows, columns = shape
        x = aligned((*rows, columns + columns % 2), "int64")[..., :columns]
        x[...] = random.integers(-99, 99, shape)
        axes = tuple(axis for axis, n in enumerate(small) if n == 1)
        for seed in (0, 3, 4):
            result = aligned(small, "int64")
            result[...] = 5
            try:
                launch(image, "k", KERNEL, [x, result], seed=seed, inner=inner, deep=2)
            except (RuntimeError, AssertionError):
                yield True
                continue
            wrong = result != 5 + x.sum(axis=axes, keepdims=True)
            yield bool(wrong.any())


def module(kernel: Kernel) -> str:
    return gpu_module(kernel, "k")


def test_what_is_not_changed_is_right() -> None:
    assert not any(failures(module(KERNEL)))


@pytest.mark.parametrize("name", MUTANTS)
def test_is_noticed(name) -> None:
    text = module(KERNEL)
    changed = MUTANTS[name](text)
    assert changed != text
    assert any(failures(changed))
