# SPDX-License-Identifier: Apache-2.0
"""What to do with a window: its groups, each a kernel or the original task."""

from __future__ import annotations

from dataclasses import dataclass

from legate_diffuse.fusion.grouping import group_window
from legate_diffuse.fusion.liveness import analyse_liveness
from legate_diffuse.fusion.lowering import LoweredGroup, lower_group
from legate_diffuse.ir import IndexTask, Window
from legate_diffuse.ops import cupynumeric


@dataclass(slots=True)
class PlannedGroup:
    """The operations [start, stop) of a window.

    Without ``lowered`` they run as they were submitted, or not at all if
    ``vanishes``. ``kernel`` is the kernel's number in the native table, once it
    is there. ``temporaries`` are the view ids of stores that are never made,
    ``hoisted`` the positions of operations that also run by themselves, before
    the group.
    """

    start: int
    stop: int
    lowered: LoweredGroup | None = None
    kernel: int | None = None
    vanishes: bool = False
    temporaries: tuple[int, ...] = ()
    hoisted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The groups of a window, in program order."""

    groups: tuple[PlannedGroup, ...]


def unfused_plan(length: int) -> Plan:
    """Return the plan that runs every operation as it was submitted."""
    return Plan((PlannedGroup(0, length),))


def make_plan(window: Window) -> Plan:
    """Analyse a window."""
    groups = group_window(window, _covered)
    planned = []
    for group, liveness in zip(groups, analyse_liveness(window, groups), strict=True):
        if not group.fused:
            planned.append(PlannedGroup(group.start, group.stop))
            continue
        tasks = window.tasks[group.start : group.stop]
        dropped = liveness.temporaries
        lowered = lower_group(tasks, dropped, cupynumeric.lower)
        views = {v.store.id: v.id for task in tasks for v in task.writes}
        planned.append(
            PlannedGroup(
                group.start,
                group.stop,
                lowered,
                vanishes=lowered is None,
                temporaries=tuple(views[store] for store in sorted(dropped)),
                hoisted=liveness.hoisted,
            )
        )
    return Plan(tuple(planned))


def _covered(task: IndexTask) -> bool:
    return cupynumeric.supported(task.kind) is None
