# SPDX-License-Identifier: Apache-2.0
"""Splits a window into groups: tasks that share one loop nest.

Source: Diffuse, section 4.3 and figure 6. Unlike there, a task may move before groups
that it cannot join, if it does not conflict with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from legate_diffuse.fusion.legality import (
    Group,
    Refusal,
    conflicts,
    is_scalar_work,
    is_single,
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
    window: Window,
    covered: Callable[[IndexTask], bool],
    dead: AbstractSet[int] = frozenset(),
) -> tuple[Grouping, ...]:
    """Split a window into groups that give the same results in their order.

    ``covered`` tells whether a kernel can express a task. Tasks that are not
    covered stay in program order. Those in ``dead``, by position, are left out.
    """
    groups: list[_Open] = []
    fills = _Fills()
    for position, task in enumerate(window.tasks):
        if position in dead:
            continue
        alone = None if covered(task) else Refusal.NOT_COVERED
        alone = alone or refuse_alone(task)
        if alone is None and fills.take(position, task):
            continue
        used = fills.used_by(task) if alone is None else fills.all()
        if alone is None and not is_scalar_work(task) and is_single(task):
            # What a loop reduces to is filled where the loop is. Points combine their
            # results when the task has ended, so there nothing is gained.
            _place(groups, window, [*used, position])
            continue
        for fill in used:
            _place(groups, window, [fill])
        if alone is None:
            _place(groups, window, [position])
        else:
            groups.append(_Open(None, alone if groups else None))
            groups[-1].add(position, window)
    for fill in fills.all():
        _place(groups, window, [fill])
    return tuple(
        Grouping(tuple(sorted(g.tasks)), g.group is not None, g.refusal) for g in groups
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
        found = sorted(self.waiting.values())
        self.waiting.clear()
        return found


def _place(groups: list[_Open], window: Window, positions: Sequence[int]) -> None:
    """Add tasks, of which the others are fills for the last one, to a group."""
    refusal = _join(groups, window, positions)
    if refusal is None and groups:
        return
    new = _Open(Group(), refusal)
    tasks = [window.tasks[position] for position in positions]
    if not is_scalar_work(tasks[-1]):
        _take_scalar_work(groups, new, window, tasks)
    for position in positions:
        new.add(position, window)
    groups.append(new)


def _join(
    groups: list[_Open], window: Window, positions: Sequence[int]
) -> Refusal | None:
    """Add tasks to the last group that they can reach.

    If there is none, return why the last group refuses one: program order suggests
    that group.
    """
    tasks = [window.tasks[position] for position in positions]
    reason: Refusal | None = None
    for open_ in reversed(groups):
        found = _refuse(open_, tasks)
        if found is None:
            for position in positions:
                open_.add(position, window)
            return None
        reason = reason or found
        if any(open_.conflicts(task, window) for task in tasks):
            break
    return reason


def _refuse(open_: _Open, tasks: Sequence[IndexTask]) -> Refusal | None:
    if open_.group is None:
        return Refusal.OTHER_TASK
    *fills, _ = tasks
    if any(not open_.group.replicated.isdisjoint(fill.stores) for fill in fills):
        # what it fills would have to be filled after the group
        return Refusal.SCALAR_CHANGES
    found = (refuse(open_.group, task) for task in tasks)
    return next((refusal for refusal in found if refusal is not None), None)


def _take_scalar_work(
    groups: list[_Open], new: _Open, window: Window, tasks: Sequence[IndexTask]
) -> None:
    """Move scalar work from the end of the last group to the new one, before tasks.

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
    if not taken.tasks or _refuse(taken, tasks) is not None:
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
