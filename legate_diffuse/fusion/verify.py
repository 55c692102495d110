# SPDX-License-Identifier: Apache-2.0
"""What must be true of a draft after each pass, whatever the pass does.

Each function raises ``ValueError`` if it is not; the message says what is wrong. They
look at what a pass has made, and not at what that means: whether a plan does what its
window says is proven of the whole of it (``legate_diffuse/proof``).
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from legate_diffuse.fusion.draft import Draft
from legate_diffuse.ir import Privilege
from legate_diffuse.ir.nest import Nest
from legate_diffuse.ir.privilege import WRITE
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
    """Verify that groups hold each task once, but for dead ones."""
    grouped = [position for group in draft.groups for position in group.tasks]
    running = [position for position, _ in draft.renaming.window.running]
    _require(sorted(grouped) == running, "a task is not in one group")


def launches(draft: Draft) -> None:
    """Verify that launches hold all tasks.

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
        _require(
            not launch.fused
            or all(
                launch.partitioned != all(window.tasks[n].single for n in group.tasks)
                for group in launch.groups
            ),
            f"tasks {own} do not all run where their launch does",
        )
    running = [position for position, _ in window.running]
    _require(sorted(first) == running, "a task is in no launch")
    for position in again:
        task = window.tasks[position]
        _require(
            task.scalar and not any(view.store.live for view in task.changes),
            f"task {position} is in several launches",
        )


def liveness(draft: Draft) -> None:
    """Verify that what the program can read afterwards is stored."""
    live = {store.id for store in draft.renaming.window.stores if store.live}
    for each in draft.launches:
        own = each.liveness
        complete = len(own.nests) == len(each.launch.groups)
        _require(complete, "a nest has no liveness")
        gone = live & own.scratch.union(own.last, *(n.dropped for n in own.nests))
        _require(not gone, f"live stores {sorted(gone)} are not stored")


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
        nests = each.nests
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
        nests, turns = each.nests, each.program.nests
        _require(len(turns) == len(nests), "a nest does not have one turn")
        verify_program(each.program, each.scratch)


def arguments(draft: Draft) -> None:
    """Verify that nests find in a task's arguments the stores that they access.

    The dimensions that tiles divide are in order.
    """
    stores = {view.id: view.store.id for view in draft.window.views}
    for program, launch in zip(
        [each.program for each in draft.launches], draft.planned, strict=True
    ):
        axes = launch.tiling.axes if launch.tiling is not None else ()
        _require(
            all(earlier < later for earlier, later in pairwise(axes)),
            f"tasks {launch.tasks} divide dimensions {axes}, which are not in order",
        )
        named = [stores[view] for view in launch.arguments]
        for nest, planned in zip(program.nests, launch.nests, strict=True):
            for access, place in zip(nest.accesses, planned.operands, strict=True):
                origin = access.view.store.origin
                _require(
                    place < 0 or named[place] == origin,
                    f"nest {nest.number} of tasks {launch.tasks} uses store {origin}, "
                    "and the task names another one",
                )


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)
