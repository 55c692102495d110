# SPDX-License-Identifier: Apache-2.0
"""Lowers a group of index tasks to one kernel.

Values flow from task to task in registers; only what outlives the group is
stored, and only what was there before is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from legate_diffuse.ir import IndexTask, View
from legate_diffuse.kernel import Argument, Builder, Kernel, Value
from legate_diffuse.ops.registry import OperationKind

Lower = Callable[[OperationKind, Builder, list[Value]], list[Value]]

READ = 1
WRITE = 2


@dataclass(frozen=True, slots=True)
class ConstantSource:
    """A kernel scalar that is the value of a constant store."""

    view: int


@dataclass(frozen=True, slots=True)
class TaskScalarSource:
    """A kernel scalar that is a scalar argument of one of the group's tasks.

    ``position`` counts from the end of the task's scalar arguments, because
    the first ones are part of the operation's kind.
    """

    task: int
    position: int


ScalarSource = ConstantSource | TaskScalarSource


@dataclass(frozen=True, slots=True)
class LoweredGroup:
    """A kernel, and what its arguments and scalars are.

    ``arguments`` are view ids, ``privileges`` one byte for each: 1 reads,
    2 writes, 3 both. The first argument is written, so its shape is the launch
    domain; one-element stores may be named by a view of another shape.
    """

    kernel: Kernel
    arguments: tuple[int, ...]
    privileges: bytes
    scalars: tuple[ScalarSource, ...]


def lower_group(
    tasks: Sequence[IndexTask], dropped: frozenset[int], lower: Lower
) -> LoweredGroup | None:
    """Return the kernel of a group, None if nothing of it outlives the group.

    Args:
        tasks: the group's tasks, in program order.
        dropped: ids of the stores that need not be written.
        lower: emits one operation, see ``legate_diffuse.ops``.
    """
    needed = _needed(tasks, dropped)
    reads, writes = _arguments(needed.values(), dropped)
    if not writes:
        return None
    views = {**writes, **reads}
    positions = {key: position for position, key in enumerate(views)}
    arguments = tuple(
        Argument(
            view.store.dtype,
            reads=key in reads,
            writes=key in writes,
            broadcast=view.broadcast or view.store.replicated,
        )
        for key, view in views.items()
    )
    sources, dtypes = _scalars(needed)
    builder = Builder(arguments, dtypes)
    scalar_index = {source: index for index, source in enumerate(sources)}
    values: dict[_Key, Value] = {}

    def value_of(view: View) -> Value:
        key = _key(view)
        if key not in values:
            source = ConstantSource(view.id)
            values[key] = (
                builder.scalar(scalar_index[source])
                if source in scalar_index
                else builder.load(positions[key])
            )
        return values[key]

    for number, task in needed.items():
        operands = [value_of(view) for view in task.reads]
        operands += [
            builder.scalar(scalar_index[source])
            for source in _own_scalars(number, task)
        ]
        results = lower(task.kind, builder, operands)
        for view, result in zip(task.writes, results, strict=True):
            values[_key(view)] = result
    for key in writes:
        builder.store(positions[key], values[key])
    return LoweredGroup(
        builder.build(),
        tuple(view.id for view in views.values()),
        bytes(
            (READ if key in reads else 0) | (WRITE if key in writes else 0)
            for key in views
        ),
        sources,
    )


_Key = tuple[str, int]


def _key(view: View) -> _Key:
    """Return what has one value at each point: a view, or a one-element store."""
    if view.store.replicated:
        return "store", view.store.id
    return "view", view.id


def _needed(
    tasks: Sequence[IndexTask], dropped: frozenset[int]
) -> dict[int, IndexTask]:
    """Return by position, in program order, the tasks that the kernel's results need.

    A result is needed if it outlives the group or a later needed task reads it,
    and no task in between overwrites it.
    """
    wanted = {
        _key(view) for task in tasks for view in task.writes if _outlives(view, dropped)
    }
    needed: dict[int, IndexTask] = {}
    for number, task in reversed(list(enumerate(tasks))):
        results = {_key(view) for view in task.writes}
        if results & wanted:
            needed[number] = task
            wanted -= results
            wanted.update(_key(view) for view in task.reads)
    return dict(reversed(needed.items()))


def _outlives(view: View, dropped: frozenset[int]) -> bool:
    """Whether the kernel writes a result; scalar work is hoisted for that."""
    return view.store.id not in dropped and not view.store.replicated


def _arguments(
    tasks: Iterable[IndexTask], dropped: frozenset[int]
) -> tuple[dict[_Key, View], dict[_Key, View]]:
    """Return the views that the kernel must load and those that it must store."""
    reads: dict[_Key, View] = {}
    writes: dict[_Key, View] = {}
    produced: set[_Key] = set()
    for task in tasks:
        for view in task.reads:
            if _key(view) not in produced and not view.store.constant:
                reads[_key(view)] = view
        for view in task.writes:
            produced.add(_key(view))
            if _outlives(view, dropped):
                writes[_key(view)] = view
    return reads, writes


def _scalars(
    tasks: Mapping[int, IndexTask],
) -> tuple[tuple[ScalarSource, ...], tuple[str, ...]]:
    """Return where each kernel scalar comes from, and its type."""
    found: dict[ScalarSource, str] = {}
    constants: set[_Key] = set()
    for number, task in tasks.items():
        for view in task.reads:
            if view.store.constant and _key(view) not in constants:
                constants.add(_key(view))
                found[ConstantSource(view.id)] = view.store.dtype
        dtypes = (*task.kind.inputs, *task.kind.scalars)[len(task.reads) :]
        for source, dtype in zip(_own_scalars(number, task), dtypes, strict=True):
            found[source] = dtype
    return tuple(found), tuple(found.values())


def _own_scalars(number: int, task: IndexTask) -> list[ScalarSource]:
    count = len(task.kind.inputs) + len(task.kind.scalars) - len(task.reads)
    return [TaskScalarSource(number, position - count) for position in range(count)]
