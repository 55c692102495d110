# SPDX-License-Identifier: Apache-2.0
"""Lets go of what the launches of a window use, as soon as the last one is submitted.

The steps of a window share its operations and views, which keep the real stores. An
array that only two launches use, one of several in the window, would keep its memory
until all of them are submitted, and each iteration of a loop in the window would have
arrays of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from legate_diffuse.fusion.plan import Plan, PlannedLaunch
from legate_diffuse.ir.nest import ConstantSource
from legate_diffuse.launch.queue import LaunchQueue, Step
from legate_diffuse.stores.view import View


@dataclass(slots=True, eq=False)
class LetGo(Step):
    """No later step of a window needs some of its operations and views.

    Attributes:
        launch: the launch that was submitted.
        operations: the window's operations, by position; they become None.
        views: the window's views, by number; the same.
    """

    launch: PlannedLaunch
    operations: list[Any]
    views: list[Any]

    def run(self, queue: LaunchQueue, launch: int) -> None:
        """Drop them, unless nested work runs this within an earlier step."""
        if queue.depth > 1:
            return
        last_tasks, last_views = self.launch.last_uses
        for position in last_tasks:
            self.operations[position] = None
        for number in last_views:
            self.views[number] = None


def knows_last_uses(plan: Plan, views: list[View]) -> bool:
    """Whether a plan has several launches; what ends with each is known then."""
    if len(plan.launches) > 1 and not plan.knows_last_uses:
        _note_last_uses(plan, views)
    return plan.knows_last_uses


def _note_last_uses(plan: Plan, views: list[View]) -> None:
    """Find out which tasks and views no launch needs after each of a new plan's."""
    # no launch has dead ones
    tasks = dict.fromkeys(range(plan.length), 0)
    used = dict.fromkeys(range(len(views)), 0)
    for place, launch in enumerate(plan.launches):
        # several launches may have the same task, if it is computed again
        tasks |= dict.fromkeys(launch.tasks, place)
        used |= dict.fromkeys(_used(launch), place)
    for place, launch in enumerate(plan.launches):
        launch.last_uses = _ending(tasks, place), _ending(used, place)
    plan.knows_last_uses = True


def _ending(ends: Mapping[int, int], place: int) -> tuple[int, ...]:
    return tuple([number for number, end in ends.items() if end == place])


def _used(launch: PlannedLaunch) -> Iterator[int]:
    """Yield the numbers of the views that a fused task and its program need."""
    yield from launch.arguments
    yield from launch.temporaries
    yield from launch.views
    for planned in launch.nests:
        for source in planned.nest.scalars:
            if isinstance(source, ConstantSource):
                yield source.view
