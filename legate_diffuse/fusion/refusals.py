# SPDX-License-Identifier: Apache-2.0
"""Says of groups why each is not one with the group before it, for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.legality import (
    Group,
    Refusal,
    refuse_alone,
    refuse_any,
)
from legate_diffuse.ir import IndexTask, Window


def with_refusals(
    window: Window, groups: Sequence[Grouping], covered: Callable[[IndexTask], bool]
) -> tuple[Grouping, ...]:
    """Return groups with the reasons that there are in the end.

    ``covered`` tells whether a kernel can express a task.
    """
    return (
        *groups[:1],
        *(
            replace(group, refusal=_refusal(window, before, group, covered))
            for before, group in pairwise(groups)
        ),
    )


def _refusal(
    window: Window,
    before: Grouping,
    group: Grouping,
    covered: Callable[[IndexTask], bool],
) -> Refusal | None:
    tasks = {position: window.tasks[position] for position in group.tasks}
    if not group.fused:
        (task,) = tasks.values()
        return refuse_alone(task) if covered(task) else Refusal.NOT_COVERED
    if not before.fused:
        return Refusal.OTHER_TASK
    joined = Group()
    for position in before.tasks:
        joined.add(position, window.tasks[position])
    return refuse_any(joined, tasks) or Refusal.MOVED
