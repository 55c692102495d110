# SPDX-License-Identifier: Apache-2.0
"""Splits a window into groups: the longest legal prefix, again and again.

Source: Diffuse, section 4.3 and figure 6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from legate_diffuse.fusion.legality import (
    Group,
    Refusal,
    is_scalar_work,
    refuse,
    refuse_alone,
)
from legate_diffuse.ir import IndexTask, Window


@dataclass(frozen=True, slots=True)
class Grouping:
    """The tasks [start, stop) of a window.

    ``fused`` is False for tasks that run as they were submitted. ``ended_by``
    says why the next task did not join, None at the window's end.
    """

    start: int
    stop: int
    fused: bool
    ended_by: Refusal | None


def group_window(
    window: Window, covered: Callable[[IndexTask], bool]
) -> tuple[Grouping, ...]:
    """Split a window into groups, in program order.

    ``covered`` tells whether a kernel can express a task.
    """
    groups: list[Grouping] = []
    tasks = window.tasks
    start = 0
    while start < len(tasks):
        group = Group()
        stop = start
        ended_by: Refusal | None = None
        last = start  # the end of the last task that is not scalar work
        while stop < len(tasks):
            task = tasks[stop]
            ended_by = _refuse_alone(task, covered) or refuse(group, task)
            if ended_by is not None:
                break
            group.add(task)
            stop += 1
            if not is_scalar_work(task):
                last = stop
        if last > start:
            # scalar work at the end is folded into the group that follows
            groups.append(Grouping(start, last, fused=True, ended_by=ended_by))
            start = last
        else:
            stop = max(stop, start + 1)
            groups.append(Grouping(start, stop, fused=False, ended_by=ended_by))
            start = stop
    return tuple(groups)


def _refuse_alone(
    task: IndexTask, covered: Callable[[IndexTask], bool]
) -> Refusal | None:
    if not covered(task):
        return Refusal.NOT_COVERED
    return refuse_alone(task)
