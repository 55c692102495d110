# SPDX-License-Identifier: Apache-2.0
"""Which operations need not run, as nobody uses their results.

The passes that follow do not see what they read: it may get another name. What a kernel
computes and nobody uses later on is left out where kernels are made (``lowering.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
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
    # by stores, what is written before it is read, from the operation on that was
    # looked at
    written: dict[int, set[View]] = {}
    for position in reversed(range(len(window.tasks))):
        task = window.tasks[position]
        used = any(
            (v.store.live or v.store.id in read)
            and not _is_overwritten(v, written.get(v.store.id, ()))
            for v in task.changes
        )
        is_known = covered(task)
        if not used and is_known:
            dead.add(position)
            continue
        if is_known:
            for view in task.writes:
                written.setdefault(view.store.id, set()).add(view)
        # what it reduces to has an initial value
        seen = task.read | {access.view.store.id for access in task.reductions}
        for store in seen if is_known else task.stores:
            written.pop(store, None)
        read |= task.stores
    return replace(window, dead=frozenset(dead)) if dead else window


def _is_overwritten(view: View, written: Collection[View]) -> bool:
    return view in written or any(map(shows_store, written))


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
