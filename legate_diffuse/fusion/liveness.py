# SPDX-License-Identifier: Apache-2.0
"""Finds the stores that need not exist (Diffuse, section 5.2).

A store is temporary in a group when the application cannot read it any more,
no later task of the window touches it, and the group writes it before it
reads it. Legality has made sure that all its accesses in the group are through
one view once it is written, so that write covers every read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.legality import is_scalar_work
from legate_diffuse.ir import Privilege, Window


@dataclass(frozen=True, slots=True)
class Liveness:
    """What a group need not write, and what must run by itself before it.

    ``temporaries`` are store ids. ``hoisted`` are positions in the group of
    folded scalar tasks whose results are needed outside of it.
    """

    temporaries: frozenset[int] = frozenset()
    hoisted: tuple[int, ...] = ()


def analyse_liveness(
    window: Window, groups: Sequence[Grouping]
) -> tuple[Liveness, ...]:
    """Return what each group need not write."""
    found: list[Liveness] = []
    touched_later: set[int] = set()
    for group in reversed(groups):
        tasks = window.tasks[group.start : group.stop]
        first: dict[int, Privilege] = {}
        live: set[int] = set()
        for task in tasks:
            for privilege, views in (
                (Privilege.READ, task.reads),
                (Privilege.WRITE, task.writes),
            ):
                for view in views:
                    first.setdefault(view.store.id, privilege)
                    if view.store.live:
                        live.add(view.store.id)
        needed = live | touched_later
        touched_later = touched_later | set(first)
        if not group.fused:
            found.append(Liveness())
            continue
        hoisted = []
        for position in reversed(range(len(tasks))):
            task = tasks[position]
            if is_scalar_work(task) and any(v.store.id in needed for v in task.writes):
                hoisted.append(position)
                needed = needed | {view.store.id for view in task.reads}
        temporaries = frozenset(
            store
            for store, privilege in first.items()
            if privilege is Privilege.WRITE and store not in needed
        )
        found.append(Liveness(temporaries, tuple(reversed(hoisted))))
    return tuple(reversed(found))
