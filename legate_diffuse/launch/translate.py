# SPDX-License-Identifier: Apache-2.0
"""Recorded operations -> the IR's window."""

from __future__ import annotations

from typing import Any

from legate_diffuse.ir import Access, IndexTask, Points, Privilege, Store, View, Window


def translate(state: Any) -> Window:
    """Return the window of the operations in a ``WindowState``.

    Ids of stores, views and shapes are the numbers in the window's key.
    """
    stores = {
        root: Store(
            number,
            root.dtype,
            live=root.alive or root.escaped,
            replicated=root.scalar_storage,
            constant=root.constant is not None,
        )
        for root, number in state.roots.items()
    }
    views = {
        view: View(
            number,
            stores[view.root],
            state.shapes[view.shape],
            _points(view.volume),
            broadcast=view.inner_broadcast,
            affine=view.affine,
        )
        for view, number in state.views.items()
    }
    return Window(tuple(_task(operation, views) for operation in state.operations))


def _task(operation: Any, views: dict[Any, View]) -> IndexTask:
    kind = operation.kind.operation
    accesses = tuple(
        Access(Privilege.WRITE if role == 1 else Privilege.READ, views[view])
        for role, view in zip(operation.roles, operation.views, strict=True)
    )
    target = next(a.view for a in accesses if a.privilege is Privilege.WRITE)
    return IndexTask(kind, target.shape, accesses)


def _points(volume: int) -> Points:
    return (Points.NONE, Points.ONE, Points.MANY)[min(volume, 2)]
