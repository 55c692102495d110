# SPDX-License-Identifier: Apache-2.0
"""Splits a window into groups: tasks that share one loop nest.

Source: Diffuse, section 4.3 and figure 6. Unlike there, a task may move before groups
that it cannot join, if it does not conflict with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from legate_diffuse.fusion.cluster import Cluster, reachable
from legate_diffuse.fusion.legality import (
    Group,
    Refusal,
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

    def takes(self, task: IndexTask) -> bool:
        """Whether a task may join."""
        return self.group is not None and refuse(self.group, task) is None


def group_window(
    window: Window, covered: Callable[[IndexTask], bool]
) -> tuple[Grouping, ...]:
    """Split a window into groups that give the same results in their order.

    ``covered`` tells whether a kernel can express a task. Tasks that are not
    covered stay in program order.
    """
    groups: list[_Open] = []
    for position, task in window.running:
        if covered(task) and refuse_alone(task) is None:
            _place(groups, position, task)
        else:
            groups.append(_Open())
            groups[-1].add(position, task)
    return tuple(
        Grouping(tuple(sorted(g.positions)), g.group is not None) for g in groups
    )


def _place(groups: list[_Open], position: int, task: IndexTask) -> None:
    """Add a task to a group."""
    takers = (one for one in reachable(groups, [task]) if one.takes(task))
    group = next(takers, None)
    if group is None:
        group = _Open(group=Group())
        if not task.scalar:
            _take_scalar_work(groups, group, task)
        groups.append(group)
    group.add(position, task)


def _take_scalar_work(groups: list[_Open], new: _Open, task: IndexTask) -> None:
    """Move scalar work from the end of the last group to the new one, before a task.

    Its result is more likely to be used there, and need not be stored then.
    """
    if not groups or groups[-1].group is None:
        return
    last = groups[-1]
    members = list(zip(last.positions, last.members, strict=True))
    kept = len(members)
    while kept and members[kept - 1][1].scalar:
        kept -= 1
    taken = _Open(group=Group())
    for member in members[kept:]:
        taken.add(*member)
    if not (taken.members and taken.takes(task)):
        return
    for member in members[kept:]:
        new.add(*member)
    groups.pop()
    if kept:
        groups.append(_Open(group=Group()))
    for member in members[:kept]:
        groups[-1].add(*member)
