# SPDX-License-Identifier: Apache-2.0
"""What must be true of a draft after each pass, whatever the pass does.

Each function raises ``ValueError`` if it is not; the message says what is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from legate_diffuse.fusion.cluster import conflicts
from legate_diffuse.fusion.draft import Draft
from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.ir import Access, IndexTask, Points, Privilege, View, Window
from legate_diffuse.ir.nest import Nest, Program
from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.ir.relations import shows_store
from legate_diffuse.ir.verify import verify_window
from legate_diffuse.ir.verify_program import verify_program


def window(draft: Draft) -> None:
    """Verify the window before it gets new names."""
    verify_window(draft.window)


def renaming(draft: Draft) -> None:
    """Verify the window with new names: no task has become another one."""
    window = draft.renaming.window
    verify_window(window)
    kinds = [(task.kind, task.shape) for task in draft.window.tasks]
    _require(
        [(task.kind, task.shape) for task in window.tasks] == kinds,
        "tasks have changed",
    )
    _require(window.carried == draft.window.carried, "other tasks are carried")


def groups(draft: Draft) -> None:
    """Verify that groups hold each task once, in an order that keeps conflicts.

    Dead ones are in none.
    """
    window = draft.renaming.window
    grouped = [position for group in draft.groups for position in group.tasks]
    _require(
        sorted(grouped) == [n for n, _ in window.running], "a task is not in one group"
    )
    _verify_dead(draft.window)
    _verify_order(window, [group.tasks for group in draft.groups])


def _verify_dead(window: Window) -> None:
    """Verify that nobody uses what dead tasks would change, before names are new."""
    for position in window.dead:
        later = [task for n, task in window.running if n > position]
        _require(
            not any(_is_used(view, later) for view in window.tasks[position].changes),
            f"somebody uses what dead task {position} changes",
        )


def _is_used(view: View, later: Sequence[IndexTask]) -> bool:
    """Whether tasks, or the program after them, use what is written to a view."""
    store = view.store
    for task in later:
        reduced = [access.view.store for access in task.reductions]
        # what is reduced to had an initial value
        if store.id in task.read or store in reduced:
            return True
        if any(
            each == view or (each.store == store and shows_store(each))
            for each in task.writes
        ):
            return False
    return store.live


def launches(draft: Draft) -> None:
    """Verify that launches hold all tasks, in an order that keeps conflicts.

    Only scalar work whose results nobody else can see may be in several ones.
    """
    window = draft.renaming.window
    first: set[int] = set()
    again: set[int] = set()
    formed = [each.launch for each in draft.launches]
    for launch in formed:
        own = launch.tasks
        listed = Counter(n for group in launch.groups for n in group.tasks)
        twice = {position for position, count in listed.items() if count > 1}
        _require(not twice or launch.tiled, "a launch has a task twice")
        again |= first.intersection(own) | twice
        first.update(own)
        whole = launch.fused and not launch.partitioned
        _require(
            not whole or all(window.tasks[position].single for position in own),
            f"tasks {own} run on one processor and are partitioned",
        )
        _require(
            not launch.partitioned
            or not any(
                all(window.tasks[position].single for position in group.tasks)
                for group in launch.groups
            ),
            f"tasks {own} are partitioned, and have a loop over whole arrays",
        )
    running = [position for position, _ in window.running]
    _require(sorted(first) == running, "a task is in no launch")
    for position in again:
        task = window.tasks[position]
        _require(
            task.scalar and not any(view.store.live for view in task.changes),
            f"task {position} is in several launches",
        )
    _verify_order(
        window,
        [
            [position for position in group.tasks if position not in again]
            for launch in formed
            for group in launch.groups
        ],
    )


def liveness(draft: Draft) -> None:
    """Verify that what is not stored is dead, and not needed by a later launch."""
    window = draft.renaming.window
    live = {store.id for store in window.stores if store.live}
    for number, each in enumerate(draft.launches):
        own, groups = each.liveness, each.launch.groups
        _require(len(own.nests) == len(groups), "a nest has no liveness")
        gone = own.scratch.union(own.last, *(nest.dropped for nest in own.nests))
        _require(
            gone.isdisjoint(live), f"live stores {sorted(gone & live)} are not stored"
        )
        known = set(gone)
        for later in draft.launches[number + 1 :]:
            for position in later.launch.tasks:
                task = window.tasks[position]
                lost = known & task.read
                _require(
                    not lost,
                    f"task {position} reads stores {sorted(lost)} that are gone",
                )
                known -= task.written


def kernels(draft: Draft) -> None:
    """Verify that kernels do with their arguments what their nests do."""
    for each in draft.launches:
        for nest in each.nests:
            _verify_arguments(nest)


def _verify_arguments(nest: Nest) -> None:
    for access, argument in zip(nest.accesses, nest.kernel.arguments, strict=True):
        reduces = access.privilege is Privilege.REDUCE
        _require(
            (argument.reads, argument.writes, argument.reduces, argument.whole)
            == (
                access.reads,
                bool(access.privilege & WRITE),
                access.operator if reduces else None,
                access.whole,
            ),
            f"the kernel of tasks {nest.tasks} does something else with store "
            f"{access.view.store.id}",
        )


def copies(draft: Draft) -> None:
    """Verify that points gather nothing that nests on other points make."""
    for each in draft.launches:
        nests = each.rewritten.nests
        made: set[int] = set()
        for nest in nests:
            _verify_arguments(nest)
            made |= {a.view.store.id for a in nest.accesses if a.changes}
        for access in [access for nest in nests for access in nest.accesses]:
            store = access.view.store.id
            _require(
                not (each.launch.tiled and access.whole and store in made),
                f"points gather store {store}, which others make",
            )


def schedule(draft: Draft) -> None:
    """Verify the program of each launch."""
    for each in draft.launches:
        nests, turns = each.rewritten.nests, each.program.nests
        _require(len(turns) == len(nests), "a nest does not have one turn")
        verify_program(each.program, each.rewritten.scratch)


def arguments(draft: Draft) -> None:
    """Verify that tasks name, with its privilege, what their nests touch."""
    stores = {view.id: view.store.id for view in draft.window.views}
    for program, launch in zip(
        [each.program for each in draft.launches], draft.planned, strict=True
    ):
        named = [stores[view] for view in launch.arguments]
        whole = launch.fused and not launch.partitioned
        _require(not whole or len(named) == len(set(named)), "a root is named twice")
        written: set[int] = set()
        for number, (nest, planned) in enumerate(
            zip(program.nests, launch.nests, strict=True)
        ):
            for access, place in zip(nest.accesses, planned.operands, strict=True):
                store = access.view.store
                where = f"nest {number} of tasks {launch.tasks}, store {store.id}"
                if place < 0:
                    buffer = launch.scratch[~place]
                    used = buffer.first <= number <= buffer.last
                    _require(used, f"{where}: no buffer is left")
                    continue
                _require(
                    named[place] == store.origin, f"{where}: the task names another one"
                )
                _require(
                    (place in launch.moved) == (store.replaces is not None),
                    f"{where}: it moves, or another one does",
                )
                has = launch.privileges[place]
                _require(
                    not access.changes or bool(has & WRITE) or has >= REDUCE,
                    f"{where}: it may not be changed",
                )
                _require(
                    not access.reads or bool(has & READ) or store.id in written,
                    f"{where}: it may not be read",
                )
            written |= {a.view.store.id for a in nest.accesses if a.privilege & WRITE}
        _verify_buffers(program, launch)


def _verify_buffers(program: Program, launch: PlannedLaunch) -> None:
    """Verify that stores follow one another in a buffer, where a nest has both.

    It writes the new one whole, and reads of the old one what it writes there; no
    later nest, and none that takes turns with it, uses the old one.
    """
    band_of = program.band_of
    circular = {store for band in program.bands for store, _ in band.circular}
    uses: dict[int, dict[int, list[tuple[int, Access]]]] = {}
    for number, (nest, planned) in enumerate(
        zip(program.nests, launch.nests, strict=True)
    ):
        for access, place in zip(nest.accesses, planned.operands, strict=True):
            if place < 0:
                in_place = uses.setdefault(place, {})
                store = access.view.store.id
                in_place.setdefault(store, []).append((number, access))
    for stores in uses.values():
        for (old, before), (new, after) in pairwise(stores.items()):
            number, written = after[0]
            own = [access for n, access in before if band_of[n] >= band_of[number]]
            _require(
                not program.nests[number].rows
                and len(own) == 1
                and before[-1][0] == number
                and [n for n, _ in after].count(number) == 1
                and (own[0].privilege, written.privilege) == (READ, WRITE)
                and (own[0].whole, written.whole) == (False, False)
                and own[0].view.points == written.view.points == Points.MANY
                and own[0].view.dims == written.view.dims
                and own[0].view.store.dtype == written.view.store.dtype
                and shows_store(own[0].view)
                and shows_store(written.view)
                and circular.isdisjoint((old, new)),
                f"nest {number} of tasks {launch.tasks}: store {new} is in the place "
                f"of store {old}",
            )


def _verify_order(window: Window, groups: Sequence[Sequence[int]]) -> None:
    """Verify that tasks of different groups come in program order if they conflict."""
    place = {position: n for n, group in enumerate(groups) for position in group}
    earlier: list[tuple[int, int]] = []
    for position in sorted(place):
        own = place[position]
        for other, where in earlier:
            if where > own and conflicts(window.tasks[other], window.tasks[position]):
                raise ValueError(
                    f"task {position} comes before task {other}, with which it "
                    "conflicts"
                )
        earlier.append((position, own))


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)
