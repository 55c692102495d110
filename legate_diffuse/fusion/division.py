# SPDX-License-Identifier: Apache-2.0
"""Lets points divide small temporaries that lie between arrays that they divide.

    b = a[1:-1, 0] + a[1:-1, -1]      a is divided; b, c and d are small
    c = b * 2
    d = c - 1
    a[1:-1, 0] = d

Legate would run the operations in the middle on one processor, and so each of the
others in a task of its own. As nobody sees the temporaries, they may as well be divided
as what they come from, and go to, is. Then all operations may be in one loop.
"""

from __future__ import annotations

from dataclasses import replace

from legate_diffuse.ir import IndexTask, Privilege, Store, View, Window
from legate_diffuse.ir.relations import covers_store
from legate_diffuse.ir.task import first_accesses


def divide_temporaries(window: Window) -> Window:
    """Return a window whose temporaries between divided arrays are no single ones."""
    tasks = [task for _, task in window.running]
    # what was there before, if anything, nobody sees
    made = {
        store
        for store, access in first_accesses(tasks).items()
        if access.privilege is Privilege.WRITE and covers_store(access.view)
    }
    small = {
        store.id: store
        for store in window.stores
        if store.single
        and (store.undefined or store.id in made)
        and not (store.live or store.constant or store.replicated)
    }
    if not small:
        return window
    after: set[int] = set()
    for task in tasks:
        if _divided(task.reads, after):
            after |= small.keys() & task.changed
    before: set[int] = set()
    for task in reversed(tasks):
        if _divided(task.changes, before):
            before |= small.keys() & task.read
    between = after & before
    # not what is computed with arrays that stay in one piece
    whole = {s.id for s in window.stores if s.single and not s.replicated} - between
    while beside := between & set().union(
        *(task.stores for task in tasks if not task.stores.isdisjoint(whole))
    ):
        between -= beside
        whole |= beside
    if not between:
        return window
    stores = {store: replace(small[store], single=False) for store in between}
    views: dict[int, View] = {}
    return replace(
        window, tasks=tuple(_over(task, stores, views) for task in window.tasks)
    )


def _divided(views: tuple[View, ...], stores: set[int]) -> bool:
    """Whether points divide one of the views, or it is one of these stores."""
    return any(
        view.store.id in stores or not (view.store.single or view.store.replicated)
        for view in views
    )


def _over(
    task: IndexTask, stores: dict[int, Store], views: dict[int, View]
) -> IndexTask:
    """Return a task over other stores; ``views`` are those that there are."""
    if task.stores.isdisjoint(stores):
        return task
    accesses = []
    for access in task.accesses:
        view = access.view
        if view.store.id in stores:
            if view.id not in views:
                views[view.id] = replace(view, store=stores[view.store.id])
            access = replace(access, view=views[view.id])
        accesses.append(access)
    return replace(task, accesses=tuple(accesses))
