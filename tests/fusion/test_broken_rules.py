# SPDX-License-Identifier: Apache-2.0
"""Every rule of the analyses is needed: random programs notice where one is broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from noticed import is_noticed
from plan_checks import fails
from random_programs import random_program
from tiers import examples

from legate_diffuse.fusion import (
    arguments,
    cluster,
    grouping,
    halo,
    launches,
    legality,
    liveness,
    pipeline,
    renaming,
    root_users,
    tile_nests,
)
from legate_diffuse.fusion.launches import Launch
from legate_diffuse.fusion.legality import (
    Group,
    Refusal,
    refuse,
    refuse_alone,
)
from legate_diffuse.fusion.liveness import Liveness, NestLiveness
from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.fusion.tile_axis import TileAxis
from legate_diffuse.ir import IndexTask, Window
from legate_diffuse.ir.relations import covers_store, may_overlap

# A broken rule is noticed in one of so many windows.
WINDOWS = 4_000


def is_wrong(number: int) -> bool:
    """Whether the analyses get a random program wrong."""
    return fails(random_program(number))


def test_nothing_is_noticed_where_nothing_is_broken() -> None:
    assert not any(map(is_wrong, range(examples(100, 500))))


# -- legality ------------------------------------------------------------------
def without(reason: Refusal) -> Callable[[Group, IndexTask], Refusal | None]:
    """Return the legality check with one rule taken away."""

    def refuse_less(group: Group, task: IndexTask) -> Refusal | None:
        found = refuse(group, task)
        return None if found is reason else found

    return refuse_less


@pytest.mark.parametrize(
    "reason",
    [
        Refusal.TRUE_DEPENDENCE,
        Refusal.ANTI_DEPENDENCE,
        Refusal.OUTPUT_DEPENDENCE,
        Refusal.LAUNCH_DOMAIN,
        Refusal.SCALAR_CHANGES,
        Refusal.REDUCTION,
    ],
)
def test_each_rule_is_needed(reason: Refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "refuse", without(reason))
    assert is_noticed(is_wrong, WINDOWS)


@pytest.mark.parametrize(
    "reason",
    [
        Refusal.NOT_AFFINE,
        Refusal.ANTI_DEPENDENCE,
    ],
)
def test_each_rule_for_a_task_alone_is_needed(
    reason: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_less(task: IndexTask) -> Refusal | None:
        found = refuse_alone(task)
        return None if found is reason else found

    monkeypatch.setattr(grouping, "refuse_alone", refuse_less)
    assert is_noticed(is_wrong, WINDOWS)


def _never(*_: Any) -> bool:
    return False


def _always(*_: Any) -> bool:
    return True


BROKEN_PARTS: dict[str, tuple[Any, str, Any]] = {
    "a task moves past what it conflicts with": (
        Group,
        "conflicts",
        _never,
    ),
    "a nest moves past what it conflicts with": (
        launches._Open,
        "conflicts",
        _never,
    ),
    "what comes late is an initial value": (legality, "is_late", _never),
    "nothing comes late": (liveness, "is_late", _never),
    "views never overlap": (legality, "may_overlap", _never),
    "all views are aligned": (legality, "aligned", _always),
    "every view covers its store": (liveness, "covers_store", _always),
    "every view covers its store in privileges": (root_users, "covers_store", _always),
    "partitioned tasks run in programs": (launches, "_is_partitioned", _never),
    "no scalar work runs by itself": (
        liveness,
        "_before_and_after",
        lambda tasks, alone: ((), ()),
    ),
    "only one direction is a conflict": (
        cluster,
        "conflicts",
        lambda one, other: cluster._changes_what(one, other),
    ),
    "only the other direction is a conflict": (
        cluster,
        "conflicts",
        lambda one, other: cluster._changes_what(other, one),
    ),
}


@pytest.mark.parametrize("broken", BROKEN_PARTS.values(), ids=BROKEN_PARTS)
def test_a_broken_part_is_noticed(
    broken: tuple[Any, str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*broken)
    assert is_noticed(is_wrong, WINDOWS)


# -- liveness --------------------------------------------------------------------
def _changed(window: Window, positions: Sequence[int]) -> frozenset[int]:
    tasks = (window.tasks[position] for position in positions)
    return frozenset(view.store.id for task in tasks for view in task.changes)


def _dead(window: Window) -> frozenset[int]:
    return frozenset(store.id for store in window.stores if not store.live)


def _each_nest(
    worsen: Callable[[Window, Launch, int, NestLiveness], NestLiveness],
) -> Callable[[Liveness, Window, Launch], Liveness]:
    def worsen_all(found: Liveness, window: Window, launch: Launch) -> Liveness:
        return replace(
            found,
            nests=tuple(
                worsen(window, launch, number, nest)
                for number, nest in enumerate(found.nests)
            ),
        )

    return worsen_all


def _drop_what_is_live(
    window: Window, launch: Launch, number: int, nest: NestLiveness
) -> NestLiveness:
    changed = _changed(window, launch.groups[number].tasks)
    return replace(nest, dropped=nest.dropped | (changed - _dead(window)))


def _drop_what_is_read_first(
    window: Window, launch: Launch, number: int, nest: NestLiveness
) -> NestLiveness:
    """Drop what is dead after the nest, even if the nest reads its old contents."""
    own = launch.groups[number].tasks
    others = set(range(len(window.tasks))) - set(own)
    elsewhere = {s for position in others for s in window.tasks[position].stores}
    dies = (_changed(window, own) & _dead(window)) - elsewhere
    return replace(nest, dropped=nest.dropped | dies)


def _drop_what_is_touched_later(
    window: Window, launch: Launch, number: int, nest: NestLiveness
) -> NestLiveness:
    changed = _changed(window, launch.groups[number].tasks)
    return replace(nest, dropped=nest.dropped | (changed & _dead(window)))


def _hoist_nothing(found: Liveness, window: Window, launch: Launch) -> Liveness:
    nests = tuple(replace(nest, hoisted=()) for nest in found.nests)
    return replace(found, nests=nests, hoisted=())


def _hoist_without_closure(found: Liveness, window: Window, launch: Launch) -> Liveness:
    nests = tuple(replace(nest, hoisted=nest.hoisted[-1:]) for nest in found.nests)
    return replace(found, nests=nests, hoisted=found.hoisted[-1:])


def _all_in_scratch(found: Liveness, window: Window, launch: Launch) -> Liveness:
    """Put live stores into scratch memory as well."""
    if launch.partitioned or not launch.fused:
        return found
    return replace(found, scratch=_changed(window, launch.tasks))


def _dead_in_scratch(found: Liveness, window: Window, launch: Launch) -> Liveness:
    """Put dead stores into scratch memory, whoever uses them later."""
    if launch.partitioned or not launch.fused:
        return found
    dead = _changed(window, launch.tasks) & _dead(window)
    return replace(found, scratch=found.scratch | dead)


def _parts_in_scratch(found: Liveness, window: Window, launch: Launch) -> Liveness:
    """Put stores into scratch memory of which only a part was written."""
    if launch.partitioned or not launch.fused:
        return found
    others = set(range(len(window.tasks))) - set(launch.tasks)
    elsewhere = {s for position in others for s in window.tasks[position].stores}
    parts = (_changed(window, launch.tasks) & _dead(window)) - elsewhere
    return replace(found, scratch=found.scratch | parts)


def _always_undefined(found: Liveness, window: Window, launch: Launch) -> Liveness:
    """Take stores for undefined that an earlier launch has written."""
    undefined = frozenset(store.id for store in window.stores if store.undefined)
    return replace(found, undefined=undefined)


def _last_although_live(found: Liveness, window: Window, launch: Launch) -> Liveness:
    """Leave what the application can read in scratch memory of points."""
    if not launch.tiled:
        return found
    return replace(found, last=_changed(window, launch.tasks))


def _last_although_used(found: Liveness, window: Window, launch: Launch) -> Liveness:
    """Leave what a later launch uses in scratch memory of points."""
    if not launch.tiled:
        return found
    return replace(found, last=_changed(window, launch.tasks) & _dead(window))


def _defer_everything(found: Liveness, window: Window, launch: Launch) -> Liveness:
    if launch.fused and not launch.partitioned:
        return found
    work = [n for n in launch.tasks if window.tasks[n].scalar]
    if launch.partitioned:
        work = [n for n in work if n in found.nests[0].hoisted]
    return replace(found, deferrable=tuple(work))


def _late_first(
    window: Window, launch: Launch, number: int, nest: NestLiveness
) -> NestLiveness:
    """Change single elements before the nest that reads what they were."""
    before = tuple(sorted((*nest.hoisted, *nest.late)))
    return replace(nest, hoisted=before, late=())


def _late_never(
    window: Window, launch: Launch, number: int, nest: NestLiveness
) -> NestLiveness:
    return replace(nest, late=())


def test_what_late_tasks_read_is_not_reduced_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    add = Group.add

    def forget(group: Group, position: int, task: IndexTask) -> None:
        add(group, position, task)
        group.read_late.clear()

    monkeypatch.setattr(Group, "add", forget)
    assert is_noticed(is_wrong, WINDOWS)


def test_what_was_read_before_is_not_computed_by_the_launch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def computed(window: Window, positions: Sequence[int]) -> set[int]:
        tasks = [window.tasks[position] for position in positions]
        views = [v for t in tasks if t.scalar for v in t.writes]
        return {view.store.id for view in views if not view.store.live}

    monkeypatch.setattr(liveness, "_computed", computed)
    assert is_noticed(is_wrong, WINDOWS)


def test_results_that_begin_elsewhere_have_tiles_that_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(halo, "_tile_of", lambda *_: halo.NO_HALO)
    assert is_noticed(is_wrong, WINDOWS)


def test_the_leaders_tiles_hold_all_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TileAxis, "fits", lambda *_: True)
    assert is_noticed(is_wrong, WINDOWS)


def test_points_reduce_what_they_compute_for_others_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def not_shared(*given: Any) -> halo.Halos:
        return replace(halo.halos(*given), shared=False)

    monkeypatch.setattr(tile_nests, "halos", not_shared)
    assert is_noticed(is_wrong, WINDOWS)


@pytest.mark.parametrize(
    "worsen",
    [
        _each_nest(_late_first),
        _each_nest(_late_never),
        _each_nest(_drop_what_is_live),
        _each_nest(_drop_what_is_read_first),
        _each_nest(_drop_what_is_touched_later),
        _hoist_nothing,
        _hoist_without_closure,
        _all_in_scratch,
        _dead_in_scratch,
        _parts_in_scratch,
        _always_undefined,
        _last_although_live,
        _last_although_used,
        _defer_everything,
    ],
    ids=(
        "late tasks come first",
        "late tasks never come",
        "drop what is live",
        "drop what is read first",
        "drop what is touched later",
        "hoist nothing",
        "hoist without closure",
        "all in scratch",
        "dead in scratch",
        "parts in scratch",
        "always undefined",
        "last although live",
        "last although used",
        "defer everything",
    ),
)
def test_wrong_liveness_is_noticed(
    worsen: Callable[[Liveness, Window, Launch], Liveness],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    analyse = liveness.analyse_liveness

    def worse(window: Window, formed: tuple[Launch, ...]) -> tuple[Liveness, ...]:
        return tuple(
            worsen(found, window, launch)
            for found, launch in zip(analyse(window, formed), formed, strict=True)
        )

    monkeypatch.setattr(pipeline, "analyse_liveness", worse)
    assert is_noticed(is_wrong, WINDOWS)


def _writes_are_disjoint(later: Any, task: IndexTask) -> bool:
    writes = {view.store.id for view in task.writes}
    return task.scalar and writes.isdisjoint(later.touched)


def _unchanged(later: Any, task: IndexTask) -> bool:
    return task.scalar and task.stores.isdisjoint(later.changed)


@pytest.mark.parametrize(
    "can_wait",
    [_writes_are_disjoint, _unchanged],
    ids=["although its inputs change", "although its result is used"],
)
def test_each_condition_of_waiting_is_needed(
    can_wait: Callable[[Any, IndexTask], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(liveness._Later, "can_wait", can_wait)
    assert is_noticed(is_wrong, WINDOWS)


def _forget_deferred(later: Any, task: IndexTask, *, waits: bool, folded: bool) -> None:
    if folded or not waits:
        later.touched |= task.stores
        later.changed |= {view.store.id for view in task.changes}


def _forget_folded(later: Any, task: IndexTask, *, waits: bool, folded: bool) -> None:
    if waits:
        later.deferred |= task.stores
    else:
        _forget_deferred(later, task, waits=False, folded=folded)


@pytest.mark.parametrize(
    "add",
    [_forget_deferred, _forget_folded],
    ids=["its inputs are dropped", "what is folded reads nothing"],
)
def test_what_waits_is_remembered(add: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness._Later, "add", add)
    # it takes scalar work that waits in one task, and its operand in an earlier one
    assert is_noticed(is_wrong, 3 * WINDOWS)


def test_a_reduction_needs_its_fill_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    deferrable = liveness._deferrable

    def without_reductions(
        window: Window, launch: Launch, hoisted: Sequence[int], later: Any
    ) -> tuple[int, ...]:
        tasks = tuple(
            replace(task, accesses=tuple(a for a in task.accesses if not a.operator))
            for task in window.tasks
        )
        return deferrable(Window(tasks), launch, hoisted, later)

    monkeypatch.setattr(liveness, "_deferrable", without_reductions)
    assert is_noticed(is_wrong, WINDOWS)


# -- new names -------------------------------------------------------------------
def _as_if_overwritten(history: Any, store: Any, touches: Any) -> bool:
    return True


def _as_if_dead(history: Any, store: Any, touches: Any) -> bool:
    return overwritten(history, replace(store, live=False), touches)


def _as_if_read_never(history: Any, store: Any, touches: Any) -> bool:
    return overwritten(history, store, [replace(t, reads=()) for t in touches])


def _as_if_reduced_never(history: Any, store: Any, touches: Any) -> bool:
    return overwritten(history, store, [replace(t, reduces=False) for t in touches])


overwritten = renaming._History.is_overwritten
examine = renaming._examine


def _forget_the_change(history: Any, position: int) -> Any:
    found = examine(history, position)
    return found and replace(found, split=None)


BROKEN_NAMES: dict[str, tuple[Any, str, Any]] = {
    "nothing is read any more": (
        renaming._History,
        "is_overwritten",
        _as_if_overwritten,
    ),
    "nothing lives on": (renaming._History, "is_overwritten", _as_if_dead),
    "no later task reads": (renaming._History, "is_overwritten", _as_if_read_never),
    "no later task reduces": (
        renaming._History,
        "is_overwritten",
        _as_if_reduced_never,
    ),
    "the source does not change": (renaming, "_examine", _forget_the_change),
    "an array has another name in the end": (
        renaming,
        "_with_own_name_last",
        lambda found: found,
    ),
    "names are taken again too early": (
        renaming,
        "_last_uses",
        lambda splits, copies: [*splits[:-1], -1, -1],
    ),
    "tasks run in any launch": (pipeline, "_scattered", lambda *_: frozenset()),
    "everything is a copy": (pipeline, "copies", lambda _, task: len(task.reads) == 1),
}


@pytest.mark.parametrize("broken", BROKEN_NAMES.values(), ids=BROKEN_NAMES)
def test_broken_names_are_noticed(
    broken: tuple[Any, str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*broken)
    assert is_noticed(is_wrong, WINDOWS)


def _cover_what_they_overlap(views: Any, parts: Any) -> bool:
    return all(any(may_overlap(v, part) for part in parts.values()) for v in views)


BROKEN_RELATIONS: dict[str, tuple[str, Any]] = {
    "what covers a store is the store": ("shows_store", covers_store),
    "parts cover what they overlap": ("are_covered", _cover_what_they_overlap),
    "landmarks are the same in all stores": ("_has_no_landmarks", lambda view: True),
}


@pytest.mark.parametrize("broken", BROKEN_RELATIONS.values(), ids=BROKEN_RELATIONS)
def test_names_depend_on_relations_of_views(
    broken: tuple[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renaming, *broken)
    assert is_noticed(is_wrong, WINDOWS)


# -- privileges of programs ------------------------------------------------------
@pytest.mark.parametrize("lost", [1, 2], ids=["READ", "WRITE"])
def test_programs_need_their_privileges(
    lost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_roots = arguments._name_roots

    def with_less(launch: PlannedLaunch, *given: Any) -> None:
        name_roots(launch, *given)
        launch.privileges = bytes(
            privilege & ~lost or privilege for privilege in launch.privileges
        )

    monkeypatch.setattr(arguments, "_name_roots", with_less)
    assert is_noticed(is_wrong, WINDOWS)


def test_a_root_that_is_written_in_part_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use = root_users.RootUsers._use

    def as_if_covered(
        users: root_users.RootUsers, argument: int, privilege: int, *, covers: bool
    ) -> None:
        covers = covers or privilege == root_users.WRITE
        use(users, argument, privilege, covers=covers)

    monkeypatch.setattr(root_users.RootUsers, "_use", as_if_covered)
    assert is_noticed(is_wrong, WINDOWS)
