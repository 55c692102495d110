# SPDX-License-Identifier: Apache-2.0
"""Which groups share a task.

Tasks over arrays that are not partitioned depend on each other within one process
only. So their groups become one task, whatever their shapes and views are: a program
of loop nests that run one after the other. A group over partitioned arrays is a program
of its own, of one nest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.legality import (
    MAX_ARGUMENTS,
    conflicts,
    is_scalar_work,
    is_single,
)
from legate_diffuse.ir import IndexTask, Window

# At most so many loop nests in one task; their kernels are compiled separately.
MAX_NESTS: Final = 256


@dataclass(frozen=True, slots=True)
class Launch:
    """Groups that run as one task, or the one task of a group that is not fused.

    Attributes:
        groups: the groups, in order.
        fused: whether they run as a program, and not as they were submitted.
        partitioned: whether the program runs on each tile of arrays that are
            partitioned alike, and not on whole arrays.
    """

    groups: tuple[Grouping, ...]
    fused: bool = True
    partitioned: bool = False

    @property
    def tasks(self) -> tuple[int, ...]:
        """The positions of all tasks, in program order."""
        return tuple(sorted(n for group in self.groups for n in group.tasks))


def form_launches(
    window: Window,
    groups: Sequence[Grouping],
    traps: Callable[[IndexTask], bool] = lambda task: False,
) -> tuple[Launch, ...]:
    """Return launches that run the groups, in an order that gives the same results.

    ``traps`` tells whether an original task must not run if a kernel can instead.
    """
    launches: list[_Open] = []
    for group in groups:
        tasks = [window.tasks[position] for position in group.tasks]
        partitioned = group.fused and not all(map(is_single, tasks))
        joins = group.fused and not partitioned
        if not joins or not _join(launches, group, tasks):
            launches.append(_Open(group.fused, partitioned))
            launches[-1].add(group, tasks)
    return tuple(
        Launch(tuple(one.groups), fused=False)
        if _not_worth_it(one) and not any(traps(task) for task in one.tasks)
        else Launch(tuple(one.groups), one.fused, one.partitioned)
        for one in launches
    )


@dataclass(slots=True)
class _Open:
    """A launch that may still take in groups."""

    fused: bool
    partitioned: bool
    groups: list[Grouping] = field(default_factory=list)
    tasks: list[IndexTask] = field(default_factory=list)
    _written: set[int] = field(default_factory=set)
    # the stores that the launch names, as far as is known yet: live ones, and dead ones
    # that it does not write
    _live: set[int] = field(default_factory=set)
    _dead: set[int] = field(default_factory=set)

    def add(self, group: Grouping, tasks: Sequence[IndexTask]) -> None:
        """Take in a group and its tasks."""
        written, live, dead = self._names(tasks)
        self.groups.append(group)
        self.tasks += tasks
        self._written |= written
        self._live |= live
        self._dead = (self._dead | dead) - written

    def has_room(self, tasks: Sequence[IndexTask]) -> bool:
        """Whether the tasks of one group more would not be too many."""
        if len(self.groups) >= MAX_NESTS:
            return False
        written, live, dead = self._names(tasks)
        more = len(live - self._live) + len(dead - self._dead)
        fewer = len(written & self._dead)
        return len(self._live) + len(self._dead) + more - fewer <= MAX_ARGUMENTS

    def _names(self, tasks: Sequence[IndexTask]) -> tuple[set[int], set[int], set[int]]:
        """Return what tasks write, and the live and the dead stores to be named."""
        written = {view.store.id for task in tasks for view in task.writes}
        stores = [access.view.store for task in tasks for access in task.accesses]
        return (
            written,
            {store.id for store in stores if store.live and not store.constant},
            {
                store.id
                for store in stores
                if not (store.live or store.constant or store.id in written)
                and store.id not in self._written
            },
        )


def _join(
    launches: Sequence[_Open], group: Grouping, tasks: Sequence[IndexTask]
) -> bool:
    """Add a group to the last program over whole arrays that it can reach."""
    for one in reversed(launches):
        if one.fused and not one.partitioned and one.has_room(tasks):
            one.add(group, tasks)
            return True
        if any(conflicts(earlier, task) for earlier in one.tasks for task in tasks):
            return False
    return False


def _not_worth_it(launch: _Open) -> bool:
    """Whether the original tasks cost no more; a fill is no task in Legion."""
    tasks = launch.tasks
    if all(task.kind.task == "FILL" for task in tasks):
        return True
    return not launch.partitioned and len(tasks) == 1 and is_scalar_work(tasks[0])
