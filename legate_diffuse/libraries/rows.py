# SPDX-License-Identifier: Apache-2.0
"""Tells tasks that multiply a matrix in compressed rows with a vector."""

from __future__ import annotations

from typing import Any

from legate_diffuse.ir.privilege import READ, WRITE

_INPUTS = 4


def sums_rows(task: Any) -> bool:
    """Whether a task is submitted as :meth:`Library.row_sums` says.

    Each of its arguments must be a part of an array of one dimension, with more than
    one element. The partitioning must be what keeps each row's elements together, and
    say that rows lie in order.
    """
    if not task.holdable or task.calls or task.scalars:
        return False
    reads = [n for n, each in enumerate(task.privileges) if each == READ]
    writes = [n for n, each in enumerate(task.privileges) if each == WRITE]
    if (len(reads), len(writes), len(task.privileges)) != (_INPUTS, 1, _INPUTS + 1):
        return False
    rows, columns, values, x = reads
    (y,) = writes
    if not all(map(_is_contiguous, task.arguments)):
        return False
    if task.arguments[y].shape != task.arguments[rows].shape:
        return False
    found = set()
    for each in task.constraints:
        sides = [getattr(side, "declare", None) for side in each.arguments[:2]]
        if each.name == "align":
            # its sides are alike
            sides.sort(key=str)
        if each.name == "image" and sides[0] == rows and not _is_in_order(each):
            return False
        found.add((each.name, *sides))
    gathered = ("image", columns, x), ("broadcast", x)
    return len(found.intersection(gathered)) == 1 and found.difference(gathered) == {
        ("align", *sorted((y, rows))),
        ("image", rows, columns),
        ("image", rows, values),
    }


def _is_in_order(image: Any) -> bool:
    """Whether the first and the last row of a tile tell where its elements are."""
    return any(getattr(each, "name", "") == "FIRST_LAST" for each in image.arguments)


def _is_contiguous(view: Any) -> bool:
    root = view.root
    return (
        len(root.shape) == len(view.shape) == 1
        and view.affine
        and view.layout.dims == (0,)
        and view.volume > 1
        and not root.scalar_storage
    )
