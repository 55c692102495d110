# SPDX-License-Identifier: Apache-2.0
"""Sinking: tasks run later, where others touch the same arrays.

    q = A p;  s = p . q                   band 0
    x += a p                              band 1, where nobody else needs x or p
    r -= a q;  t = r . r                  band 1
    p = r + b p                           band 2, and x += a p from now on

What needs the result of a reduction begins another band (``schedule.py``), which finds
its arrays in memory. Tasks of a group that share no array with anybody in their band
cost a pass over all of theirs. They move to the next group that touches one of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from legate_diffuse.fusion.cluster import conflicts
from legate_diffuse.fusion.legality import Group, refuse_any
from legate_diffuse.ir import IndexTask

_Tasks = dict[int, IndexTask]


def sink(groups: Sequence[Group]) -> tuple[Group, ...]:
    """Return the groups, with tasks that have moved to later ones.

    Only what runs in one process moves, and not past tasks that are not fused.
    """
    if len(groups) < 2:
        return tuple(groups)
    sunk = list(groups)
    bands = _bands(groups)
    for place in range(len(sunk)):
        for moved in _components(sunk[place]):
            target = _target(sunk, bands, place, moved)
            if target is not None:
                stays = _without(sunk[place].by_position, moved)
                joined = {**sunk[target].by_position, **moved}
                sunk[place], sunk[target] = _group(stays), _group(joined)
    return tuple([group for group in sunk if group.tasks])


def _bands(groups: Sequence[Group]) -> list[int]:
    """Return in which band each group is, as far as reductions tell."""
    bands = [0]
    reduced: set[int] = set()
    for group in groups:
        again = not reduced.isdisjoint(group.touched)
        if again:
            reduced.clear()
        bands.append(bands[-1] + again)
        reduced.update(
            access.view.store.id
            for task in group.members
            for access in task.reductions
            if access.view.store.replicated
        )
    return bands[1:]


def _group(tasks: _Tasks) -> Group:
    return Group.of((n, tasks[n]) for n in sorted(tasks))


def _without(tasks: _Tasks, others: Mapping[int, IndexTask]) -> _Tasks:
    return {n: task for n, task in tasks.items() if n not in others}


def _components(group: Group) -> Iterator[_Tasks]:
    """Yield tasks of a group that share arrays, if they change no single element."""
    if not (group.fused and all([task.single for task in group.members])):
        return
    rest = {n: task for n, task in group.by_position.items() if task.arrays}
    while rest:
        arrays = set(rest[min(rest)].arrays)
        component: _Tasks = {}
        while new := {n: t for n, t in rest.items() if arrays & t.arrays}:
            arrays.update(*[task.arrays for task in new.values()])
            component |= new
            rest = _without(rest, new)
        changed = [view for task in component.values() for view in task.changes]
        if not any(view.store.replicated for view in changed):
            yield component


def _target(
    groups: Sequence[Group], bands: Sequence[int], place: int, moved: _Tasks
) -> int | None:
    """Return the group that tasks of another one move to, None if they stay."""
    own = set().union(*[task.arrays for task in moved.values()])
    for number, group in enumerate(groups):
        if number == place or own.isdisjoint(group.arrays):
            continue
        if bands[number] == bands[place]:
            return None
        if number > place:
            break
    else:
        return None
    if not all(group.fused for group in groups[place : number + 1]):
        return None
    for passed in groups[place:number]:
        if _conflict(moved, _without(passed.by_position, moved)):
            return None
    joined = {**groups[number].by_position, **moved}
    in_order = {n: joined[n] for n in sorted(joined)}
    return number if refuse_any(Group(), in_order) is None else None


def _conflict(moved: _Tasks, others: _Tasks) -> bool:
    """Whether some of others that come after moved ones must stay after them."""
    return any(
        position > before and conflicts(task, other)
        for position, other in others.items()
        for before, task in moved.items()
    )
