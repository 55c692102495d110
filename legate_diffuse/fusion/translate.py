# SPDX-License-Identifier: Apache-2.0
"""Recorded operations -> the IR's window."""

from __future__ import annotations

from typing import Any

from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.ir import (
    Access,
    IndexTask,
    Points,
    Privilege,
    Store,
    View,
    Window,
)


def translate(window: Any, meanings: Meanings) -> Window:
    """Return the IR of the operations of a ``ClosedWindow``.

    Ids of stores, views and shapes are the numbers in the window's key.
    """
    stores = {
        root: Store(
            number,
            str(root.dtype),
            live=window.alive[number],
            replicated=root.scalar_storage,
            constant=window.is_constant(number),
            single=window.is_single(number),
            undefined=window.is_undefined(number),
        )
        for number, root in enumerate(window.roots)
    }
    shapes = {shape: number for number, shape in enumerate(window.shapes)}
    views = {
        view: View(
            number,
            stores[view.root],
            shapes[view.shape],
            _points(view.volume),
            broadcast=view.inner_broadcast,
            affine=view.affine,
            whole=view.extents == view.root.shape,
            plain=view.layout.untransformed,
            disjoint=tuple(window.disjoint.get(view, ())),
            within=window.within.get(view, ()),
        )
        for number, view in enumerate(window.views)
    }
    tasks = tuple(_task(operation, views, meanings) for operation in window.operations)
    return Window(tasks, window.carried)


def _task(operation: Any, views: dict[Any, View], meanings: Meanings) -> IndexTask:
    kind = operation.kind.operation
    operator = meanings.reduction(kind) or "add"
    accesses = tuple(
        Access(Privilege.REDUCE, views[view], operator)
        if privilege >= Privilege.REDUCE
        else Access(Privilege(privilege), views[view])
        for privilege, view in zip(operation.privileges, operation.views, strict=True)
    )
    return IndexTask(kind, _launch_shape(accesses), accesses)


def _launch_shape(accesses: tuple[Access, ...]) -> int:
    """Return the shape of what is written, or of what is read to be reduced."""
    for privilege in (Privilege.WRITE, Privilege.READ, Privilege.REDUCE):
        for access in accesses:
            if access.privilege is privilege:
                return access.view.shape
    raise ValueError("a task has no arguments")


def _points(volume: int) -> Points:
    return (Points.NONE, Points.ONE, Points.MANY)[min(volume, 2)]
