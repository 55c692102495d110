# SPDX-License-Identifier: Apache-2.0
"""The index of each point of a vector, along one dimension of the loop nest.

A kernel gets an index like an argument: the pointer is a number, the index of the first
point, and the strides say by how much it grows. So the loops around the kernel, which
swap, merge and cut dimensions, need not know about indices.
"""

from legate_diffuse.llvm.lines import Lines


def emit_index(before: Lines, loop: Lines, number: int) -> str:
    """Return the indices, int64, that come as argument `number`.

    What is the same in all iterations is emitted into `before`.
    """
    kind = before.vector("i64")
    place = f"getelementptr [2 x i64], ptr %strides, i64 {number}, i64 1"
    stride = before.let(f"load i64, ptr {before.let(place)}, align 8")
    first = before.let(f"ptrtoint ptr %a{number} to i64")
    lanes = ", ".join(f"i64 {lane}" for lane in range(before.lanes))
    steps = before.let(f"mul {kind} {before.repeat('i64', stride)}, <{lanes}>")
    start = before.let(f"add {kind} {before.repeat('i64', first)}, {steps}")
    point = loop.let("add i64 %i, %done")
    moved = loop.let(f"mul i64 {point}, {stride}")
    return loop.let(f"add {kind} {start}, {loop.repeat('i64', moved)}")
