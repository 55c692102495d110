# SPDX-License-Identifier: Apache-2.0
"""What each task names, with which privileges, and what its nests find there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from legate_diffuse.fusion.launches import Launch
from legate_diffuse.fusion.liveness import Liveness
from legate_diffuse.fusion.lowering import LoweredNest
from legate_diffuse.fusion.plan import PlannedLaunch, PlannedNest
from legate_diffuse.fusion.renaming import Renaming
from legate_diffuse.ir import View, Window
from legate_diffuse.ir.nest import Program
from legate_diffuse.ir.privilege import OPERATORS, READ, REDUCE, WRITE
from legate_diffuse.ir.relations import covers_store


def plan_launch(
    window: Window,
    renaming: Renaming,
    launch: Launch,
    liveness: Liveness,
    nests: Sequence[LoweredNest],
    program: Program,
) -> PlannedLaunch:
    """Return what is to be submitted for a launch of a window.

    Args:
        window: the window as it was recorded, whose views the plan names.
        renaming: the same with new names, which all that follows is about.
        launch: the launch.
        liveness: what of it need not be written.
        nests: its kernels.
        program: their schedule.
    """
    if not launch.fused:
        return PlannedLaunch(
            launch.tasks, launch.groups, fused=False, deferrable=liveness.deferrable
        )
    if launch.partitioned:
        return _plan_partitioned(renaming.window, launch, liveness, nests, program)
    return _plan_whole(window, renaming, launch, liveness, nests, program)


def _plan_partitioned(
    window: Window,
    launch: Launch,
    liveness: Liveness,
    nests: Sequence[LoweredNest],
    program: Program,
) -> PlannedLaunch:
    (dead,) = liveness.nests
    planned = PlannedLaunch(
        launch.tasks,
        launch.groups,
        partitioned=True,
        hoisted=dead.hoisted,
        late=dead.late,
        deferrable=liveness.deferrable,
        temporaries=_views_of(window, launch, dead.dropped),
    )
    for lowered, band in zip(nests, program.bands, strict=True):
        (turn,) = band.turns
        operands = tuple(range(len(lowered.arguments)))
        planned.nests = [PlannedNest(lowered, operands=operands, turn=turn)]
        planned.bands = (1,)
        planned.arguments = lowered.arguments
        planned.privileges = bytes(
            privilege + OPERATORS[argument.reduces] if argument.reduces else privilege
            for privilege, argument in zip(
                lowered.privileges, lowered.kernel.arguments, strict=True
            )
        )
    return planned


def _plan_whole(
    window: Window,
    renaming: Renaming,
    launch: Launch,
    liveness: Liveness,
    nests: Sequence[LoweredNest],
    program: Program,
) -> PlannedLaunch:
    turns = [turn for band in program.bands for turn in band.turns]
    nests = [nests[turn.nest.number] for turn in turns]
    views = {view.id: view for view in renaming.window.views}
    users = _Users(liveness.scratch, liveness.undefined)
    for number, nest in enumerate(nests):
        users.add(number, nest, views)
    places = users.places()
    circular = dict(each for band in program.bands for each in band.circular)
    layouts = renaming.layouts
    planned = [
        PlannedNest(
            replace(
                nest,
                arguments=tuple(layouts.get(view, view) for view in nest.arguments),
            ),
            operands=tuple(places[views[view].store.id] for view in nest.arguments),
            turn=turn,
        )
        for nest, turn in zip(nests, turns, strict=True)
    ]
    # of each store one view that shows it, and not a copy of it
    shown = {view.store.id: view.id for view in reversed(window.views)}
    dropped: frozenset[int] = frozenset().union(
        liveness.scratch, *(nest.dropped for nest in liveness.nests)
    )
    replaced = {view.store.id for view in window.views if not view.store.live} - {
        view.store.id for view in renaming.window.views
    }
    return PlannedLaunch(
        launch.tasks,
        launch.groups,
        nests=planned,
        temporaries=_views_of(
            window, launch, (dropped | replaced) - set(users.arguments)
        ),
        arguments=tuple(shown[store] for store in users.arguments),
        privileges=bytes(a.privilege for a in users.arguments.values()),
        scratch=tuple(
            (layouts.get(view, view), first, last)
            for view, first, last in users.scratch.values()
        ),
        circular=tuple(circular.get(store) for store in users.scratch),
        bands=tuple(len(band.turns) for band in program.bands),
    )


@dataclass(slots=True)
class _RootAccess:
    """A root that a program names; ``covered`` once all of it is written."""

    privilege: int = 0
    covered: bool = False


class _Users:
    """Which nests of a program use which stores, and how."""

    def __init__(self, in_scratch: frozenset[int], undefined: frozenset[int]) -> None:
        self.arguments: dict[int, _RootAccess] = {}
        self.scratch: dict[int, list[int]] = {}
        self._in_scratch = in_scratch
        self._undefined = undefined

    def add(self, number: int, lowered: LoweredNest, views: Mapping[int, View]) -> None:
        accesses = [(views[view], privilege) for view, privilege in lowered.accesses]
        for view, privilege in accesses:
            store = view.store.id
            if store in self._in_scratch:
                self.scratch.setdefault(store, [view.id, number, number])[2] = number
            else:
                argument = self.arguments.setdefault(store, _RootAccess())
                _use(argument, privilege, self._covers(view))
        for view, privilege in accesses:
            # reading through another view comes before what the nest writes
            if privilege & (WRITE | REDUCE) and view.store.id in self.arguments:
                argument = self.arguments[view.store.id]
                argument.covered |= self._covers(view)

    def _covers(self, view: View) -> bool:
        """Whether writing a root through a view loses nothing of the root."""
        return covers_store(view) or view.store.id in self._undefined

    def places(self) -> dict[int, int]:
        """Return by store the number of its root among arguments or scratch buffers."""
        arguments = {store: place for place, store in enumerate(self.arguments)}
        return arguments | {store: ~place for place, store in enumerate(self.scratch)}


def _use(argument: _RootAccess, privilege: int, covers: bool) -> None:
    """Add a nest's privilege to a root's.

    A root that a nest writes in part must be read as well, or the rest of it would be
    lost, unless it has no contents yet.
    """
    covered = argument.covered
    if privilege & (READ | REDUCE) and not covered:
        argument.privilege |= READ
    if privilege & (WRITE | REDUCE):
        argument.privilege |= WRITE
        if not (covered or covers):
            argument.privilege |= READ


def _views_of(
    window: Window, launch: Launch, stores: AbstractSet[int]
) -> tuple[int, ...]:
    """Return a view of each store that the tasks of a launch change."""
    views = {
        view.store.id: view.id
        for position in launch.tasks
        for view in window.tasks[position].changes
    }
    return tuple(views[store] for store in sorted(stores) if store in views)
