# SPDX-License-Identifier: Apache-2.0
"""What each task names, with which privileges, and what its nests find there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from legate_diffuse.fusion.draft import LaunchDraft
from legate_diffuse.fusion.in_place import written_in_place
from legate_diffuse.fusion.launches import Launch
from legate_diffuse.fusion.passed import Passed, passed_by
from legate_diffuse.fusion.plan import PlannedLaunch, PlannedNest, PlannedRun
from legate_diffuse.fusion.renaming import Renaming
from legate_diffuse.fusion.root_users import RootUsers
from legate_diffuse.fusion.rows import row_runs
from legate_diffuse.fusion.tile_nests import divide
from legate_diffuse.fusion.tiles import Tiling, tile
from legate_diffuse.ir import Window
from legate_diffuse.ir.distance import Landmark
from legate_diffuse.ir.nest import Nest, Program
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
    launch, liveness = draft.launch, draft.liveness
    planned = PlannedLaunch(
        launch.tasks,
        launch.groups,
        launch.fused,
        launch.partitioned,
        hoisted=liveness.hoisted,
        late=liveness.late,
        deferrable=liveness.deferrable,
    )
    if not launch.fused:
        return planned
    dropped = liveness.scratch.union(*(nest.dropped for nest in liveness.nests))
    renamed = {
        store
        for store in renaming.families.keys() - renaming.window.shown.keys()
        if not window.shown[store].store.live
    }
    named: set[int] = set()
    if launch.partitioned and not launch.tiled:
        _name_views(planned, draft.program)
    else:
        users = _users(draft)
        tiling = None
        if launch.tiled and draft.program.nests:
            tiling = _tiling(draft, users)
            if tiling is None:
                return None
        named = {passed.store for passed in users.arguments}
        _name_roots(planned, window, draft.program, users, tiling)
        if runs_rows:
            planned.runs = tuple(_runs(draft.program, planned.nests, users))
    planned.temporaries = _views_of(window, launch, (dropped | renamed) - named)
    return planned


def _name_views(planned: PlannedLaunch, program: Program) -> None:
    """Let a task of one nest at most have the arguments of that one's kernel."""
    for turn in [turn for band in program.bands for turn in band.turns]:
        accesses = turn.nest.accesses
        planned.nests = [PlannedNest(turn, operands=tuple(range(len(accesses))))]
        planned.bands = (1,)
        planned.arguments = turn.nest.arguments
        planned.privileges = bytes(
            access.privilege + OPERATORS.get(access.operator, 0) for access in accesses
        )


def _users(draft: LaunchDraft) -> RootUsers:
    """Return what the nests of a launch do with stores and buffers."""
    program, scratch = draft.program, draft.scratch
    circular = dict(each for band in program.bands for each in band.circular)
    replaced = {store.id for store in program.stores if store.replaces is not None}
    places, passed = {}, passed_by
    if not draft.launch.tiled:
        places = written_in_place(program, scratch, circular)
        passed = _passed_as_a_whole
    undefined = draft.liveness.undefined | replaced
    users = RootUsers(scratch, undefined, places, circular)
    for number, nest in enumerate(program.nests):
        users.add(number, nest, passed(nest))
    return users


def _passed_as_a_whole(nest: Nest) -> tuple[Passed, ...]:
    """Return what is passed for each access of a nest on one processor."""
    return tuple([Passed(view.store.id) for view in nest.views])


def _tiling(draft: LaunchDraft, users: RootUsers) -> Tiling | None:
    """Return how points divide nests, None if they cannot."""
    program, divided = draft.program, draft.divided
    if program.nests != draft.nests:
        divided = divide(program.nests, draft.scratch)
    stores = {store.id: store for store in program.stores}
    scratch = [stores[store] for store in users.scratch]
    return tile(divided, tuple(users.arguments), scratch, stores)


def _name_roots(
    planned: PlannedLaunch,
    window: Window,
    program: Program,
    users: RootUsers,
    tiling: Tiling | None,
) -> None:
    """Let a task have one argument of each root, or of each image of one."""
    stores = {store.id: store for store in program.stores}
    turns = [turn for band in program.bands for turn in band.turns]
    named = [stores[passed.store] for passed in users.arguments]
    again, shared = [], (False,) * len(named)
    if tiling is not None:
        shared = tiling.shared
        again = [] if tiling.again is None else [named[tiling.again]]
    planned.tiling = tiling
    planned.nests = [
        PlannedNest(turn, operands=operands)
        for turn, operands in zip(turns, users.operands, strict=True)
    ]
    planned.arguments = tuple(window.shown[s.origin].id for s in (*named, *again))
    planned.moved = tuple(
        place for place, store in enumerate(named) if store.replaces is not None
    )
    planned.privileges = users.privileges(shared) + bytes((READ,) * len(again))
    planned.scratch = tuple(users.scratch.values())
    planned.bands = tuple(len(band.turns) for band in program.bands)
    planned.landmarks = tuple(_landmarks(program))


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
