# SPDX-License-Identifier: Apache-2.0
"""What each task names, with which privileges, and what its nests find there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from legate_diffuse.fusion.in_place import written_in_place
from legate_diffuse.fusion.launches import Launch
from legate_diffuse.fusion.liveness import Liveness
from legate_diffuse.fusion.localized import Localized
from legate_diffuse.fusion.lowering import LoweredNest, Part
from legate_diffuse.fusion.plan import PlannedLaunch, PlannedNest, PlannedRun
from legate_diffuse.fusion.renaming import Renaming
from legate_diffuse.fusion.root_users import RootUsers
from legate_diffuse.fusion.rows import row_runs
from legate_diffuse.fusion.tile_nests import Tiles, place_nests
from legate_diffuse.fusion.tiles import tile
from legate_diffuse.ir import Window
from legate_diffuse.ir.distance import Landmark, Rows
from legate_diffuse.ir.nest import Nest, Program
from legate_diffuse.ir.privilege import OPERATORS, READ
from legate_diffuse.kernel.ir import RowProgram


def plan_launch(
    window: Window,
    renaming: Renaming,
    launch: Launch,
    liveness: Liveness,
    localized: Localized,
    program: Program,
    runs_rows: bool,
) -> PlannedLaunch | None:
    """Return what is to be submitted for a launch of a window.

    None if its points cannot divide it.

    Args:
        window: the window as it was recorded, whose views the plan names.
        renaming: the same with new names, which all that follows is about.
        launch: the launch.
        liveness: what of it need not be written.
        localized: the nests that it runs.
        program: their schedule.
        runs_rows: whether some of them may run as a whole on one row after the other.
    """
    if not launch.fused:
        return PlannedLaunch(
            launch.tasks, launch.groups, fused=False, deferrable=liveness.deferrable
        )
    if launch.partitioned and not launch.tiled:
        return _plan_partitioned(renaming.window, launch, liveness, localized, program)
    return _plan_whole(
        window, renaming, launch, liveness, localized, program, runs_rows
    )


def _plan_partitioned(
    window: Window,
    launch: Launch,
    liveness: Liveness,
    localized: Localized,
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
    for lowered, band in zip(localized.nests, program.bands, strict=True):
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
    localized: Localized,
    program: Program,
    runs_rows: bool,
) -> PlannedLaunch | None:
    turns = [turn for band in program.bands for turn in band.turns]
    nests = [localized.nests[turn.nest.number] for turn in turns]
    views, origins = localized.views, localized.origins
    scratch = liveness.scratch | localized.scratch
    circular = dict(each for band in program.bands for each in band.circular)
    users = RootUsers(
        scratch,
        liveness.undefined | origins.keys(),
        {} if launch.tiled else written_in_place(program, scratch, circular),
        tiled=launch.tiled,
    )
    for number, nest in enumerate(nests):
        users.add(number, nest, views)
    layouts = {
        number: renaming.layouts.get(shown, shown)
        for number, shown in ((n, localized.shown.get(n, n)) for n in views)
    }
    tiling, again = None, []
    if launch.tiled and nests:
        tiles = _placed_in_turns(localized, [turn.nest for turn in turns])
        if tiles is None:
            return None
        stores = {view.store.id: view.store for view in views.values()}
        tiling = tile(
            tiles,
            tuple(users.arguments),
            [stores[store] for store in users.scratch],
            stores,
            origins,
        )
        if tiling is None:
            return None
        if tiling.again is not None:
            again.append(list(users.arguments)[tiling.again])
        tiling = tiling.shown_by(layouts)
    planned = [
        PlannedNest(
            _shown_by(nest, layouts),
            operands=users.operands(nest, views),
            extents=_extents(nest, localized, layouts),
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
    changed = {view.store.id for task in window.tasks for view in task.changes}
    named = [passed.store for passed in (*users.arguments, *again)]
    hoisted = sorted({n for nest in liveness.nests for n in nest.hoisted})
    return PlannedLaunch(
        launch.tasks,
        launch.groups,
        partitioned=launch.partitioned,
        tiling=tiling,
        tellers=tuple(
            (shown[nest.told[0]], shown[nest.told[1]], changed.isdisjoint(nest.told))
            for nest in nests
            if nest.told
        ),
        hoisted=tuple(hoisted) if launch.partitioned else (),
        deferrable=liveness.deferrable,
        nests=planned,
        temporaries=_views_of(window, launch, (dropped | replaced) - set(named)),
        arguments=tuple(shown[origins.get(store, store)] for store in named),
        moved=tuple(
            place
            for place, passed in enumerate(users.arguments)
            if passed.store in origins
        ),
        privileges=users.privileges(tiling) + bytes((READ,) * len(again)),
        scratch=tuple(
            (layouts[localized.short.get(store, view)], first, last)
            for store, (view, first, last) in users.scratch.items()
        ),
        short=tuple(
            place
            for place, store in enumerate(users.scratch)
            if store in localized.short
        ),
        circular=tuple(circular.get(store) for store in users.scratch),
        bands=tuple(len(band.turns) for band in program.bands),
        runs=tuple(_runs(program, planned, users, circular)) if runs_rows else (),
        landmarks=tuple(_landmarks(program, layouts)),
    )


def _shown_by(nest: LoweredNest, layouts: Mapping[int, int]) -> LoweredNest:
    """Return a nest whose views have other numbers."""
    part = nest.part
    if part is not None:
        beside = None if part.beside is None else layouts[part.beside]
        part = Part(part.loop, beside, layouts[part.rows])
    arguments = tuple(layouts[view] for view in nest.arguments)
    return replace(nest, arguments=arguments, part=part)


def _extents(
    nest: LoweredNest, localized: Localized, layouts: Mapping[int, int]
) -> tuple[int | None, ...]:
    """Return for each argument the view whose rows its store has, if not all."""
    rows = [
        localized.short.get(localized.views[number].store.id)
        for number in nest.arguments
    ]
    return tuple(None if view is None else layouts[view] for view in rows)


def _runs(
    program: Program,
    nests: Sequence[PlannedNest],
    users: RootUsers,
    circular: Mapping[int, Rows],
) -> Iterator[PlannedRun]:
    """Yield the nests whose rows are independent, with what only they use of a row."""
    for run in row_runs(program):
        local: dict[int, int] = {}
        for number, (store, (_, first, last)) in enumerate(users.scratch.items()):
            if first in run and last in run and circular.get(store) == 0:
                local[~number] = len(local)
        yield PlannedRun(
            run.start,
            RowProgram(
                tuple(nests[place].code for place in run),
                tuple(
                    tuple(local.get(operand) for operand in nests[place].operands)
                    for place in run
                ),
            ),
        )


def _landmarks(
    program: Program, layouts: Mapping[int, int]
) -> Iterator[tuple[Landmark, int, bool, int]]:
    """Yield the landmarks on which turns depend, each with a view that has it."""
    wanted = program.landmarks
    for nest in program.nests if wanted else ():
        for view in nest.views:
            for is_end, at in enumerate(view.region[0][:2] if view.region else ()):
                mark = view.store.id, at.landmark
                if mark in wanted:
                    wanted -= {mark}
                    yield mark, layouts[view.id], bool(is_end), at.offset


def _placed_in_turns(localized: Localized, nests: Sequence[Nest]) -> Tiles | None:
    """Return where nests are, in the order in which they take turns."""
    if localized.tiles is not None and localized.tiles.nests == tuple(nests):
        return localized.tiles
    return place_nests(nests)


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
