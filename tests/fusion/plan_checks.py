# SPDX-License-Identifier: Apache-2.0
"""Whether the analyses get a program right, by brute force over its points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from concrete_programs import Footprint, Program
from proven import refuted
from window_golden import covered

from legate_diffuse.fusion.grouping import Grouping, group_window, with_refusals
from legate_diffuse.fusion.pipeline import Watch, make_plan
from legate_diffuse.fusion.plan import Plan
from legate_diffuse.fusion.sinking import sink
from legate_diffuse.ir.relations import shows_store
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS


def check(
    program: Program, watch: Watch | None = None
) -> tuple[tuple[Grouping, ...], Plan]:
    """Assert that no point of a nest depends on another point, and that the plan works.

    Whatever the application can read afterwards must be as if the tasks had run
    one by one.
    """
    sunk = sink(group_window(program.window, covered))
    groups = with_refusals(sunk, covered)
    check_groups(program, groups)
    made = make_plan(program.window, MEANINGS, watch)
    check_launches(program, made)
    refutation = refuted(program.window, made.launches)
    assert refutation is None, refutation.reason
    return groups, made


def check_groups(program: Program, groups: Sequence[Grouping]) -> None:
    """Assert that each task is in one group, and no point of it needs another one."""
    tasks = program.window.tasks
    check_missing(program, sorted(n for g in groups for n in g.tasks))
    uncovered = [g.tasks for g in groups if not covered(tasks[g.tasks[0]])]
    assert uncovered == sorted(uncovered), "tasks without a kernel stay in order"
    for group in groups:
        assert list(group.tasks) == sorted(group.tasks)
        if not group.fused:
            assert len(group.tasks) == 1
            continue
        own = [tasks[position] for position in group.tasks]
        domains = {task.shape for task in own if not task.scalar}
        assert len(domains) <= 1, "a group has one launch domain"
        footprint = Footprint()
        for task in own:
            assert not footprint.conflicts(program, task), "a point needs another point"
            footprint.add(program, task)


def check_missing(program: Program, found: Sequence[int]) -> None:
    """Assert that all tasks are found once, but for some whose results are dead."""
    assert len(set(found)) == len(found)
    tasks = program.window.tasks
    for position in set(range(len(tasks))).difference(found):
        later = [tasks[n] for n in found if n > position]
        for view in tasks[position].changes:
            # nothing that runs needs them, before it writes all of them
            users = [task for task in later if view.store.id in task.stores]
            writers = [
                any(
                    each == view or (each.store == view.store and shows_store(each))
                    for each in task.writes
                )
                for task in users
            ]
            before = users[: writers.index(True) + 1] if any(writers) else users
            assert any(writers) or not (view.store.live or users)
            for task in before:
                reduced = {each.view.store.id for each in task.reductions}
                assert view.store.id not in task.read | reduced


def check_launches(program: Program, made: Plan) -> None:
    """Assert that launches hold all tasks, and that programs run on one processor.

    Only scalar work that nobody else can see may be in several launches.
    """
    tasks = program.window.tasks
    times = Counter(position for launch in made.launches for position in launch.tasks)
    check_missing(program, sorted(times))
    for position, count in times.items():
        live = any(view.store.live for view in tasks[position].changes)
        assert count == 1 or (tasks[position].scalar and not live)
    for launch in made.launches:
        several = launch.partitioned and len(launch.nests) > 1
        assert not several or launch.tiling is not None
        if launch.fused and not launch.partitioned:
            for position in launch.tasks:
                for access in tasks[position].accesses:
                    store = access.view.store
                    assert store.single or store.replicated


def fails(program: Program) -> bool:
    """Whether the analyses get a program wrong."""
    try:
        check(program)
    except (AssertionError, LookupError, TypeError, ValueError):
        return True
    return False
