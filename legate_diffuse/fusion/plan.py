# SPDX-License-Identifier: Apache-2.0
"""The plan of a window: its launches, each a fused task or the original ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import partial

from legate_diffuse.fusion.grouping import Grouping, group_window
from legate_diffuse.fusion.launches import Launch, form_launches
from legate_diffuse.fusion.launches_text import render_launches
from legate_diffuse.fusion.legality import is_scalar_work
from legate_diffuse.fusion.liveness import Liveness, NestLiveness, analyse_liveness
from legate_diffuse.fusion.lowering import LoweredNest, lower_nest
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.nests import nests_of
from legate_diffuse.fusion.rematerialize import rematerialize_scalars
from legate_diffuse.fusion.renaming import Renaming, rename
from legate_diffuse.fusion.schedule import schedule
from legate_diffuse.ir import IndexTask, View, Window
from legate_diffuse.ir.nest import Turn, alone
from legate_diffuse.ir.privilege import OPERATORS, READ, REDUCE, WRITE
from legate_diffuse.ir.program_text import render_program
from legate_diffuse.ir.relations import covers_store
from legate_diffuse.ir.text import render
from legate_diffuse.ir.verify import verify_window


@dataclass(slots=True)
class PlannedNest:
    """A loop nest; ``kernel`` is its number in the native table, once it is there.

    ``operands`` have for each argument of the kernel the number of the task's argument
    or, from -1 downwards, of the scratch buffer. ``tasks`` are the operations in it, by
    position. ``turn`` is what the nest does in its band.
    """

    lowered: LoweredNest
    tasks: tuple[int, ...]
    kernel: int | None = None
    operands: tuple[int, ...] = ()
    turn: Turn | None = None
    # what programs say of the nest, once one did (``launch.program``)
    packed: bytes = b""


@dataclass(slots=True)
class PlannedLaunch:
    """Operations of a window, by position, that run as one task.

    Attributes:
        tasks: the operations, in program order.
        fused: False if they run as they were submitted.
        partitioned: whether the task runs on the tiles of its arguments, which have the
            shape of the only nest; else on whole roots.
        nests: the loop nests; empty if nothing is left to do.
        hoisted: operations that also run by themselves, before the fused task.
        deferrable: scalar operations that may wait until their result is read.
        temporaries: a view of each store that is never made.
        arguments: the task's arguments: views, or a view of each root.
        privileges: what the task does with them, one byte for each; with the operators
            of reductions.
        scratch: a view of each store in scratch memory, with the first and the last
            nest that use it.
        circular: for each of them how many rows more than those of a block are in use
            at a time, or None if it needs all of its rows.
        bands: how many of the nests are in each band.
        task: the number of the task that has the launch's name, once it has one.
    """

    tasks: tuple[int, ...]
    fused: bool = True
    partitioned: bool = False
    nests: list[PlannedNest] = field(default_factory=list)
    hoisted: tuple[int, ...] = ()
    deferrable: tuple[int, ...] = ()
    temporaries: tuple[int, ...] = ()
    arguments: tuple[int, ...] = ()
    privileges: bytes = b""
    scratch: tuple[tuple[int, int, int], ...] = ()
    circular: tuple[int | None, ...] = ()
    bands: tuple[int, ...] = ()
    task: int | None = None


@dataclass(slots=True)
class Plan:
    """The launches of a window, in an order that gives the results of the program.

    Attributes:
        launches: the launches.
        length: the number of the window's operations.
        last_use: when the plan was used last, in windows.
    """

    launches: tuple[PlannedLaunch, ...]
    length: int
    last_use: int = 0


def unfused_plan(length: int) -> Plan:
    """Return the plan that runs every operation as it was submitted."""
    return Plan((PlannedLaunch(tuple(range(length)), fused=False),), length)


Show = Callable[[str, str], None]
"""Takes the name of a pass, and the text of what it has made."""


def make_plan(window: Window, meanings: Meanings, show: Show | None = None) -> Plan:
    """Analyse a window of operations with these meanings.

    ``show`` is called after each pass (``fusion/README.md``) with what it has made.
    """
    verify_window(window)
    planned = []
    analysis = analyse(window, meanings)
    renaming = analysis.renaming
    views = {view.id: view for view in renaming.window.views}
    if show:
        verify_window(renaming.window)
        show("window", render(window))
        show("renaming", render(renaming.window))
        show("launches", render_launches(analysis.launches))
    for launch, liveness in analysis.launches:
        if not launch.fused:
            found = PlannedLaunch(
                launch.tasks, fused=False, deferrable=liveness.deferrable
            )
        elif launch.partitioned:
            found = _plan_partitioned(
                renaming.window, views, launch, liveness, meanings
            )
        else:
            found = _plan_whole(
                window, renaming, views, launch, liveness, meanings, show
            )
        planned.append(found)
    return Plan(tuple(planned), len(window.tasks))


@dataclass(frozen=True, slots=True)
class Analysis:
    """The launches of a window, and what each of them need not write.

    Both are those of the window with its new names.
    """

    renaming: Renaming
    launches: tuple[tuple[Launch, Liveness], ...]


def analyse(window: Window, meanings: Meanings) -> Analysis:
    """Find the launches of a window."""
    kept: frozenset[int] = frozenset()
    while True:
        renaming = rename(window, partial(copies, meanings), kept)
        groups = group_window(renaming.window, partial(covered, meanings))
        launches = form_launches(
            renaming.window, groups, lambda task: meanings.traps(task.kind)
        )
        scattered = _scattered(renaming, launches)
        if not scattered:
            break
        kept |= scattered
    launches = rematerialize_scalars(renaming.window, launches)
    found = analyse_liveness(renaming.window, launches)
    return Analysis(renaming, tuple(zip(launches, found, strict=True)))


def _scattered(renaming: Renaming, launches: Sequence[Launch]) -> frozenset[int]:
    """Return the stores whose tasks do not all run in one program."""
    programs = [set(one.tasks) for one in launches if one.fused and not one.partitioned]
    return frozenset(
        store
        for store, tasks in renaming.families.items()
        if not any(tasks <= program for program in programs)
    )


def copies(meanings: Meanings, task: IndexTask) -> bool:
    """Whether a task copies its input to its output."""
    return meanings.copies(task.kind)


def covered(meanings: Meanings, task: IndexTask) -> bool:
    """Whether a kernel can express a task.

    Scalar work may be folded into a nest of any shape, where it has no index.
    """
    if meanings.depends_on_index(task.kind) and is_scalar_work(task):
        return False
    return meanings.covers(task.kind)


def _plan_partitioned(
    window: Window,
    views: Mapping[int, View],
    launch: Launch,
    liveness: Liveness,
    meanings: Meanings,
) -> PlannedLaunch:
    (group,), (nest,) = launch.groups, liveness.nests
    tasks = {position: window.tasks[position] for position in group.tasks}
    planned = PlannedLaunch(
        launch.tasks,
        partitioned=True,
        hoisted=nest.hoisted,
        deferrable=liveness.deferrable,
        temporaries=_views_of(window, launch, nest.dropped),
    )
    lowered = lower_nest(tasks, nest.dropped, meanings.lower)
    if lowered is not None:
        (own,) = nests_of([lowered], views)
        (turn,) = alone(own).turns
        operands = tuple(range(len(lowered.arguments)))
        planned.nests = [
            PlannedNest(lowered, group.tasks, operands=operands, turn=turn)
        ]
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
    views: Mapping[int, View],
    launch: Launch,
    liveness: Liveness,
    meanings: Meanings,
    show: Show | None,
) -> PlannedLaunch:
    lowered = [
        nest
        for group, dead in zip(launch.groups, liveness.nests, strict=True)
        for nest in _lower_with_hoisted(renaming.window, group, dead, meanings)
    ]
    scheduled = schedule(
        nests_of([nest for nest, _ in lowered], views), liveness.scratch
    )
    if show:
        show("schedule", render_program(scheduled))
    turns = [turn for band in scheduled.bands for turn in band.turns]
    lowered = [lowered[turn.nest.number] for turn in turns]
    users = _Users(liveness.scratch, liveness.undefined)
    for number, (nest, _) in enumerate(lowered):
        users.add(number, nest, views)
    places = users.places()
    circular = dict(each for band in scheduled.bands for each in band.circular)
    layouts = renaming.layouts
    nests = [
        PlannedNest(
            replace(
                nest,
                arguments=tuple(layouts.get(view, view) for view in nest.arguments),
            ),
            tasks,
            operands=tuple(places[views[view].store.id] for view in nest.arguments),
            turn=turn,
        )
        for (nest, tasks), turn in zip(lowered, turns, strict=True)
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
        nests=nests,
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
        bands=tuple(len(band.turns) for band in scheduled.bands),
    )


def _lower_with_hoisted(
    window: Window, group: Grouping, liveness: NestLiveness, meanings: Meanings
) -> Iterator[tuple[LoweredNest, tuple[int, ...]]]:
    """Yield the kernels of a group, of its hoisted scalar work and of the nest.

    With the operations in each, by position.
    """
    for positions, dropped, scalar in (
        (liveness.hoisted, frozenset[int](), True),
        (group.tasks, liveness.dropped, False),
    ):
        tasks = {position: window.tasks[position] for position in positions}
        lowered = lower_nest(tasks, dropped, meanings.lower, scalar=scalar)
        if lowered is not None:
            yield lowered, tuple(positions)


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
        accesses = [
            (views[view], privilege)
            for view, privilege in zip(
                lowered.arguments, lowered.privileges, strict=True
            )
        ]
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
