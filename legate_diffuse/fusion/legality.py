# SPDX-License-Identifier: Apache-2.0
"""Which tasks may share one loop nest (Diffuse, section 4).

A group is legal if no point of a task depends on a different point of another task.
Only views are compared, and never the sets of elements behind them. So checking a task
takes time in its number of arguments, on any machine.

Unlike in the paper, work on replicated one-element stores is folded in: every point
computes it again, from the futures that it reads.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from legate_diffuse.fusion.cluster import MAX_ARGUMENTS, Cluster
from legate_diffuse.ir import Access, IndexTask, Points, Privilege, View
from legate_diffuse.ir.relations import (
    aligned,
    covers_store,
    may_overlap,
    shows_store,
)

# Longer kernels take long to compile, and spill registers.
MAX_TASKS: Final = 128


class Refusal(enum.Enum):
    """Why a task does not join a group."""

    NOT_COVERED = "no kernel is known for this operation and these types"
    OTHER_TASK = "the operation before it runs as it was submitted"
    FEW_POINTS = "its result has at most one element, so there is no pass to save"
    SCALAR_CHANGES = "it changes a one-element array that the group's loop uses"
    GATHERS = "on several processors sums over rows of elements need whole arrays"
    NOT_AFFINE = "an operand is a view whose elements are not evenly spaced"
    LAUNCH_DOMAIN = "its loop has another shape than the group's"
    PROCESSORS = "it runs on one processor and the group on several, or the reverse"
    NOTHING_SHARED = "it writes a part of an array, and shares no array with the group"
    OTHER_PART = "it writes another part of an array that the group writes a part of"
    TRUE_DEPENDENCE = "it reads an array that the group writes through another view"
    ANTI_DEPENDENCE = "it writes an array that the group reads through another view"
    OUTPUT_DEPENDENCE = "it writes an array that the group writes through another view"
    REDUCED_AXES = "it reduces along other dimensions than the group"
    REDUCTION = "it uses the result of a reduction that the group has not finished"
    TOO_MANY_ARGUMENTS = f"the group would have more than {MAX_ARGUMENTS} arrays"
    TOO_LONG = f"the group has {MAX_TASKS} operations already"
    MOVED = "what was not in one loop with the group runs later now"


@dataclass(slots=True)
class Group(Cluster):
    """Tasks that share a loop nest, by position, and what they access.

    ``shape`` and ``single`` are None while the group holds only scalar work.
    """

    positions: list[int] = field(default_factory=list)
    # False for a task that runs as it was submitted
    fused: bool = True
    shape: int | None = None
    single: bool | None = None
    # store id -> the views through which it is written; they do not overlap
    written: dict[int, set[View]] = field(default_factory=dict)
    # store id -> the views through which it is read
    read: dict[int, set[View]] = field(default_factory=dict)
    # ids of replicated stores that are read or written
    replicated: set[int] = field(default_factory=set)
    # ids of stores that are reduced to
    reduced: set[int] = field(default_factory=set)
    # whether points read elements that an argument tells, and whether any use parts of
    # arrays
    gathers: bool = False
    parts: bool = False
    # whether arrays are reduced to along their last dimension; None without any
    inner_axis: bool | None = None
    # ids of replicated stores that scalar work of the group computes
    computed: set[int] = field(default_factory=set)
    # ids of what scalar work writes, and reads, that would have to run after the group
    late: set[int] = field(default_factory=set)
    read_late: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, tasks: Iterable[tuple[int, IndexTask]]) -> Group:
        """Return the group of tasks that may share a nest, in program order."""
        group = cls()
        for position, task in tasks:
            group.add(position, task)
        return group

    @staticmethod
    def name(view: View) -> int:
        """Return what a launch of one nest names: a view."""
        return view.id

    @property
    def tasks(self) -> tuple[int, ...]:
        """The positions of its tasks, in program order."""
        return tuple(self.positions)

    @property
    def by_position(self) -> dict[int, IndexTask]:
        """Its tasks by position, in program order."""
        return dict(zip(self.positions, self.members, strict=True))

    def add(self, position: int, task: IndexTask) -> None:
        """Take in a task that :func:`refuse` let pass, or the one that is not fused."""
        self.positions.append(position)
        self.take(task)
        if not self.fused:
            return
        if not task.scalar:
            self.gathers |= task.gathers
            self.parts |= _uses_parts(task)
            self.shape = task.shape
            self.single = task.single
        elif is_late(task, self.replicated, self.late):
            self.late |= task.written
            self.read_late |= task.read
        for access in task.accesses:
            view = access.view
            store = view.store.id
            if access.privilege is Privilege.REDUCE:
                self.reduced.add(store)
                if not view.store.replicated:
                    self.inner_axis = view.broadcast
                continue
            if view.store.replicated:
                self.replicated.add(store)
            if access.privilege is Privilege.WRITE:
                if task.scalar:
                    self.computed.add(store)
                else:
                    self.written.setdefault(store, set()).add(view)
            elif not view.store.replicated:
                self.read.setdefault(store, set()).add(access.touched)


def is_late(task: IndexTask, touched: set[int], late: set[int]) -> bool:
    """Whether scalar work that also runs by itself must do so after its group.

    The group finds what single elements were before it: each point computes from there
    what they become. So what changes a single element that was touched comes
    afterwards, and what reads the result.

    Args:
        task: scalar work.
        touched: ids of the stores that earlier tasks of the group touch.
        late: ids of the stores that those of them write that come after the group.
    """
    return not (
        task.written.isdisjoint(touched)
        and task.written.isdisjoint(task.read)
        and task.read.isdisjoint(late)
    )


def _uses_parts(task: IndexTask) -> bool:
    """Whether points go along anything but all of an array."""
    return not all(
        [
            a.whole or a.view.store.replicated or shows_store(a.view)
            for a in task.accesses
        ]
    )


def value_key(view: View) -> tuple[str, int]:
    """Return what holds one value at each point: a view, or a one-element store."""
    if view.store.replicated:
        return "store", view.store.id
    return "view", view.id


def refuse_alone(task: IndexTask) -> Refusal | None:
    """Return why a task cannot be part of any group, None if it can.

    A task that reads and writes one store through overlapping views is not pointwise.
    """
    if not all(access.view.affine for access in task.accesses):
        return Refusal.NOT_AFFINE
    if any(v.store.replicated and v.points is Points.NONE for v in task.writes):
        # a loop writes a replicated store as a whole
        return Refusal.FEW_POINTS
    if task.scalar:
        return None
    if task.gathers and not task.single and _uses_parts(task):
        return Refusal.GATHERS
    if any(_shape(access, task) != task.shape for access in task.accesses):
        return Refusal.LAUNCH_DOMAIN
    if not task.single and not _has_many_points(task):
        return Refusal.FEW_POINTS
    return _refuse_accesses(_NO_TASKS, task)


_NO_TASKS: Final = Group()


def _shape(access: Access, task: IndexTask) -> int:
    """Return the shape over which an access runs.

    A future repeats over any, and so does what each point may read all of.
    """
    repeats = access.view.store.replicated or access.whole
    return task.shape if repeats else access.view.shape


def _has_many_points(task: IndexTask) -> bool:
    """Whether a partitioned task has a pass over memory that fusion saves."""
    for view in task.writes:
        if not view.points.several or view.store.replicated:
            return False
    return any(
        a.view.points.several
        for a in task.accesses
        if not (a.view.store.replicated and a.privilege is Privilege.REDUCE)
    )


def refuse(group: Group, task: IndexTask) -> Refusal | None:
    """Return why a task may not join a group, None if it may.

    The task must be one that :func:`refuse_alone` lets pass.
    """
    if len(group.members) >= MAX_TASKS:
        return Refusal.TOO_LONG
    if not task.scalar:
        if group.shape not in (None, task.shape):
            return Refusal.LAUNCH_DOMAIN
        if group.single not in (None, task.single):
            return Refusal.PROCESSORS
        if (
            not task.single
            and (group.gathers or task.gathers)
            and (group.parts or _uses_parts(task))
        ):
            return Refusal.GATHERS
    if not group.has_room([task]):
        return Refusal.TOO_MANY_ARGUMENTS
    if not group.reduced.isdisjoint(task.stores):
        return Refusal.REDUCTION
    if task.scalar:
        return _refuse_scalar_work(group, task)
    return _refuse_accesses(group, task)


def refuse_any(group: Group, tasks: Mapping[int, IndexTask]) -> Refusal | None:
    """Return why one of several tasks may not join a group, None if all may.

    Those before it have joined.
    """
    for position, task in tasks.items():
        if (refusal := refuse(group, task)) is not None:
            return refusal
        group.add(position, task)
    return None


def _refuse_scalar_work(group: Group, task: IndexTask) -> Refusal | None:
    """Scalar work has to do with what scalar work computes, or nobody in the group.

    Each of its results is a value of its own. A folded task whose result is needed
    elsewhere also runs by itself, before the group or after it (``is_late``), and may
    not find there what the group's loop writes.
    """
    if any(view.store.id in group.written for view in task.reads):
        return Refusal.TRUE_DEPENDENCE
    if any(view.store.id in group.written for view in task.writes):
        return Refusal.SCALAR_CHANGES
    return None


def _refuse_accesses(group: Group, task: IndexTask) -> Refusal | None:
    own: dict[int, set[View]] = {}
    for access in task.accesses:
        view = access.touched
        if access.privilege is not Privilege.READ:
            continue
        if _crosses(view, group.written):
            return Refusal.TRUE_DEPENDENCE
        own.setdefault(view.store.id, set()).add(view)
    for view in task.writes:
        store = view.store.id
        if store in group.replicated and store not in group.written:
            return Refusal.SCALAR_CHANGES
        if _crosses(view, group.written):
            return Refusal.OUTPUT_DEPENDENCE
        if _crosses(view, group.read) or _crosses(view, own):
            return Refusal.ANTI_DEPENDENCE
        if _is_other_part(group, task, view):
            return Refusal.OTHER_PART
    if _shares_nothing(group, task):
        return Refusal.NOTHING_SHARED
    for access in task.reductions:
        if (refusal := _refuse_reduction(group, own, access.view)) is not None:
            return refusal
    return None


def _is_other_part(group: Group, task: IndexTask, view: View) -> bool:
    """Whether a nest gains nothing from a part beside those that a group writes.

    Nests of a program take turns on rows that lie close together. The two ends of an
    array in one nest would make the others wait for one another's last row. And points,
    which have all arrays side by side, cannot divide a nest along a dimension where it
    stands at two places.
    """
    if task.single:
        return any(each.id != view.id for each in group.written.get(view.store.id, ()))
    return any(
        one.point and another.point and one != another
        for other in chain.from_iterable(group.written.values())
        for one, another in zip(view.region or (), other.region or (), strict=False)
    )


def _shares_nothing(group: Group, task: IndexTask) -> bool:
    """Whether a nest of a program gains nothing from a task.

    A part of one array and a part of another one may lie at different ends of them, as
    above. What is written as a whole may meet the results of the group later on.
    """
    if not (task.single and task.writes) or group.shape is None:
        return False
    shares = not all(map(task.stores.isdisjoint, (group.written, group.read)))
    return not (shares or any(map(covers_store, task.writes)))


def _crosses(view: View, others: dict[int, set[View]]) -> bool:
    """Whether another point may see the same element through another view."""
    for other in others.get(view.store.id, ()):
        if other is not view and not aligned(view, other) and may_overlap(view, other):
            return True
    return False


def _refuse_reduction(
    group: Group, own: dict[int, set[View]], view: View
) -> Refusal | None:
    """Many points reduce to a store, so no point may use it otherwise.

    Scalar work of the group may initialise it, if that can run before the group, and
    what reads the initial value, too.
    """
    store = view.store.id
    if not view.store.replicated and group.inner_axis not in (None, view.broadcast):
        return Refusal.REDUCED_AXES
    if store in own or store in group.read:
        return Refusal.ANTI_DEPENDENCE
    if store in group.written:
        return Refusal.OUTPUT_DEPENDENCE
    if store in group.replicated and (
        store not in group.computed or store in group.late or store in group.read_late
    ):
        return Refusal.SCALAR_CHANGES
    return None
