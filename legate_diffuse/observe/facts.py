# SPDX-License-Identifier: Apache-2.0
"""What fusion made of a window, as data. Text and page are both written from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.legality import Refusal
from legate_diffuse.fusion.plan import Plan, PlannedLaunch, PlannedNest
from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.observe.location import locate
from legate_diffuse.observe.wording import Names, extents, verb


@dataclass(frozen=True, slots=True)
class OperationFacts:
    """An operation as the program has submitted it.

    ``task`` is its name in the IR. ``moved`` are the bytes of arrays that it reads and
    writes when it runs alone.
    """

    provenance: str
    task: str
    verb: str
    text: str
    moved: int


@dataclass(frozen=True, slots=True)
class LoopFacts:
    """A loop, the operations in it by position, and what measures its time."""

    extents: str
    operations: tuple[int, ...]
    refusal: Refusal | None
    nests: tuple[PlannedNest, ...]


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """What became of some operations of a window; they are given by position.

    Attributes:
        fused: whether there is a fused task, or would be if its results were needed.
        partitioned: whether that runs on all processors.
        operations: all of them.
        alone: those that run as they were submitted, and ``why_alone``.
        waiting: those that wait until the program reads their result.
        loops: of the fused task; empty if nobody needs what it would compute.
        refusal: why they are not in the task before.
        stored: names of the arrays that the fused task writes.
        fates: what becomes of the others that it makes, and their names.
        moved: the bytes of arrays that the fused task reads and writes.
    """

    fused: bool
    partitioned: bool
    operations: tuple[int, ...]
    alone: tuple[int, ...]
    why_alone: str
    waiting: tuple[int, ...]
    loops: tuple[LoopFacts, ...]
    refusal: Refusal | None
    stored: str
    fates: tuple[tuple[str, str], ...]
    moved: int

    @property
    def tasks(self) -> int:
        """How many tasks run."""
        return len(self.alone) + bool(self.loops)


@dataclass(frozen=True, slots=True)
class WindowFacts:
    """A window.

    ``cause`` ended it at ``place``. ``legend`` has the names of arrays of one size and
    type, for each of them. ``launches`` is None if the analysis failed.
    """

    operations: tuple[OperationFacts, ...]
    cause: str
    place: str
    legend: tuple[tuple[str, str], ...]
    launches: tuple[LaunchFacts, ...] | None

    @property
    def tasks(self) -> int:
        """How many tasks the window became."""
        if self.launches is None:
            return len(self.operations)
        return sum(launch.tasks for launch in self.launches)

    @property
    def moved(self) -> int:
        """The bytes of arrays that the window's tasks read and write."""
        if self.launches is None:
            return sum(operation.moved for operation in self.operations)
        return sum(
            launch.moved + sum(self.operations[n].moved for n in launch.alone)
            for launch in self.launches
        )


def describe(window: Any, plan: Plan) -> WindowFacts:
    """Return the facts of a ``ClosedWindow`` that was submitted."""
    names = Names(window)
    return WindowFacts(
        tuple(
            OperationFacts(
                one.provenance_,
                one.kind.operation.task,
                verb(one),
                names.operation(one),
                _moved(one),
            )
            for one in window.operations
        ),
        window.cause,
        locate(),
        tuple(names.legend()),
        tuple(_launch(window, names, launch) for launch in plan.launches)
        if all(launch.groups for launch in plan.launches)
        else None,
    )


def _moved(operation: Any) -> int:
    return sum(
        _bytes(view) * _passes(privilege)
        for privilege, view in zip(operation.privileges, operation.views, strict=True)
    )


def _bytes(view: Any) -> int:
    return 0 if view.root.scalar_storage else int(view.volume * view.root.type.size)


def _passes(privilege: int) -> int:
    """Return how often an access passes over memory; a reduction reads and writes."""
    if privilege >= REDUCE:
        return 2
    return (privilege & READ != 0) + (privilege & WRITE != 0)


def _launch(window: Any, names: Names, planned: PlannedLaunch) -> LaunchFacts:
    own = sorted((*planned.hoisted, *planned.late))
    candidates = own if planned.fused else planned.tasks
    alone = tuple(n for n in candidates if n not in planned.deferrable)
    runs = planned.fused and bool(planned.nests)
    return LaunchFacts(
        planned.fused,
        planned.partitioned,
        planned.tasks,
        alone,
        _why_alone(window, planned, alone),
        planned.deferrable,
        tuple(_loop(window, planned, one) for one in planned.groups) if runs else (),
        planned.groups[0].refusal,
        _stored(window, names, planned) if runs else "",
        tuple(_fates(window, names, planned)) if runs else (),
        _moved_by_nests(window, planned) if runs else 0,
    )


def _why_alone(window: Any, planned: PlannedLaunch, alone: Sequence[int]) -> str:
    operations = window.operations
    if all(operations[n].kind.operation.task == "FILL" for n in alone):
        return ", because fills cost Legate little"
    if planned.fused:
        return ", because other tasks or the program need the result too"
    if planned.nests:
        return ", because something failed before"
    return ""


def _looped_over(operation: Any) -> Sequence[Any]:
    """Return the views that an operation has a point for each element of.

    What is written has them; it may be less than what is read, as in sums of rows.
    """
    views = operation.views
    written = [
        view
        for privilege, view in zip(operation.privileges, views, strict=True)
        if privilege == WRITE
    ]
    return written or views


def _loop(window: Any, planned: PlannedLaunch, group: Grouping) -> LoopFacts:
    """Describe a group's loop; its extents are those of its largest operation."""
    views = [view for n in group.tasks for view in _looped_over(window.operations[n])]
    largest = max(views, key=lambda view: view.volume)
    members = set(group.tasks)
    # copies of what others still read belong to no operation
    copies = [nest for nest in planned.nests if not nest.nest.tasks]
    own = [nest for nest in planned.nests if nest not in copies]
    return LoopFacts(
        extents(largest.shape),
        tuple(group.tasks),
        group.refusal,
        (
            *(copies if group is planned.groups[0] else ()),
            *(nest for nest in own if members.issuperset(nest.nest.tasks)),
        ),
    )


def _fates(
    window: Any, names: Names, planned: PlannedLaunch
) -> Iterator[tuple[str, str]]:
    """Yield what becomes of the arrays that a fused task makes, and which they are."""
    views = window.views
    read = {
        view.root
        for n in planned.tasks
        for privilege, view in zip(
            window.operations[n].privileges, window.operations[n].views, strict=True
        )
        if privilege == READ
    }
    arguments = [views[number].root for number in planned.arguments]
    moved = [arguments[place] for place in planned.moved]
    scratch = [views[buffer.view].root for buffer in planned.scratch]
    scratch = [root for root in scratch if root not in arguments]
    dropped = [views[number].root for number in planned.temporaries]
    dropped = [root for root in dropped if root not in scratch]
    for text, found in (
        (
            "never stored, only passed on within a loop",
            [root for root in dropped if root in read],
        ),
        (
            "never computed, nobody reads it",
            [root for root in dropped if root not in read],
        ),
        ("in the task's own memory", scratch),
        ("moved to fresh memory, since others read what a point changes", moved),
    ):
        if found:
            yield text, names.roots(found)


def _moved_by_nests(window: Any, planned: PlannedLaunch) -> int:
    """Return the bytes of arrays that a fused task reads and writes.

    Of each array the largest part that is read, and the largest that is written,
    counts once; the task's own memory does not count.
    """
    largest: dict[tuple[Any, int], int] = {}
    for view, privilege in _arguments(window, planned):
        for access in (READ, WRITE):
            if privilege & access or privilege >= REDUCE:
                key = view.root, access
                largest[key] = max(largest.get(key, 0), _bytes(view))
    return sum(largest.values())


def _stored(window: Any, names: Names, planned: PlannedLaunch) -> str:
    """Return the names of the arrays that a fused task writes."""
    return names.roots(
        view.root
        for view, privilege in _arguments(window, planned)
        if privilege & WRITE or privilege >= REDUCE
    )


def _arguments(window: Any, planned: PlannedLaunch) -> Iterator[tuple[Any, int]]:
    """Yield views that a fused task reads or writes, with privileges, again and again.

    Those in the task's own memory are left out.
    """
    for nest in planned.nests:
        for place, access in zip(nest.operands, nest.nest.accesses, strict=True):
            if place >= 0:
                yield window.views[access.view.recorded], access.privilege
