# SPDX-License-Identifier: Apache-2.0
"""Which groups share a task.

Tasks over arrays that are not partitioned depend on each other within one process
only. So their groups become one task, whatever their shapes and views are: a program
of loop nests that run one after the other.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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


class Form(enum.Enum):
    """How a launch runs."""

    ORIGINAL = "as they were submitted"
    ALIGNED = "one loop nest over arrays that are partitioned alike"
    PROGRAM = "loop nests over whole arrays"


@dataclass(frozen=True, slots=True)
class Launch:
    """Groups that run as one task, or the one task of a group that is not fused."""

    form: Form
    groups: tuple[Grouping, ...]

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
    launches: list[tuple[Form, list[Grouping]]] = []
    for group in groups:
        form = _form(window, group)
        if form is not Form.PROGRAM or not _join(launches, window, group):
            launches.append((form, [group]))
    return tuple(
        Launch(
            Form.ORIGINAL
            if _not_worth_it(window, form, members)
            and not any(traps(task) for task in _tasks(window, members))
            else form,
            tuple(members),
        )
        for form, members in launches
    )


def _form(window: Window, group: Grouping) -> Form:
    if not group.fused:
        return Form.ORIGINAL
    if all(is_single(window.tasks[position]) for position in group.tasks):
        return Form.PROGRAM
    return Form.ALIGNED


def _join(
    launches: list[tuple[Form, list[Grouping]]], window: Window, group: Grouping
) -> bool:
    """Add a group to the last program that it can reach."""
    own = [window.tasks[position] for position in group.tasks]
    for form, members in reversed(launches):
        tasks = list(_tasks(window, members))
        if (
            form is Form.PROGRAM
            and len(members) < MAX_NESTS
            and len(_stores([*tasks, *own])) <= MAX_ARGUMENTS
        ):
            members.append(group)
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


def _not_worth_it(window: Window, form: Form, groups: Sequence[Grouping]) -> bool:
    """Whether the original tasks cost no more; a fill is no task in Legion."""
    tasks = list(_tasks(window, groups))
    if all(task.kind.task == "FILL" for task in tasks):
        return True
    return form is Form.PROGRAM and len(tasks) == 1 and is_scalar_work(tasks[0])
