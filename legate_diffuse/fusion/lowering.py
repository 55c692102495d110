# SPDX-License-Identifier: Apache-2.0
"""Lowers the tasks of one loop nest to one kernel.

Values pass from task to task in registers. The kernel loads what was there before,
and stores what is live after the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from legate_diffuse.fusion.legality import value_key
from legate_diffuse.ir import Access, IndexTask, OperationKind, Points, Privilege, View
from legate_diffuse.ir.nest import (
    ConstantSource,
    Nest,
    ScalarSource,
    TaskScalarSource,
    over,
)
from legate_diffuse.ir.region import REPEATED
from legate_diffuse.ir.relations import distance
from legate_diffuse.ir.task import ALL
from legate_diffuse.kernel import Argument, Builder, Kernel, Value

_Key = tuple[str, int]
_WHOLE: Final = "whole"

Lower = Callable[[OperationKind, Builder, list[Value]], list[Value]]


def lower_nest(
    tasks: Mapping[int, IndexTask],
    dropped: frozenset[int],
    lower: Lower | None,
    *,
    scalar: bool = False,
) -> Nest | None:
    """Return a loop nest with its kernel, None if nothing of it is needed.

    What is written comes first, then what is reduced to.

    Args:
        tasks: the nest's tasks by position, in program order.
        dropped: ids of the stores that need not be written.
        lower: emits one operation, see ``Meanings``; without it there is no kernel.
        scalar: the nest is scalar work that runs by itself, and writes its results.
    """
    nest = _Tasks(tasks, dropped, scalar)
    needed = nest.needed()
    accesses = nest.accesses(needed.values())
    if not any(access.changes for access in accesses.values()):
        return None
    shapes = {task.shape for task in needed.values() if not task.scalar}
    (shape,) = shapes or {next(iter(needed.values())).shape}
    # one-element stores may have another shape
    views = [access.view for access in accesses.values()]
    like = next((view for view in views if view.shape == shape), views[0])
    found = Nest(
        0,
        shape,
        like.points,
        tuple([over(like, access) for access in accesses.values()]),
        tasks=tuple(tasks),
    )
    if lower is None:
        return found
    scalars = _scalars(needed)
    kernel = _kernel(needed, _arguments(accesses, like.points), scalars, lower)
    return replace(found, kernel=kernel, scalars=tuple(scalars))


def _arguments(accesses: Mapping[_Key, Access], points: Points) -> dict[_Key, Argument]:
    """Return the arguments of the kernel of a nest over so many points."""
    streams = _streams([a.view for a in accesses.values() if a.reads and not a.whole])
    inner = _innermost([a.view for a in accesses.values()])
    # loops that are so short are joined, or change places
    is_short = points is Points.SHORT and inner == -1
    return {
        key: Argument(
            view.store.dtype,
            reads=access.reads,
            writes=bool(access.privilege & Privilege.WRITE),
            broadcast=not whole and _stands(access, inner, is_short=is_short),
            reduces=access.operator if access.privilege is Privilege.REDUCE else None,
            prefetch=not whole and access.reads and view.id in streams,
            whole=whole,
        )
        for key, access in accesses.items()
        for view, whole in [(access.view, access.whole)]
    }


def _stands(access: Access, inner: int, *, is_short: bool) -> bool:
    """Whether all points of a row find one element, as is known before they run.

    Rows over which an array is reduced may be so short that loops change places.
    """
    view = access.view
    if view.store.replicated:
        return True
    if access.privilege is Privilege.REDUCE:
        return False
    if is_short:
        return all(dim < 0 for dim in view.dims)
    return view.dims[inner:][:1] == (REPEATED,)


def _innermost(views: Sequence[View]) -> int:
    """Return which loop is the innermost one when the nest runs, from the last one on.

    It is the last one along the memory of the first of the views that move along most
    loops, or one along which that repeats; see ``Loops`` (mappers/program/loops.h).
    """
    leader = max(views, key=lambda view: sum(dim >= 0 for dim in view.dims))
    # those along which it repeats come last
    order = [dim if dim >= 0 else len(leader.dims) for dim in leader.dims]
    return -1 - order[::-1].index(max(order)) if order else -1


def _kernel(
    tasks: Mapping[int, IndexTask],
    arguments: Mapping[_Key, Argument],
    scalars: Mapping[ScalarSource, str],
    lower: Lower,
) -> Kernel:
    """Return the kernel of tasks, whose arguments and scalars are known."""
    builder = Builder(tuple(arguments.values()), tuple(scalars.values()))
    position = {key: number for number, key in enumerate(arguments)}
    scalar = {source: number for number, source in enumerate(scalars)}
    values: dict[_Key, Value] = {}

    def value_of(key: _Key, view: View) -> Value:
        if key not in values:
            constant = scalar.get(ConstantSource(view.id))
            values[key] = (
                builder.load(position[key])
                if constant is None
                else builder.scalar(constant)
            )
        return values[key]

    for number, task in tasks.items():
        operands = [value_of(*each) for each in _operands(task)]
        own = _own_scalars(number, task)
        operands += [builder.scalar(scalar[source]) for source in own]
        results = lower(task.kind, builder, operands)
        values |= zip([key for key, _ in _results(task)], results, strict=True)
    for key, argument in arguments.items():
        if argument.writes:
            builder.store(position[key], values[key])
        elif argument.reduces:
            builder.reduce(position[key], values[key])
    return builder.build()


def _streams(views: Sequence[View]) -> set[int]:
    """Return which views should be prefetched.

    With as few streams as a nest has, a processor does not use its full bandwidth, and
    the rows of a block are short. A view that is behind another one in the same row
    finds what that one has asked for.
    """
    of_store: dict[int, list[View]] = {}
    for view in views:
        of_store.setdefault(view.store.id, []).append(view)
    return {
        view.id
        for several in of_store.values()
        for view in several
        if view.points.several
        and not (view.broadcast or view.store.replicated)
        and not any(_is_ahead(other, view) for other in several)
    }


def _is_ahead(one: View, other: View) -> bool:
    """Whether a view shows elements of the same row, after those of another one."""
    apart = distance(other, one)
    if apart is None or not one.dims or one.dims[-1] < 0:
        return False
    along = one.dims[-1]
    return apart[along] > 0 and not any(apart[:along] + apart[along + 1 :])


def _operands(task: IndexTask) -> list[tuple[_Key, View]]:
    """Return what a task reads, each with what holds its value."""
    return [
        ((_WHOLE, a.view.id) if a.whole else value_key(a.view), a.view)
        for a in task.accesses
        if a.privilege is Privilege.READ
    ]


def _results(task: IndexTask) -> list[tuple[_Key, View]]:
    """Return what a task computes, in order, each with what holds its value."""
    return [(value_key(view), view) for view in task.writes] + [
        (_reduction_key(access), access.view) for access in task.reductions
    ]


def _reduction_key(access: Access) -> _Key:
    return "reduction", access.view.store.id


@dataclass(frozen=True, slots=True)
class _Tasks:
    """The tasks of a nest, and what decides whether a result is stored."""

    tasks: Mapping[int, IndexTask]
    dropped: frozenset[int]
    scalar: bool

    def needed(self) -> dict[int, IndexTask]:
        """Return by position, in program order, the tasks that the results need.

        A result is needed if it outlives the nest or a later needed task reads it,
        and no task in between overwrites it.
        """
        wanted = {
            key
            for task in self.tasks.values()
            for key, view in _results(task)
            if self._outlives(task, view)
        }
        needed: dict[int, IndexTask] = {}
        for number, task in reversed(list(self.tasks.items())):
            results = {key for key, _ in _results(task)}
            if not wanted.isdisjoint(results):
                needed[number] = task
                wanted -= results
                wanted.update(key for key, _ in _operands(task))
        return dict(reversed(needed.items()))

    def accesses(self, tasks: Iterable[IndexTask]) -> dict[_Key, Access]:
        """Return what the kernel must store, reduce to, and load, in this order."""
        reads: dict[_Key, Access] = {}
        writes: dict[_Key, Access] = {}
        reductions: dict[_Key, Access] = {}
        produced: set[_Key] = set()
        for task in tasks:
            for key, view in _operands(task):
                if key not in produced and not view.store.constant:
                    operator = ALL if key[0] == _WHOLE else ""
                    reads[key] = Access(Privilege.READ, view, operator)
            for view in task.writes:
                produced.add(key := value_key(view))
                if self._outlives(task, view):
                    writes[key] = Access(Privilege.WRITE, view)
            for access in task.reductions:
                if self._outlives(task, access.view):
                    reductions[_reduction_key(access)] = access
        for key in writes.keys() & reads.keys():
            writes[key] = replace(writes[key], privilege=Privilege.READ_WRITE)
        return {**writes, **reductions, **reads, **writes}

    def _outlives(self, task: IndexTask, view: View) -> bool:
        """Whether the kernel writes a result; folded scalar work is hoisted instead."""
        if task.scalar and not self.scalar:
            return False
        return view.store.id not in self.dropped


def _scalars(tasks: Mapping[int, IndexTask]) -> dict[ScalarSource, str]:
    """Return where each kernel scalar comes from, and its type."""
    dtypes_of: dict[ScalarSource, str] = {}
    constants: set[_Key] = set()
    for number, task in tasks.items():
        for view in task.reads:
            if view.store.constant and value_key(view) not in constants:
                constants.add(value_key(view))
                dtypes_of[ConstantSource(view.id)] = view.store.dtype
        dtypes = (*task.kind.inputs, *task.kind.scalars)[len(task.reads) :]
        for source, dtype in zip(_own_scalars(number, task), dtypes, strict=True):
            dtypes_of[source] = dtype
    return dtypes_of


def _own_scalars(number: int, task: IndexTask) -> list[ScalarSource]:
    count = len(task.kind.inputs) + len(task.kind.scalars) - len(task.reads)
    return [TaskScalarSource(number, position - count) for position in range(count)]
