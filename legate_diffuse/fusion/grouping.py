# SPDX-License-Identifier: Apache-2.0
"""Splits a window into groups: tasks that share one loop nest.

Source: Diffuse, section 4.3 and figure 6. Unlike there, a task may move before groups
that it cannot join, if it does not conflict with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from legate_diffuse.fusion.cluster import MOST_PASSED, reachable
from legate_diffuse.fusion.legality import (
    Group,
    Refusal,
    refuse,
    refuse_alone,
    refuse_any,
)
from legate_diffuse.ir import IndexTask, Privilege, Window


@dataclass(frozen=True, slots=True)
class Grouping:
    """Tasks of a window, by position, in program order.

    ``fused`` is False for a task that runs as it was submitted. ``refusal`` says why
    the group is not one with the group before, None for the first one.
    """

    tasks: tuple[int, ...]
    fused: bool
    refusal: Refusal | None = None


def group_window(
    window: Window, covered: Callable[[IndexTask], bool]
) -> tuple[Group, ...]:
    """Split a window into groups that give the same results in their order.

    ``covered`` tells whether a kernel can express a task. Tasks that are not
    covered stay in program order.
    """
    groups: list[Group] = []
    for position, task in window.running:
        if covered(task) and refuse_alone(task) is None:
            _place(groups, position, task)
        else:
            groups.append(Group(fused=False))
            groups[-1].add(position, task)
    return tuple(groups)


def _place(groups: list[Group], position: int, task: IndexTask) -> None:
    """Add a task to a group."""
    before = reachable(groups, [task])
    takers = (g for g in before if g.fused and refuse(g, task) is None)
    group = next(takers, None)
    if group is None and task.reductions and not task.scalar:
        group = _past_fills(groups, task)
    if group is None:
        group = Group()
        if not task.scalar:
            _take_scalar_work(groups, group, task)
        groups.append(group)
    group.add(position, task)


def _past_fills(groups: list[Group], task: IndexTask) -> Group | None:
    """Return a group for a reduction, if all between them is what it is filled with.

    Fills come before the group then. None if there is no such group.
    """
    passed: list[Group] = []
    fills: list[Group] = []
    for group in reversed(groups[-MOST_PASSED:]):
        is_before = not any(
            map(group.conflicts, [each for fill in fills for each in fill.members])
        )
        if fills and is_before and group.fused and refuse(group, task) is None:
            rest = [each for each in reversed(passed) if each not in fills]
            groups[-len(passed) - 1 :] = [*reversed(fills), group, *rest]
            return group
        if group.conflicts(task):
            if not _only_fills(group):
                return None
            fills.append(group)
        elif not is_before:
            return None
        passed.append(group)
    return None


def _only_fills(group: Group) -> bool:
    return group.fused and not any(
        access.reads or access.privilege is Privilege.REDUCE
        for task in group.members
        for access in task.accesses
    )


def _take_scalar_work(groups: list[Group], new: Group, task: IndexTask) -> None:
    """Move scalar work from the end of the last group to the new one, before a task.

    Its result is more likely to be used there, and need not be stored then.
    """
    if not (groups and groups[-1].fused):
        return
    last = groups[-1]
    members = list(last.by_position.items())
    kept = len(members)
    while kept and members[kept - 1][1].scalar:
        kept -= 1
    scalar = members[kept:]
    if scalar and refuse(Group.of(scalar), task) is None:
        for member in scalar:
            new.add(*member)
        groups[-1:] = [Group.of(members[:kept])] if kept else []


def with_refusals(
    groups: Sequence[Group], covered: Callable[[IndexTask], bool]
) -> tuple[Grouping, ...]:
    """Return groups with the reasons that there are in the end.

    Nothing else may be asked of them then. ``covered`` tells whether a kernel can
    express a task.
    """
    tasks = [group.tasks for group in groups]
    reasons = [_refusal(*pair, covered) for pair in pairwise(groups)]
    fused = [group.fused for group in groups]
    return tuple(map(Grouping, tasks, fused, (None, *reasons)))


def _refusal(
    before: Group, group: Group, covered: Callable[[IndexTask], bool]
) -> Refusal | None:
    if not group.fused:
        (task,) = group.members
        return refuse_alone(task) if covered(task) else Refusal.NOT_COVERED
    if not before.fused:
        return Refusal.OTHER_TASK
    return refuse_any(before, group.by_position) or Refusal.MOVED
