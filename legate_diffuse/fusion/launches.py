# SPDX-License-Identifier: Apache-2.0
"""Which groups share a task.

Tasks over arrays that are not partitioned depend on each other within one process
only. So their groups become one task, whatever their shapes and views are: a program
of loop nests that run one after the other. A group over partitioned arrays is a program
of its own, of one nest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.legality import (
    MAX_ARGUMENTS,
    conflicts,
    is_scalar_work,
    is_single,
)
from legate_diffuse.ir import IndexTask, Window

# At most so many loop nests in one task; their kernels are compiled separately.
MAX_NESTS: Final = 256


@dataclass(frozen=True, slots=True)
class Launch:
    """Groups that run as one task, or the one task of a group that is not fused.

    Attributes:
        groups: the groups, in order.
        fused: whether they run as a program, and not as they were submitted.
        partitioned: whether the program runs on each tile of arrays that are
            partitioned alike, and not on whole arrays.
    """

    groups: tuple[Grouping, ...]
    fused: bool = True
    partitioned: bool = False

    @property
    def tasks(self) -> tuple[int, ...]:
        """The positions of all tasks, in program order."""
        return tuple(sorted(n for group in self.groups for n in group.tasks))


def form_launches(
    window: Window,
    groups: Sequence[Grouping],
    traps: Callable[[IndexTask], bool] = lambda task: False,
) -> tuple[Launch, ...]:
    """Return launches that run the groups, in an order that gives the same results.

    ``traps`` tells whether an original task must not run if a kernel can instead.
    """
    launches: list[Launch] = []
    for group in groups:
        tasks = [window.tasks[position] for position in group.tasks]
        partitioned = group.fused and not all(map(is_single, tasks))
        joins = group.fused and not partitioned
        if not joins or not _join(launches, window, group):
            launches.append(Launch((group,), group.fused, partitioned))
    return tuple(
        replace(launch, fused=False, partitioned=False)
        if _not_worth_it(window, launch)
        and not any(traps(task) for task in _tasks(window, launch.groups))
        else launch
        for launch in launches
    )


def _join(launches: list[Launch], window: Window, group: Grouping) -> bool:
    """Add a group to the last program over whole arrays that it can reach."""
    own = [window.tasks[position] for position in group.tasks]
    for number, launch in reversed(list(enumerate(launches))):
        tasks = list(_tasks(window, launch.groups))
        if (
            launch.fused
            and not launch.partitioned
            and len(launch.groups) < MAX_NESTS
            and len(_stores([*tasks, *own])) <= MAX_ARGUMENTS
        ):
            launches[number] = replace(launch, groups=(*launch.groups, group))
            return True
        if any(conflicts(earlier, task) for earlier in tasks for task in own):
            return False
    return False


def _tasks(window: Window, groups: Sequence[Grouping]) -> Iterator[IndexTask]:
    return (window.tasks[position] for group in groups for position in group.tasks)


def _stores(tasks: Sequence[IndexTask]) -> set[int]:
    """Return the stores that a launch names, as far as is known yet."""
    written = {view.store.id for task in tasks for view in task.writes}
    return {
        access.view.store.id
        for task in tasks
        for access in task.accesses
        if not access.view.store.constant
        and (access.view.store.live or access.view.store.id not in written)
    }


def _not_worth_it(window: Window, launch: Launch) -> bool:
    """Whether the original tasks cost no more; a fill is no task in Legion."""
    tasks = list(_tasks(window, launch.groups))
    if all(task.kind.task == "FILL" for task in tasks):
        return True
    return not launch.partitioned and len(tasks) == 1 and is_scalar_work(tasks[0])
