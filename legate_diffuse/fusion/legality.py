# SPDX-License-Identifier: Apache-2.0
"""Which tasks may share one launch (Diffuse, section 4).

A group is legal when no point of one of its tasks depends on another point of
another one. Views are compared, never the sets of elements behind them, so the
cost of checking a task is its number of arguments on any machine.

Beyond the paper, work on replicated one-element stores is folded in: every
point computes it again from the futures that it reads.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Final

from legate_diffuse.ir import IndexTask, Points, Privilege, View

# A launch names each argument separately; far beyond what programs need.
MAX_ARGUMENTS: Final = 48
# Longer kernels take long to compile and spill registers.
MAX_TASKS: Final = 128


class Refusal(enum.Enum):
    """Why a task does not join a group."""

    NOT_COVERED = "no kernel is known for this operation and these types"
    FEW_POINTS = "its result has at most one element, so there is no pass to save"
    SCALAR_CHANGES = "it changes a one-element array that the group uses"
    NOT_AFFINE = "an operand is a view whose elements are not evenly spaced"
    LAUNCH_DOMAIN = "its result has another shape than the group's"
    TRUE_DEPENDENCE = "it reads an array that the group writes through another view"
    ANTI_DEPENDENCE = "it writes an array that the group reads through another view"
    OUTPUT_DEPENDENCE = "it writes an array that the group writes through another view"
    TOO_MANY_ARGUMENTS = f"the group would have more than {MAX_ARGUMENTS} arrays"
    TOO_LONG = f"the group has {MAX_TASKS} operations already"


@dataclass(slots=True)
class Group:
    """The accesses of the tasks that a group holds so far.

    ``shape`` is None while the group holds only scalar work.
    """

    shape: int | None = None
    length: int = 0
    # store id -> id of the one view through which it is written
    written: dict[int, int] = field(default_factory=dict)
    # store id -> ids of the views through which it is read
    read: dict[int, set[int]] = field(default_factory=dict)
    # ids of replicated stores that are read or written
    replicated: set[int] = field(default_factory=set)
    # ids of the views that the launch names, as far as can be told yet
    arguments: set[int] = field(default_factory=set)

    def add(self, task: IndexTask) -> None:
        """Take in a task that :func:`refuse` let pass."""
        self.length += 1
        self.arguments |= _arguments(self, task)
        if not is_scalar_work(task):
            self.shape = task.shape
        for access in task.accesses:
            view = access.view
            if view.store.replicated:
                self.replicated.add(view.store.id)
                continue
            if access.privilege is Privilege.WRITE:
                self.written[view.store.id] = view.id
            else:
                self.read.setdefault(view.store.id, set()).add(view.id)


def is_scalar_work(task: IndexTask) -> bool:
    """Whether a task computes a replicated one-element store from such stores."""
    return all(access.view.store.replicated for access in task.accesses)


def refuse_alone(task: IndexTask) -> Refusal | None:
    """Return why a task cannot be part of any group, None if it can.

    A task that reads and writes one store through different views is not
    point-wise by itself.
    """
    if not all(access.view.affine for access in task.accesses):
        return Refusal.NOT_AFFINE
    if is_scalar_work(task):
        return _refuse_scalar_work(Group(), task)
    if task.writes[0].points is not Points.MANY or task.writes[0].store.replicated:
        return Refusal.FEW_POINTS
    return _refuse_accesses(Group(), task.writes, task.reads)


def refuse(group: Group, task: IndexTask) -> Refusal | None:
    """Return why a task may not join a group, None if it may.

    The task must be one that :func:`refuse_alone` lets pass.
    """
    if group.length >= MAX_TASKS:
        return Refusal.TOO_LONG
    scalar_work = is_scalar_work(task)
    if not scalar_work and group.shape not in (None, task.shape):
        return Refusal.LAUNCH_DOMAIN
    if len(group.arguments | _arguments(group, task)) > MAX_ARGUMENTS:
        return Refusal.TOO_MANY_ARGUMENTS
    if scalar_work:
        return _refuse_scalar_work(group, task)
    return _refuse_accesses(group, task.writes, task.reads)


def _arguments(group: Group, task: IndexTask) -> set[int]:
    """Return the views that the launch must name for a task.

    Constants go by value, and a store that the group makes and nobody else
    holds is probably temporary.
    """
    return {
        access.view.id
        for access in task.accesses
        if not access.view.store.constant
        and (
            access.view.store.live
            or (
                access.privilege is Privilege.READ
                and access.view.store.id not in group.written
                and access.view.store.id not in group.replicated
            )
        )
    }


def _refuse_scalar_work(group: Group, task: IndexTask) -> Refusal | None:
    """Each replicated store has one value in a group, from before its first use.

    A folded task whose result is needed elsewhere also runs by itself, before
    the group; that must not change what the group reads.
    """
    reads = {view.store.id for view in task.reads}
    for view in task.writes:
        if view.store.id in group.replicated or view.store.id in reads:
            return Refusal.SCALAR_CHANGES
    return None


def _refuse_accesses(
    group: Group, writes: tuple[View, ...], reads: tuple[View, ...]
) -> Refusal | None:
    own: dict[int, set[int]] = {}
    for view in reads:
        if group.written.get(view.store.id, view.id) != view.id:
            return Refusal.TRUE_DEPENDENCE
        own.setdefault(view.store.id, set()).add(view.id)
    for view in writes:
        store = view.store.id
        if group.written.get(store, view.id) != view.id:
            return Refusal.OUTPUT_DEPENDENCE
        if not (group.read.get(store, set()) | own.get(store, set())) <= {view.id}:
            return Refusal.ANTI_DEPENDENCE
    return None
