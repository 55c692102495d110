# SPDX-License-Identifier: Apache-2.0
"""Says of groups why each is not one with the group before it, for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.legality import (
    Group,
    Refusal,
    refuse_alone,
    refuse_any,
)
from legate_diffuse.ir import IndexTask


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
    tasks = dict(zip(group.tasks, group.members, strict=True))
    return refuse_any(before, tasks) or Refusal.MOVED
