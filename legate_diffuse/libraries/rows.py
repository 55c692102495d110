# SPDX-License-Identifier: Apache-2.0
"""Tells tasks that use the rows of a compressed matrix as they are registered."""

from __future__ import annotations

from typing import Any

from legate_diffuse.ir.privilege import READ, WRITE


def sums_rows(task: Any) -> bool:
    """Whether a task is submitted as :meth:`Library.row_sums` says.

    Each of its arguments must be a part of an array of one dimension, with more than
    one element. The partitioning must be what keeps each row's elements together, and
    say that rows lie in order.
    """
    arguments = _arguments(task, 4)
    if arguments is None:
        return False
    y, rows, columns, values, x = arguments
    for each in task.constraints:
        side = getattr(each.arguments[0], "declare", None)
        if each.name == "image" and side == rows and not _is_in_order(each):
            return False
    found = _constraints(task)
    gathered = ("image", columns, x), ("broadcast", x)
    return len(found.intersection(gathered)) == 1 and found.difference(gathered) == {
        ("align", *sorted((y, rows))),
        ("image", rows, columns),
        ("image", rows, values),
    }


def finds_diagonal(task: Any) -> bool:
    """Whether a task is submitted as :meth:`Library.diagonal` says.

    The same holds of its arguments as for :func:`sums_rows`.
    """
    arguments = _arguments(task, 3)
    if arguments is None:
        return False
    y, rows, columns, values = arguments
    return _constraints(task) == {
        ("align", *sorted((y, rows))),
        ("image", rows, columns),
        ("align", *sorted((columns, values))),
    }


def _arguments(task: Any, inputs: int) -> tuple[int, ...] | None:
    """Return the numbers of the output and of the inputs, None if others are given."""
    if not task.holdable or task.calls or task.scalars:
        return None
    reads = [n for n, each in enumerate(task.privileges) if each == READ]
    writes = [n for n, each in enumerate(task.privileges) if each == WRITE]
    if (len(reads), len(writes), len(task.privileges)) != (inputs, 1, inputs + 1):
        return None
    if not all(map(_is_contiguous, task.arguments)):
        return None
    if task.arguments[writes[0]].shape != task.arguments[reads[0]].shape:
        return None
    return (*writes, *reads)


def _constraints(task: Any) -> set[tuple[Any, ...]]:
    """Return the names of constraints and the numbers of their arguments."""
    found = set()
    for each in task.constraints:
        sides = [getattr(side, "declare", None) for side in each.arguments[:2]]
        if each.name == "align":
            # its sides are alike
            sides.sort(key=str)
        found.add((each.name, *sides))
    return found


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
