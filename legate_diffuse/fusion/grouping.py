# SPDX-License-Identifier: Apache-2.0
"""Splits a window into groups: tasks that share one loop nest.

Source: Diffuse, section 4.3 and figure 6. Unlike there, a task may move before groups
that it cannot join, if it does not conflict with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from legate_diffuse.fusion.cluster import MOST_PASSED, conflicts, reachable
from legate_diffuse.fusion.legality import (
    Group,
    Refusal,
    refuse,
    refuse_alone,
    refuse_any,
)
from legate_diffuse.ir import IndexTask, Window


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
    group = next((g for g in before if _takes(g, task, g is groups[-1])), None)
    only_fills = group is None or (task.single and all(map(_fills, group.members)))
    if task.reductions and not task.scalar and only_fills:
        # rather into the loop that makes what is reduced
        group = _past_fills(groups, task) or group
    if group is None:
        group = Group()
        if not task.scalar:
            _take_scalar_work(groups, group, task)
        groups.append(group)
    group.add(position, task)


def _takes(group: Group, task: IndexTask, is_last: bool) -> bool:
    """Whether a group takes a task in, which would come before the groups behind it.

    A loop stays where it is rather than come before others for scalar work with which
    it has nothing to do: what they share with it would have to be stored.
    """
    only_scalar = group.shape is None and not task.scalar
    if only_scalar and not is_last and not group.conflicts(task):
        return False
    return group.fused and refuse(group, task) is None


def _past_fills(groups: list[Group], task: IndexTask) -> Group | None:
    """Return a group for a reduction, if all between them is what it is filled with.

    Fills come before the group then. None if there is no such group.
    """
    fills: dict[int, IndexTask] = {}
    for number in range(len(groups) - 1, max(len(groups) - MOST_PASSED, 0) - 1, -1):
        group = groups[number]
        is_before = not any(map(group.conflicts, fills.values()))
        if fills and is_before and group.fused and refuse(group, task) is None:
            rest = [_without(fills, each) for each in groups[number + 1 :]]
            first: list[Group] = []
            for fill in sorted(fills.items()):
                _append(first, *fill)
            groups[number:] = [*first, group, *filter(None, rest)]
            return group
        own = _fills_of(group, task)
        if own is None:
            return None
        fills |= own
        others = [t for n, t in group.by_position.items() if n not in own]
        if any(conflicts(fill, each) for fill in fills.values() for each in others):
            return None
    return None


def _append(groups: list[Group], position: int, task: IndexTask) -> None:
    """Add a task to the last group, or behind it."""
    if not groups or refuse(groups[-1], task) is not None:
        groups.append(Group())
    groups[-1].add(position, task)


def _fills_of(group: Group, task: IndexTask) -> dict[int, IndexTask] | None:
    """Return what a group fills of what a task touches; None if it does more there.

    Points combine results when a task has ended, so nothing is gained there by taking
    fills out of other loops.
    """
    if not group.conflicts(task):
        return {}
    members = group.by_position
    own = {n: each for n, each in members.items() if conflicts(each, task)}
    filled = own if task.single else members
    return own if group.fused and all(map(_fills, filled.values())) else None


def _without(fills: Mapping[int, IndexTask], group: Group) -> Group | None:
    """Return the rest of a group, None if there is nothing else."""
    if fills.keys().isdisjoint(group.positions):
        return group
    rest = [each for each in group.by_position.items() if each[0] not in fills]
    return Group.of(rest) if rest else None


def _fills(task: IndexTask) -> bool:
    return not (task.reads or task.reductions)


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
