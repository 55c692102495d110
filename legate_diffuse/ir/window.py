# SPDX-License-Identifier: Apache-2.0
"""A window: the index tasks that wait to be fused, in program order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from legate_diffuse.ir.store import Store, View
from legate_diffuse.ir.task import IndexTask


@dataclass(frozen=True)
class Window:
    """Index tasks in program order.

    Attributes:
        tasks: the tasks.
        carried: how many of the first ones have waited since an earlier window.
        dead: those that do not run, by position, as nobody uses their results.
    """

    tasks: tuple[IndexTask, ...]
    carried: int = 0
    dead: frozenset[int] = frozenset()

    @property
    def running(self) -> list[tuple[int, IndexTask]]:
        """The tasks that run, by position."""
        return [(n, task) for n, task in enumerate(self.tasks) if n not in self.dead]

    @cached_property
    def views(self) -> tuple[View, ...]:
        """The distinct views, in the order of first appearance."""
        found = {
            access.view.id: access.view
            for task in self.tasks
            for access in task.accesses
        }
        return tuple(found.values())

    @cached_property
    def shown(self) -> dict[int, View]:
        """The first view of each store."""
        return {view.store.id: view for view in reversed(self.views)}

    @cached_property
    def stores(self) -> tuple[Store, ...]:
        """The distinct stores, in the order of first appearance."""
        return tuple({view.store.id: view.store for view in self.views}.values())

    @cached_property
    def users(self) -> dict[int, list[int]]:
        """The tasks that run and touch each store, by position, in order."""
        users: dict[int, list[int]] = {}
        for position, task in self.running:
            for store in task.stores:
                users.setdefault(store, []).append(position)
        return users
