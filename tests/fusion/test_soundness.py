# SPDX-License-Identifier: Apache-2.0
"""The analyses against brute force over the points of random programs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from concrete_programs import (
    POISON,
    Footprint,
    Memory,
    Program,
    programs,
    run_in_order,
    run_kernel,
    run_points,
    run_task,
)
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis.errors import NoSuchExample
from window_golden import covered

from legate_diffuse.fusion import grouping, liveness
from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.legality import Group, Refusal, is_scalar_work, refuse
from legate_diffuse.fusion.liveness import Liveness
from legate_diffuse.fusion.lowering import lower_group
from legate_diffuse.ir import IndexTask, Window
from legate_diffuse.ops import cupynumeric

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


def check(program: Program) -> None:
    """Assert that the groups of a program have no dependence between points.

    Also that they compute what the tasks compute one by one: as tasks point by
    point, and as lowered kernels.
    """
    groups = grouping.group_window(program.window, covered)
    check_partition(program, groups)
    for group in groups:
        if group.fused:
            check_points(program, group)
    expected = run_in_order(program)
    for as_kernels in (False, True):
        found = run_groups(program, groups, as_kernels)
        for store in program.memory:
            if not _dead(program, store):
                np.testing.assert_array_equal(found[store], expected[store])


def check_partition(program: Program, groups: tuple[Grouping, ...]) -> None:
    """Assert that each task is in one group, in program order."""
    ends = [0, *(group.stop for group in groups)]
    assert [group.start for group in groups] == ends[:-1]
    assert ends[-1] == len(program.window.tasks)
    assert all(group.start < group.stop for group in groups)


def check_points(program: Program, group: Grouping) -> None:
    """Assert that no point of a group depends on another one."""
    tasks = program.window.tasks[group.start : group.stop]
    domains = {task.shape for task in tasks if not is_scalar_work(task)}
    assert len(domains) == 1, "a group has one launch domain"
    footprint = Footprint()
    for task in tasks:
        assert not footprint.conflicts(program, task), "a point needs another point"
        footprint.add(program, task)


def run_groups(
    program: Program, groups: tuple[Grouping, ...], as_kernels: bool
) -> Memory:
    """Run a program as it is grouped, the points of each group in some order."""
    memory = {store: array.copy() for store, array in program.memory.items()}
    tasks = program.window.tasks
    found = liveness.analyse_liveness(program.window, groups)
    for group, needs in zip(groups, found, strict=True):
        if not group.fused:
            for number in range(group.start, group.stop):
                run_task(program, number, memory)
            continue
        for position in needs.hoisted:
            run_task(program, group.start + position, memory)
        for store in needs.temporaries:
            memory[store][:] = POISON
        own = tasks[group.start : group.stop]
        domain = next(task for task in own if not is_scalar_work(task))
        points = program.points(domain)
        random.Random(program.seed).shuffle(points)
        if not as_kernels:
            run_points(program, group, needs, memory, points)
            continue
        lowered = lower_group(own, needs.temporaries, cupynumeric.lower)
        if lowered is not None:
            run_kernel(program, group, lowered, memory, points)
    return memory


def _dead(program: Program, store: int) -> bool:
    return any(s.id == store and not s.live for s in program.window.stores)


def test_groups_run_point_by_point() -> None:
    accepted = 0
    refused: Counter[Refusal] = Counter()

    @settings(
        max_examples=600,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(programs())
    def try_many(program: Program) -> None:
        nonlocal accepted
        check(program)
        for group in grouping.group_window(program.window, covered):
            if group.fused:
                accepted += group.stop - group.start - 1
                reason = legal_but_refused(program, group)
                if reason is not None:
                    refused[reason] += 1

    try_many()
    _report_completeness(accepted, refused)


def _report_completeness(accepted: int, refused: Counter[Refusal]) -> None:
    """Print the share of the joins without a dependence that were refused."""
    legal = accepted + refused.total()
    print(f"\n{legal} legal joins, {refused.total() / legal:.1%} of them refused:")
    for reason, number in refused.most_common():
        print(f"  {number / legal:6.1%} {reason.name}: {reason.value}")


def legal_but_refused(program: Program, group: Grouping) -> Refusal | None:
    """Return why a task was refused that could have joined, if there is one."""
    if group.ended_by is None:
        return None
    held = Group()
    footprint = Footprint()
    for task in program.window.tasks[group.start :]:
        reason = grouping._refuse_alone(task, covered) or refuse(held, task)
        if reason is None:
            held.add(task)
            footprint.add(program, task)
            continue
        same_domain = is_scalar_work(task) or task.shape == held.shape
        legal = covered(task) and same_domain
        return reason if legal and not footprint.conflicts(program, task) else None
    raise AssertionError("the group ended, so a task was refused")


# -- the test itself -------------------------------------------------------------
def without(reason: Refusal) -> Callable[[Group, IndexTask], Refusal | None]:
    """Return the legality check with one rule taken away."""

    def refuse_less(group: Group, task: IndexTask) -> Refusal | None:
        found = refuse(group, task)
        return None if found is reason else found

    return refuse_less


def counterexample() -> Program | None:
    """Return a program that the analyses get wrong, if one is found."""

    def wrong(program: Program) -> bool:
        try:
            check(program)
        except (AssertionError, LookupError, TypeError, ValueError):
            return True
        return False

    try:
        return find(
            programs(),
            wrong,
            settings=settings(
                max_examples=2000,
                derandomize=True,
                database=None,
                deadline=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            ),
        )
    except NoSuchExample:
        return None


@pytest.mark.parametrize(
    "reason",
    [
        Refusal.TRUE_DEPENDENCE,
        Refusal.ANTI_DEPENDENCE,
        Refusal.OUTPUT_DEPENDENCE,
        Refusal.LAUNCH_DOMAIN,
        Refusal.SCALAR_CHANGES,
    ],
)
def test_each_rule_is_needed(reason: Refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "refuse", without(reason))
    assert counterexample() is not None


def _drop_what_is_live(found: Liveness, window: Window, group: Grouping) -> Liveness:
    written = {
        view.store.id
        for task in window.tasks[group.start : group.stop]
        for view in task.writes
    }
    return Liveness(frozenset(written), found.hoisted)


def _drop_what_is_read_first(
    found: Liveness, window: Window, group: Grouping
) -> Liveness:
    tasks = window.tasks[group.start : group.stop]
    dead = {v.store.id for task in tasks for v in task.writes if not v.store.live}
    later = {v.store.id for task in window.tasks[group.stop :] for v in task.reads}
    return Liveness(found.temporaries | (dead - later), found.hoisted)


def _drop_what_is_touched_later(
    found: Liveness, window: Window, group: Grouping
) -> Liveness:
    tasks = window.tasks[group.start : group.stop]
    seen: set[int] = set()
    dead: set[int] = set()
    for task in tasks:
        seen |= {view.store.id for view in task.reads}
        dead |= {
            v.store.id
            for v in task.writes
            if not v.store.live and v.store.id not in seen
        }
    return Liveness(found.temporaries | dead, found.hoisted)


def _hoist_nothing(found: Liveness, window: Window, group: Grouping) -> Liveness:
    return Liveness(found.temporaries, ())


def _hoist_without_closure(
    found: Liveness, window: Window, group: Grouping
) -> Liveness:
    return Liveness(found.temporaries, found.hoisted[-1:])


@pytest.mark.parametrize(
    "worsen",
    [
        _drop_what_is_live,
        _drop_what_is_read_first,
        _drop_what_is_touched_later,
        _hoist_nothing,
        _hoist_without_closure,
    ],
)
def test_wrong_liveness_is_noticed(
    worsen: Callable[[Liveness, Window, Grouping], Liveness],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    analyse = liveness.analyse_liveness

    def worse(window: Window, groups: tuple[Grouping, ...]) -> tuple[Liveness, ...]:
        return tuple(
            worsen(found, window, group) if group.fused else found
            for found, group in zip(analyse(window, groups), groups, strict=True)
        )

    monkeypatch.setattr(liveness, "analyse_liveness", worse)
    assert counterexample() is not None
