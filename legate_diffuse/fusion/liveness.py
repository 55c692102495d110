# SPDX-License-Identifier: Apache-2.0
"""Finds the stores that need not exist (Diffuse, section 5.2).

A store is temporary in a launch if it is dead after the window, no later launch of
the window touches it, and the launch writes all that it reads of it. If one loop nest
does all of that, through the view that was written, the store lives in registers. Else
it lives in scratch memory of the task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from legate_diffuse.fusion.launches import Launch
from legate_diffuse.fusion.legality import is_late, value_key
from legate_diffuse.ir import IndexTask, Privilege, Window
from legate_diffuse.ir.region import WHOLE
from legate_diffuse.ir.relations import Uncovered, covers_store
from legate_diffuse.ir.task import first_accesses, in_order, read_before_changed


@dataclass(frozen=True, slots=True)
class NestLiveness:
    """What a loop nest need not write, and what must run before and after it.

    ``dropped`` are the ids of stores that are dead after the nest. ``hoisted`` are the
    positions of folded scalar tasks whose results are needed outside of the nest, or
    that initialise its reductions. ``late`` are those that must not run before the
    nest, as they change what it reads. Both have nests of their own in the program.
    """

    dropped: frozenset[int] = frozenset()
    hoisted: tuple[int, ...] = ()
    late: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Liveness:
    """What the nests of a launch need not write.

    ``scratch`` are the ids of stores that live in the task's scratch memory.
    ``hoisted`` and ``late`` are the positions of scalar tasks that also run by
    themselves, before and after points run the nests. ``deferrable`` are the positions
    of scalar tasks whose results only the application can read: they may wait until it
    does, or until the results are dead. ``undefined`` are the ids of stores to which
    nothing was written before the launch, ``incomplete`` those of which nobody knows
    that the window has written all by then. ``last`` are those which points change, and
    nobody uses afterwards.
    """

    nests: tuple[NestLiveness, ...]
    scratch: frozenset[int] = frozenset()
    hoisted: tuple[int, ...] = ()
    late: tuple[int, ...] = ()
    deferrable: tuple[int, ...] = ()
    undefined: frozenset[int] = frozenset()
    incomplete: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()


def analyse_liveness(
    window: Window, launches: Sequence[Launch]
) -> tuple[Liveness, ...]:
    """Return what each launch need not write."""
    liveness: list[Liveness] = []
    later = _Later()
    unwritten = _unwritten(window, launches)
    for launch, before in zip(reversed(launches), reversed(unwritten), strict=True):
        if launch.fused:
            liveness.append(_analyse_fused(window, launch, later, *before))
        else:
            # a scalar task that runs by itself may wait
            alone = launch.tasks if launch.groups[0].fused else ()
            may_wait = _deferrable(window, launch, alone, later)
            nothing = tuple(NestLiveness() for _ in launch.groups)
            liveness.append(Liveness(nothing, deferrable=may_wait))
        for position in launch.tasks:
            waits = position in liveness[-1].deferrable
            later.add(window.tasks[position], waits=waits, folded=launch.fused)
        later.touched -= _computed(window, launch.tasks)
    return tuple(reversed(liveness))


def _unwritten(
    window: Window, launches: Sequence[Launch]
) -> list[tuple[frozenset[int], frozenset[int]]]:
    """Return for each launch what nothing, and not all, was written of before it.

    The latter only if points of a launch may have to copy it.
    """
    unwritten = []
    undefined = frozenset(store.id for store in window.stores if store.undefined)
    incomplete = undefined if any(each.tiled for each in launches) else frozenset()
    left: dict[int, Uncovered] = {}
    for launch in launches:
        unwritten.append((undefined, incomplete - undefined))
        changes = [v for n in launch.tasks for v in window.tasks[n].changes]
        undefined -= {view.store.id for view in changes}
        complete = set()
        for view in changes:
            store = view.store.id
            if store in incomplete and view.region is not None:
                if store not in left:
                    all_ = (WHOLE,) * len(view.region)
                    left[store] = Uncovered(replace(view, id=-1, region=all_))
                left[store].take(view)
                if left[store].nothing:
                    complete.add(store)
        incomplete -= complete
    return unwritten


def _computed(window: Window, positions: Sequence[int]) -> set[int]:
    """Return the dead single elements that tasks compute before they use them."""
    tasks = [window.tasks[position] for position in positions]
    if not any([task.scalar and task.writes for task in tasks]):
        return set()
    return {
        store
        for store, access in first_accesses(tasks).items()
        if access.privilege is Privilege.WRITE
        and access.view.store.replicated
        and not access.view.store.live
    }


@dataclass(slots=True)
class _Later:
    """The stores that later launches use and change, deferred tasks aside."""

    touched: set[int] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)
    # the stores of deferred tasks, which may run at any time
    deferred: set[int] = field(default_factory=set)

    def add(self, task: IndexTask, *, waits: bool, folded: bool) -> None:
        """Take in a task.

        A folded task is computed in its nest even if it waits. If there is no kernel
        yet, it runs at once, with the tasks of its launch.
        """
        if waits:
            self.deferred |= task.stores
        if folded or not waits:
            self.touched |= task.stores
            self.changed |= task.changed

    def can_wait(self, task: IndexTask) -> bool:
        """Whether a scalar task may run after all later launches."""
        return (
            task.scalar
            and task.written.isdisjoint(self.touched)
            and task.stores.isdisjoint(self.changed)
        )


def _analyse_fused(
    window: Window,
    launch: Launch,
    later: _Later,
    undefined: frozenset[int],
    incomplete: frozenset[int],
) -> Liveness:
    nests: list[NestLiveness] = []
    touched_later = later.touched | later.deferred
    touched = set(touched_later)
    for group in reversed(launch.groups):
        nests.append(_analyse_nest(window, group.tasks, touched))
        for position in group.tasks:
            touched |= window.tasks[position].stores
        touched -= _computed(window, group.tasks)
    nests.reverse()
    hoisted: list[int] = []
    late: list[int] = []
    deferrable: tuple[int, ...] = ()
    scratch: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    if launch.partitioned:
        # no point writes single elements
        hoisted = sorted({n for nest in nests for n in nest.hoisted})
        late = sorted({n for nest in nests for n in nest.late})
        alone = sorted({*hoisted, *late})
        # another nest may compute the same, and need not store it
        stored = {view.store.id for n in alone for view in window.tasks[n].writes}
        nests = [NestLiveness(nest.dropped - stored) for nest in nests]
        deferrable = _deferrable(window, launch, alone, later)
    if launch.tiled or not launch.partitioned:
        scratch = _scratch(window, launch, touched_later, undefined)
    if launch.tiled:
        last = _dead(window, launch, touched_later) - scratch
    return Liveness(
        tuple(nests),
        scratch,
        tuple(hoisted),
        tuple(late),
        deferrable,
        undefined,
        incomplete,
        last,
    )


def _dead(window: Window, launch: Launch, touched_later: set[int]) -> frozenset[int]:
    """Return the arrays that a launch changes, and nobody uses afterwards."""
    changed = (view.store for n in launch.tasks for view in window.tasks[n].changes)
    return frozenset(
        store.id
        for store in changed
        if not (store.live or store.replicated or store.id in touched_later)
    )


def _analyse_nest(
    window: Window, positions: Sequence[int], touched_later: set[int]
) -> NestLiveness:
    tasks = {position: window.tasks[position] for position in positions}
    live: set[int] = set()
    # stores that the nest reads as they were, and stores that it changes
    read: set[int] = set()
    changed: set[int] = set()
    written: set[tuple[str, int]] = set()
    for task in tasks.values():
        for access in in_order(task):
            store = access.view.store
            if store.live:
                live.add(store.id)
            if access.privilege is not Privilege.READ:
                changed.add(store.id)
                written.add(value_key(access.view))
            elif value_key(access.view) not in written:
                read.add(store.id)
    needed = live | touched_later
    alone: set[int] = set()
    for position in reversed(positions):
        task = tasks[position]
        if task.scalar and any(v.store.id in needed for v in task.writes):
            alone.add(position)
            needed |= task.read
    dropped = frozenset(changed - needed - read)
    return NestLiveness(dropped, *_before_and_after(tasks, alone))


def _before_and_after(
    tasks: Mapping[int, IndexTask], alone: set[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return which of the tasks that also run by themselves come before the nest."""
    before: list[int] = []
    after: list[int] = []
    touched: set[int] = set()
    late: set[int] = set()
    for position, task in tasks.items():
        if position in alone and is_late(task, touched, late):
            after.append(position)
            late |= task.written
        elif position in alone:
            before.append(position)
        touched |= task.stores
    return tuple(before), tuple(after)


def _deferrable(
    window: Window, launch: Launch, hoisted: Sequence[int], later: _Later
) -> tuple[int, ...]:
    """Return the hoisted tasks that may wait, with all that depends on them."""
    waiting: list[int] = []
    reduced = {
        access.view.store.id
        for position in launch.tasks
        for access in window.tasks[position].reductions
    }
    # what one nest computes, and another one is given
    passed = {
        store
        for group in launch.groups
        if launch.tiled
        for store in read_before_changed([window.tasks[n] for n in group.tasks])
    }
    after = _Later(later.touched | reduced | passed, later.changed | reduced)
    for position in reversed(hoisted):
        task = window.tasks[position]
        if position >= window.carried and after.can_wait(task):
            waiting.append(position)
        else:
            after.add(task, waits=False, folded=True)
    return tuple(reversed(waiting))


def _scratch(
    window: Window, launch: Launch, touched_later: set[int], undefined: frozenset[int]
) -> frozenset[int]:
    """Return the stores that only a program's own nests touch.

    The program has written what it reads of them, or nobody has.
    """
    tasks = [window.tasks[n] for group in launch.groups for n in group.tasks]
    # single elements that points use are computed before them
    return frozenset(
        store
        for store, access in first_accesses(tasks).items()
        if access.privilege is Privilege.WRITE
        and not access.view.store.live
        and store not in touched_later
        and (store in undefined or covers_store(access.view))
        and not (launch.partitioned and access.view.store.replicated)
    )
