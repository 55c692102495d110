# SPDX-License-Identifier: Apache-2.0
"""Which operations need not run, as nobody uses their results.

The passes that follow do not see what they read: it may get another name. What a kernel
computes and nobody uses later on is left out where kernels are made (``lowering.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import replace

from legate_diffuse.ir import IndexTask, View, Window
from legate_diffuse.ir.relations import shows_store


def without_dead_tasks(window: Window, covered: Callable[[IndexTask], bool]) -> Window:
    """Return a window that says which of its tasks do not run.

    The program cannot read what they change after the window, and no operation that
    runs after them reads it, before another one writes all of it. ``covered`` tells
    whether a kernel can express one: what others do is not known as well, so they run.
    """
    dead = set()
    read: set[int] = set()
    # what is written before it is read, from the operation on that was looked at
    written: set[View] = set()
    for position in reversed(range(len(window.tasks))):
        task = window.tasks[position]
        used = any(
            (v.store.live or v.store.id in read) and not _is_overwritten(v, written)
            for v in task.changes
        )
        is_known = covered(task)
        if not used and is_known:
            dead.add(position)
            continue
        if is_known:
            written.update(task.writes)
        # what it reduces to has an initial value
        seen = task.read | {access.view.store.id for access in task.reductions}
        seen = seen if is_known else task.stores
        written = {view for view in written if view.store.id not in seen}
        read |= task.stores
    return replace(window, dead=frozenset(dead))


def _is_overwritten(view: View, written: AbstractSet[View]) -> bool:
    return view in written or any(
        each.store == view.store and shows_store(each) for each in written
    )


def never_made(window: Window) -> tuple[int, ...]:
    """Return the id of a view of each array that only dead tasks use."""
    used = set().union(*[task.stores for _, task in window.running])
    views = {
        view.store.id: view.id
        for position in sorted(window.dead)
        for view in window.tasks[position].changes
        if not view.store.replicated
    }
    return tuple([view for store, view in views.items() if store not in used])
