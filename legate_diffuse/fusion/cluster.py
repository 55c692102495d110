# SPDX-License-Identifier: Apache-2.0
"""Collects what runs together, tasks in a loop nest and loop nests in a launch.

What comes next joins the last cluster that it can reach, and that takes it in: it may
come before clusters with which it does not conflict. So clusters give the
results of the program in their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from legate_diffuse.ir import IndexTask, View
from legate_diffuse.ir.relations import may_overlap

MOST_PASSED: Final = 128
"""Clusters that are tried; so it takes no time in the square of a window."""

# A launch names each argument separately. Programs need far fewer.
MAX_ARGUMENTS: Final = 48


@dataclass(slots=True)
class Cluster:
    """Tasks that run together.

    Attributes:
        members: the tasks, in the order in which they joined.
        touched: ids of the stores that they touch.
        changed: ids of those that they change.
        arrays: ids of those that are more than single elements.
        overwritten: ids of those that they write.
        named: what the launch names for them, as far as is known yet: live stores, and
            those that they use and do not write; constants are passed by value.
    """

    members: list[IndexTask] = field(default_factory=list)
    touched: set[int] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)
    arrays: set[int] = field(default_factory=set)
    overwritten: set[int] = field(default_factory=set)
    named: set[int] = field(default_factory=set)

    @staticmethod
    def name(view: View) -> int:
        """Return what a launch names once, however often it is used."""
        return view.store.id

    def has_room(self, tasks: Sequence[IndexTask]) -> bool:
        """Whether a launch need not name too much for some tasks more."""
        room = MAX_ARGUMENTS - len(self.named)
        if sum([len(task.accesses) for task in tasks]) <= room:
            return True
        return len(self._names(tasks) - self.named) <= room

    def _names(self, tasks: Sequence[IndexTask]) -> set[int]:
        written = self.overwritten.union(*[task.written for task in tasks])
        return {
            self.name(access.view)
            for task in tasks
            for access in task.accesses
            if not access.view.store.constant
            and (access.view.store.live or access.view.store.id not in written)
        }

    def take(self, task: IndexTask) -> None:
        """Take in a task."""
        self.named |= self._names([task])
        self.overwritten |= task.written
        self.members.append(task)
        self.touched |= task.stores
        self.changed |= task.changed
        self.arrays |= task.arrays

    def conflicts(self, task: IndexTask) -> bool:
        """Whether a task may not come before those of the cluster."""
        if self.changed.isdisjoint(task.stores) and self.touched.isdisjoint(
            task.changed
        ):
            return False
        return any(conflicts(member, task) for member in self.members)


def conflicts(one: IndexTask, other: IndexTask) -> bool:
    """Whether the order of two tasks matters: one changes what the other touches."""
    return _changes_what(one, other) or _changes_what(other, one)


def _changes_what(one: IndexTask, other: IndexTask) -> bool:
    return any(
        access.view.store.id == view.store.id and may_overlap(view, access.view)
        for view in one.changes
        for access in other.accesses
    )


Some = TypeVar("Some", bound=Cluster)


def reachable(clusters: Sequence[Some], tasks: Sequence[IndexTask]) -> Iterator[Some]:
    """Yield the clusters that tasks may join, from the last one on."""
    for cluster in reversed(clusters[-MOST_PASSED:]):
        yield cluster
        if any(map(cluster.conflicts, tasks)):
            return
