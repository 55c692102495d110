# SPDX-License-Identifier: Apache-2.0
"""A window: the index tasks that wait to be fused, in program order."""

from __future__ import annotations

from dataclasses import dataclass

from legate_diffuse.ir.store import Store, View
from legate_diffuse.ir.task import IndexTask


@dataclass(frozen=True, slots=True)
class Window:
    """Index tasks in program order.

    The first ``carried`` ones have waited since an earlier window.
    """

    tasks: tuple[IndexTask, ...]
    carried: int = 0

    @property
    def views(self) -> tuple[View, ...]:
        """The distinct views, in the order of first appearance."""
        found = {
            access.view.id: access.view
            for task in self.tasks
            for access in task.accesses
        }
        return tuple(found.values())

    @property
    def stores(self) -> tuple[Store, ...]:
        """The distinct stores, in the order of first appearance."""
        return tuple({view.store.id: view.store for view in self.views}.values())
