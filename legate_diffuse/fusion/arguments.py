# SPDX-License-Identifier: Apache-2.0
"""What each task names, with which privileges, and what its nests find there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from legate_diffuse.fusion.draft import LaunchDraft
from legate_diffuse.fusion.in_place import written_in_place
from legate_diffuse.fusion.launches import Launch
from legate_diffuse.fusion.plan import PlannedLaunch, PlannedNest, PlannedRun
from legate_diffuse.fusion.renaming import Renaming
from legate_diffuse.fusion.root_users import RootUsers
from legate_diffuse.fusion.rows import row_runs
from legate_diffuse.fusion.tiles import tile
from legate_diffuse.ir import Window
from legate_diffuse.ir.distance import Landmark
from legate_diffuse.ir.nest import Program
from legate_diffuse.ir.privilege import OPERATORS, READ
from legate_diffuse.kernel.ir import RowProgram


def plan_launch(
    window: Window, renaming: Renaming, draft: LaunchDraft, *, runs_rows: bool
) -> PlannedLaunch | None:
    """Return what is to be submitted for a launch of a window.

    None if its points cannot divide it.

    Args:
        window: the window as it was recorded, whose views the plan names.
        renaming: the same with new names, which all that follows is about.
        draft: the launch, with the schedule of its nests.
        runs_rows: whether some of them may run as a whole on one row after the other.
    """
    launch = draft.launch
    if not launch.fused:
        deferrable = draft.liveness.deferrable
        return PlannedLaunch(
            launch.tasks, launch.groups, fused=False, deferrable=deferrable
        )
    if launch.partitioned and not launch.tiled:
        return _plan_partitioned(renaming.window, draft)
    return _plan_whole(window, renaming, draft, runs_rows)


def _plan_partitioned(window: Window, draft: LaunchDraft) -> PlannedLaunch:
    launch, liveness = draft.launch, draft.liveness
    (nest_liveness,) = liveness.nests
    planned = PlannedLaunch(
        launch.tasks,
        launch.groups,
        partitioned=True,
        hoisted=nest_liveness.hoisted,
        late=nest_liveness.late,
        deferrable=liveness.deferrable,
        temporaries=_views_of(window, launch, nest_liveness.dropped),
    )
    for band in draft.program.bands:
        (turn,) = band.turns
        accesses = turn.nest.accesses
        planned.nests = [PlannedNest(turn, operands=tuple(range(len(accesses))))]
        planned.bands = (1,)
        planned.arguments = turn.nest.arguments
        planned.privileges = bytes(
            access.privilege + OPERATORS.get(access.operator, 0) for access in accesses
        )
    return planned


def _plan_whole(
    window: Window, renaming: Renaming, draft: LaunchDraft, runs_rows: bool
) -> PlannedLaunch | None:
    launch, liveness = draft.launch, draft.liveness
    rewritten, program = draft.rewritten, draft.program
    turns = [turn for band in program.bands for turn in band.turns]
    nests = program.nests
    stores = {store.id: store for store in program.stores}
    circular = dict(each for band in program.bands for each in band.circular)
    replaced = {store.id for store in program.stores if store.replaces is not None}
    users = RootUsers(
        rewritten.scratch,
        liveness.undefined | replaced,
        {} if launch.tiled else written_in_place(program, rewritten.scratch, circular),
        circular,
        tiled=launch.tiled,
    )
    for number, nest in enumerate(nests):
        users.add(number, nest)
    tiling, again = None, []
    if launch.tiled and nests:
        tiling = tile(
            nests,
            tuple(users.arguments),
            [stores[store] for store in users.scratch],
            stores,
        )
        if tiling is None:
            return None
        if tiling.again is not None:
            again.append(list(users.arguments)[tiling.again])
    planned = [
        PlannedNest(turn, operands=operands)
        for turn, operands in zip(turns, users.operands(nests), strict=True)
    ]
    # of each store one view that shows it, and not a copy of it
    shown = {view.store.id: view.id for view in reversed(window.views)}
    dropped: frozenset[int] = frozenset().union(
        liveness.scratch, *(nest.dropped for nest in liveness.nests)
    )
    renamed = {view.store.id for view in window.views if not view.store.live} - {
        view.store.id for view in renaming.window.views
    }
    changed = {view.store.id for task in window.tasks for view in task.changes}
    named = [stores[passed.store] for passed in (*users.arguments, *again)]
    held = {store.id for store in named}
    hoisted = sorted({n for nest in liveness.nests for n in nest.hoisted})
    return PlannedLaunch(
        launch.tasks,
        launch.groups,
        partitioned=launch.partitioned,
        tiling=tiling,
        images=tuple(
            (
                shown[image.indices],
                shown[image.rows],
                changed.isdisjoint((image.indices, image.rows)),
            )
            for image in [nest.image for nest in nests]
            if image is not None
        ),
        hoisted=tuple(hoisted) if launch.partitioned else (),
        late=tuple(sorted({n for nest in liveness.nests for n in nest.late}))
        if launch.partitioned
        else (),
        deferrable=liveness.deferrable,
        nests=planned,
        temporaries=_views_of(window, launch, (dropped | renamed) - held),
        arguments=tuple(shown[store.origin] for store in named),
        moved=tuple(
            place
            for place, passed in enumerate(users.arguments)
            if passed.store in replaced
        ),
        privileges=users.privileges(tiling) + bytes((READ,) * len(again)),
        scratch=tuple(users.scratch.values()),
        bands=tuple(len(band.turns) for band in program.bands),
        runs=tuple(_runs(program, planned, users)) if runs_rows else (),
        landmarks=tuple(_landmarks(program)),
    )


def _runs(
    program: Program, nests: Sequence[PlannedNest], users: RootUsers
) -> Iterator[PlannedRun]:
    """Yield the nests whose rows are independent, with what only they use of a row."""
    for run in row_runs(program):
        local: dict[int, int] = {}
        for number, buffer in enumerate(users.scratch.values()):
            used_outside = buffer.first not in run or buffer.last not in run
            if not used_outside and buffer.spread == 0:
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


def _landmarks(program: Program) -> Iterator[tuple[Landmark, int, bool, int]]:
    """Yield the landmarks on which turns depend, each with a view that has it."""
    wanted = program.landmarks
    for nest in program.nests if wanted else ():
        for view in nest.views:
            for is_end, at in enumerate(view.region[0][:2] if view.region else ()):
                mark = view.store.id, at.landmark
                if mark in wanted:
                    wanted -= {mark}
                    yield mark, view.recorded, bool(is_end), at.offset


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
