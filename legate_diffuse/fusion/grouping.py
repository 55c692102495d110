# SPDX-License-Identifier: Apache-2.0
"""Splits a window into groups: tasks that share one loop nest.

Source: Diffuse, section 4.3 and figure 6. Unlike there, a task may move before groups
that it cannot join, if it does not conflict with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from legate_diffuse.fusion.legality import (
    Group,
    Refusal,
    conflicts,
    is_scalar_work,
    refuse,
    refuse_alone,
)
from legate_diffuse.ir import IndexTask, Window


@dataclass(frozen=True, slots=True)
class Grouping:
    """Tasks of a window, by position, in program order.

    ``fused`` is False for a task that runs as it was submitted. ``refusal`` says
    why the first task did not join the group before, None for the first group.
    """

    tasks: tuple[int, ...]
    fused: bool
    refusal: Refusal | None = None


@dataclass(slots=True)
class _Open:
    """A group that may still take in tasks; ``group`` is None if it may not."""

    group: Group | None
    refusal: Refusal | None
    tasks: list[int] = field(default_factory=list)
    # ids of the stores that the tasks touch, and change
    touched: set[int] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)

    def add(self, position: int, window: Window) -> None:
        task = window.tasks[position]
        if self.group is not None:
            self.group.add(task)
        self.tasks.append(position)
        self.touched |= task.stores
        self.changed.update([view.store.id for view in task.changes])

    def conflicts(self, task: IndexTask, window: Window) -> bool:
        """Whether a task may not come before those of the group."""
        if self.changed.isdisjoint(task.stores) and self.touched.isdisjoint(
            [view.store.id for view in task.changes]
        ):
            return False
        return any(conflicts(window.tasks[earlier], task) for earlier in self.tasks)


def group_window(
    window: Window, covered: Callable[[IndexTask], bool]
) -> tuple[Grouping, ...]:
    """Split a window into groups that give the same results in their order.

    ``covered`` tells whether a kernel can express a task. Tasks that are not
    covered stay in program order.
    """
    groups: list[_Open] = []
    for position, task in enumerate(window.tasks):
        alone = None if covered(task) else Refusal.NOT_COVERED
        alone = alone or refuse_alone(task)
        if alone is not None:
            groups.append(_Open(None, alone if groups else None))
            groups[-1].add(position, window)
            continue
        refusal = _join(groups, window, position)
        if refusal is not None or not groups:
            new = _Open(Group(), refusal)
            if not is_scalar_work(task):
                _take_scalar_work(groups, new, window, task)
            new.add(position, window)
            groups.append(new)
    return tuple(
        Grouping(tuple(g.tasks), g.group is not None, g.refusal) for g in groups
    )


def _join(groups: list[_Open], window: Window, position: int) -> Refusal | None:
    """Add a task to the last group that it can reach.

    If there is none, return why the last group refuses the task: program order
    suggests that group.
    """
    task = window.tasks[position]
    reason: Refusal | None = None
    for open_ in reversed(groups):
        found = refuse(open_.group, task) if open_.group else Refusal.OTHER_TASK
        if found is None:
            open_.add(position, window)
            return None
        reason = reason or found
        if open_.conflicts(task, window):
            break
    return reason


def _take_scalar_work(
    groups: list[_Open], new: _Open, window: Window, task: IndexTask
) -> None:
    """Move scalar work from the end of the last group to the new one, before a task.

    Its result is more likely to be used there, and need not be stored then.
    """
    if not groups or groups[-1].group is None:
        return
    last = groups[-1]
    kept = len(last.tasks)
    while kept and is_scalar_work(window.tasks[last.tasks[kept - 1]]):
        kept -= 1
    taken = _Open(Group(), None)
    for position in last.tasks[kept:]:
        taken.add(position, window)
    assert taken.group is not None
    if not taken.tasks or refuse(taken.group, task) is not None:
        return
    new.group, new.tasks = taken.group, taken.tasks
    new.touched, new.changed = taken.touched, taken.changed
    remaining = _Open(Group(), last.refusal)
    for position in last.tasks[:kept]:
        remaining.add(position, window)
    groups.pop()
    if remaining.tasks:
        groups.append(remaining)
    else:
        new.refusal = last.refusal
