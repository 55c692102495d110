# SPDX-License-Identifier: Apache-2.0
"""Splits a window into groups: tasks that share one loop nest.

Source: Diffuse, section 4.3 and figure 6. Unlike there, a task may move before groups
that it cannot join, if it does not conflict with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from legate_diffuse.fusion.cluster import Cluster, reachable
from legate_diffuse.fusion.legality import (
    Group,
    Refusal,
    is_scalar_work,
    is_single,
    refuse,
    refuse_alone,
)
from legate_diffuse.ir import IndexTask, Window


@dataclass(frozen=True, slots=True)
class Grouping:
    """Tasks of a window, by position, in program order.

    ``fused`` is False for a task that runs as it was submitted. ``refusal`` says why
    the group is not one with the group before, None for the first one
    (``refusals.py``).
    """

    tasks: tuple[int, ...]
    fused: bool
    refusal: Refusal | None = None


@dataclass(slots=True)
class _Open(Cluster):
    """A group that may still take in tasks; ``group`` is None if it may not."""

    group: Group | None = None
    positions: list[int] = field(default_factory=list)

    def add(self, position: int, task: IndexTask) -> None:
        """Take in a task, by its position."""
        if self.group is not None:
            self.group.add(task)
        self.positions.append(position)
        self.take(task)

    def takes(self, tasks: Sequence[IndexTask]) -> bool:
        """Whether tasks may join, of which all but the last are fills for it."""
        group = self.group
        # what it has touched would have to be filled after the group
        return (
            group is not None
            and all(group.replicated.isdisjoint(fill.stores) for fill in tasks[:-1])
            and all(refuse(group, task) is None for task in tasks)
        )


def group_window(
    window: Window, covered: Callable[[IndexTask], bool]
) -> tuple[Grouping, ...]:
    """Split a window into groups that give the same results in their order.

    ``covered`` tells whether a kernel can express a task. Tasks that are not
    covered stay in program order.
    """
    groups: list[_Open] = []
    fills = _Fills()
    for position, task in window.running:
        fuses = covered(task) and refuse_alone(task) is None
        if fuses and fills.take(position, task):
            continue
        used = fills.used_by(task) if fuses else fills.all()
        if fuses and not is_scalar_work(task) and is_single(task):
            # What a loop reduces to is filled where the loop is. Points combine their
            # results when the task has ended, so there nothing is gained.
            _place(groups, window, [*used, position])
            continue
        for fill in used:
            _place(groups, window, [fill])
        if fuses:
            _place(groups, window, [position])
        else:
            groups.append(_Open())
            groups[-1].add(position, task)
    for fill in fills.all():
        _place(groups, window, [fill])
    return tuple(
        Grouping(tuple(sorted(g.positions)), g.group is not None) for g in groups
    )


@dataclass(slots=True)
class _Fills:
    """Fills of single elements that nobody has used yet, by the stores' ids."""

    waiting: dict[int, int] = field(default_factory=dict)

    def take(self, position: int, task: IndexTask) -> bool:
        """Let a task wait if it only fills a single element."""
        if not is_scalar_work(task) or len(task.accesses) > 1 or not task.writes:
            return False
        (view,) = task.writes
        if view.store.id in self.waiting:
            return False
        self.waiting[view.store.id] = position
        return True

    def used_by(self, task: IndexTask) -> list[int]:
        """Return those that a task needs; they do not wait any longer."""
        return sorted(self.waiting.pop(i) for i in self.waiting.keys() & task.stores)

    def all(self) -> list[int]:
        """Return all of them, in program order; none waits any longer."""
        fills = sorted(self.waiting.values())
        self.waiting.clear()
        return fills


def _place(groups: list[_Open], window: Window, positions: Sequence[int]) -> None:
    """Add tasks, of which the others are fills for the last one, to a group."""
    tasks = [window.tasks[position] for position in positions]
    group = next((one for one in reachable(groups, tasks) if one.takes(tasks)), None)
    if group is None:
        group = _Open(group=Group())
        if not is_scalar_work(tasks[-1]):
            _take_scalar_work(groups, group, tasks)
        groups.append(group)
    for position, task in zip(positions, tasks, strict=True):
        group.add(position, task)


def _take_scalar_work(
    groups: list[_Open], new: _Open, tasks: Sequence[IndexTask]
) -> None:
    """Move scalar work from the end of the last group to the new one, before tasks.

    Its result is more likely to be used there, and need not be stored then.
    """
    if not groups or groups[-1].group is None:
        return
    last = groups[-1]
    members = list(zip(last.positions, last.members, strict=True))
    kept = len(members)
    while kept and is_scalar_work(members[kept - 1][1]):
        kept -= 1
    taken = _Open(group=Group())
    for member in members[kept:]:
        taken.add(*member)
    if not (taken.members and taken.takes(tasks)):
        return
    for member in members[kept:]:
        new.add(*member)
    groups.pop()
    if kept:
        groups.append(_Open(group=Group()))
    for member in members[:kept]:
        groups[-1].add(*member)
