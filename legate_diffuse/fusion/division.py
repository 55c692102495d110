# SPDX-License-Identifier: Apache-2.0
"""Lets points divide small arrays beside those that they divide.

    b = a[1:-1, 0] + a[1:-1, -1]      a is divided; b, c and d are small
    c = b * 2
    d = c - 1
    a[1:-1, 0] = d

Legate would run the operations in the middle on one processor, and so each of the
others in a task of its own. As nobody sees the temporaries, they may as well be divided
as what they come from, and go to, is. Then all operations may be in one loop.

    r = a @ x                         a is divided; all others are small
    y = (b - r) / d

So may all that is computed, element by element, of the sums that points make of their
parts of an array: it comes with them, in one task, unless no kernel is known for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from legate_diffuse.ir import IndexTask, Privilege, Store, View, Window
from legate_diffuse.ir.relations import covers_store, shows_store
from legate_diffuse.ir.task import first_accesses


def divide_small_arrays(window: Window, covered: Callable[[IndexTask], bool]) -> Window:
    """Return a window whose small arrays beside divided ones are no single ones.

    ``covered`` tells whether a kernel can express a task.
    """
    tasks = [task for _, task in window.running]
    if all([task.single for task in tasks]):
        return window
    divided = _between(window, tasks) | _computed_of_sums(window, tasks, covered)
    if not divided:
        return window
    stores = {s.id: replace(s, single=False) for s in window.stores if s.id in divided}
    views: dict[int, View] = {}
    return replace(
        window, tasks=tuple(_over(task, stores, views) for task in window.tasks)
    )


def _between(window: Window, tasks: Sequence[IndexTask]) -> set[int]:
    """Return the small temporaries that lie between divided arrays."""
    # what was there before, if anything, nobody sees
    made = {
        store
        for store, access in first_accesses(tasks).items()
        if access.privilege is Privilege.WRITE and covers_store(access.view)
    }
    small = {
        store.id
        for store in window.stores
        if store.single
        and (store.undefined or store.id in made)
        and not (store.live or store.constant or store.replicated)
    }
    if not small:
        return set()
    after: set[int] = set()
    for task in tasks:
        if _divided(task.reads, after):
            after |= small & task.changed
    before: set[int] = set()
    for task in reversed(tasks):
        if _divided(task.changes, before):
            before |= small & task.read
    between = after & before
    # not what is computed with arrays that stay in one piece
    whole = {s.id for s in window.stores if s.single and not s.replicated} - between
    while beside := between & set().union(
        *(task.stores for task in tasks if not task.stores.isdisjoint(whole))
    ):
        between -= beside
        whole |= beside
    return between


def _computed_of_sums(
    window: Window, tasks: Sequence[IndexTask], covered: Callable[[IndexTask], bool]
) -> set[int]:
    """Return sums of divided arrays, and what is computed of these by the element.

    Nothing that runs on one processor may use them otherwise.
    """
    small = {s.id for s in window.stores if s.single and not s.replicated}
    found: set[int] = set()
    for task in tasks:
        if task.reductions and not task.single and covered(task):
            found |= small.intersection(a.view.store.id for a in task.reductions)
    if not found:
        return found
    beside = [task for task in tasks if task.single and not task.scalar]
    others = []
    for task in beside:
        if not _is_by_element(task):
            others.append(task)
        elif not found.isdisjoint(task.read):
            found |= small & task.written
    while whole := found & set().union(*(task.stores for task in others)):
        found -= whole
        others = [task for task in beside if not whole.isdisjoint(task.stores)]
    return found


def _is_by_element(task: IndexTask) -> bool:
    """Whether a task computes each element of whole arrays from those beside it."""
    if task.gathers or task.reductions:
        return False
    arrays = [view for view in task.reads if not view.store.replicated]
    return all(
        view.shape == task.shape and shows_store(view) and not view.store.replicated
        for view in (*arrays, *task.writes)
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
