# SPDX-License-Identifier: Apache-2.0
"""Which operations need not run, as nobody uses their results.

The passes that follow do not see what they read: it may get another name. What a kernel
computes and nobody uses later on is left out where kernels are made (``lowering.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from legate_diffuse.ir import IndexTask, Window


def without_dead_tasks(window: Window, covered: Callable[[IndexTask], bool]) -> Window:
    """Return a window that says which of its tasks do not run.

    The program cannot read what they change after the window, and no operation that
    runs after them reads it. ``covered`` tells whether a kernel can express one: what
    others do is not known as well, so they run.
    """
    dead = set()
    read: set[int] = set()
    for position in reversed(range(len(window.tasks))):
        task = window.tasks[position]
        used = any(v.store.live or v.store.id in read for v in task.changes)
        if not used and covered(task):
            dead.add(position)
        else:
            # what it reduces to has an initial value
            read |= task.stores
    return replace(window, dead=frozenset(dead))


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
