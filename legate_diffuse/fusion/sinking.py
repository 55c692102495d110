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

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from legate_diffuse.fusion.cluster import conflicts
from legate_diffuse.fusion.legality import Group, refuse_any
from legate_diffuse.ir import IndexTask, Window


def sink(window: Window, groups: Sequence[Group]) -> tuple[Group, ...]:
    """Return the groups, with tasks that have moved to later ones.

    Only what runs in one process moves, and not past tasks that are not fused.
    """
    sunk = list(groups)
    bands = _bands(groups)
    arrays = [_arrays(group.members) for group in groups]
    for place in range(len(sunk)):
        for moved in _components(window, sunk[place]):
            target = _target(window, sunk, bands, arrays, place, moved)
            if target is not None:
                rest = set(sunk[place].tasks) - moved
                sunk[target] = _group(window, moved | set(sunk[target].tasks))
                sunk[place] = _group(window, rest)
                arrays[place] = _arrays(_tasks(window, rest))
                arrays[target] |= _arrays(_tasks(window, moved))
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


def _group(window: Window, positions: Iterable[int]) -> Group:
    return Group.of((n, window.tasks[n]) for n in sorted(positions))


def _components(window: Window, group: Group) -> Iterator[AbstractSet[int]]:
    """Yield tasks of a group that share arrays, if they change no single element."""
    if not (group.fused and all([task.single for task in group.members])):
        return
    rest = {n for n in group.tasks if _arrays([window.tasks[n]])}
    while rest:
        arrays = _arrays(_tasks(window, {min(rest)}))
        component: set[int] = set()
        while new := {n for n in rest if arrays & _arrays([window.tasks[n]])}:
            arrays |= _arrays(_tasks(window, new))
            component |= new
            rest -= new
        changed = [view for n in component for view in window.tasks[n].changes]
        if not any(view.store.replicated for view in changed):
            yield component


def _target(
    window: Window,
    groups: Sequence[Group],
    bands: Sequence[int],
    arrays: Sequence[AbstractSet[int]],
    place: int,
    moved: AbstractSet[int],
) -> int | None:
    """Return the group that tasks of another one move to, None if they stay."""
    own = _arrays(_tasks(window, moved))
    for number in range(len(groups)):
        if number == place or own.isdisjoint(arrays[number]):
            continue
        if bands[number] == bands[place]:
            return None
        if number > place:
            break
    else:
        return None
    between = [n for group in groups[place:number] for n in group.tasks]
    joined = {n: window.tasks[n] for n in sorted(moved | set(groups[number].tasks))}
    may_move = (
        all(group.fused for group in groups[place : number + 1])
        and not _conflict(window, moved, set(between) - moved)
        and refuse_any(Group(), joined) is None
    )
    return number if may_move else None


def _conflict(
    window: Window, moved: AbstractSet[int], others: AbstractSet[int]
) -> bool:
    """Whether some of others that come after moved ones must stay after them."""
    return any(
        other > before and conflicts(window.tasks[before], window.tasks[other])
        for other in others
        for before in moved
    )


def _tasks(window: Window, positions: Iterable[int]) -> list[IndexTask]:
    return [window.tasks[position] for position in positions]


def _arrays(tasks: Iterable[IndexTask]) -> set[int]:
    """Return the stores of tasks that are more than single elements."""
    return {
        access.view.store.id
        for task in tasks
        for access in task.accesses
        if not access.view.store.replicated
    }
