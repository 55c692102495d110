# SPDX-License-Identifier: Apache-2.0
"""What a pass does wrong is noticed after it."""
# ruff: noqa: E501 (the lines of windows)

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from window_reader import parse

from legate_diffuse.fusion.draft import Draft, LaunchDraft
from legate_diffuse.fusion.launches import Launch
from legate_diffuse.fusion.liveness import NestLiveness
from legate_diffuse.fusion.pipeline import PASSES, Pass, make_plan, verify_pass
from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.ir import Privilege, Window
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS

# A stencil with a temporary and a sum on one processor, and a product on several.
WINDOW = """
store %0 float64 live single
store %1 float64 single undefined
store %2 float64 replicated
store %3 float64 live
store %4 float64 replicated
view %0.0 shape 0 many [:]
view %1.1 shape 0 many [:]
view %0.2 shape 1 many [1:-1]
view %1.3 shape 1 many [:-2]
view %2.4 shape 2 one []
view %0.5 shape 1 many [2:]
view %3.6 shape 3 many [:]
view %4.7 shape 2 one []
view %4.8 shape 3 many [] as (*)
UNARY_OP.NEGATIVE(float64) -> (float64) shape 0: write %1.1, read %0.0
COPY(float64) -> (float64) shape 1: write %0.2, read %1.3
FILL(float64) -> (float64) shape 2: write %2.4
SCALAR_UNARY_RED.SUM(float64) -> (float64) shape 1: reduce(add) %2.4, read %0.5
UNARY_OP.NEGATIVE(float64) -> (float64) shape 2: write %4.7, read %2.4
BINARY_OP.MULTIPLY(float64, float64) -> (float64) shape 3: write %3.6, read %3.6, read %4.8
"""

# Of what is summed up first something is made that replaces it.
IN_PLACE = """
store %0 float64 live single
store %1 float64 single undefined
store %2 float64 replicated single
store %3 float64 single undefined
store %4 float64 replicated single
store %5 float64 live single undefined
view %0.0 shape 0 many [:]
view %1.1 shape 0 many [:]
view %2.2 shape 1 one []
view %2.3 shape 0 many [] as (*)
view %3.4 shape 0 many [:]
view %4.5 shape 1 one []
view %4.6 shape 0 many [] as (*)
view %5.7 shape 0 many [:]
UNARY_OP.NEGATIVE(float64) -> (float64) shape 0: write %1.1, read %0.0
FILL(float64) -> (float64) shape 1: write %2.2
SCALAR_UNARY_RED.SUM(float64) -> (float64) shape 0: reduce(add) %2.2, read %1.1
BINARY_OP.MULTIPLY(float64, float64) -> (float64) shape 0: write %3.4, read %1.1, read %2.3
FILL(float64) -> (float64) shape 1: write %4.5
SCALAR_UNARY_RED.SUM(float64) -> (float64) shape 0: reduce(add) %4.5, read %3.4
BINARY_OP.MULTIPLY(float64, float64) -> (float64) shape 0: write %5.7, read %3.4, read %4.6
"""
NEEDED_LATER = (
    IN_PLACE.replace("write %5.7", "write %0.0").strip()
    + """
BINARY_OP.ADD(float64, float64) -> (float64) shape 0: write %5.7, read %0.0, read %1.1
"""
)


def drafts(window: str = WINDOW) -> dict[str, Draft]:
    """Return what each pass has made, by its name."""
    found: dict[str, Draft] = {}

    def note(step: Pass, draft: Draft) -> None:
        verify_pass(step, draft)
        found[step.name] = draft

    make_plan(parse(window), MEANINGS, note)
    return found


def _other_window(draft: Draft, window: Window) -> Draft:
    return draft._replace(renaming=replace(draft.renaming, window=window))


def _without_the_last_task(draft: Draft) -> Draft:
    return _other_window(draft, Window(draft.renaming.window.tasks[:-1]))


def _carried(draft: Draft) -> Draft:
    return _other_window(draft, replace(draft.renaming.window, carried=1))


def _constants_change(draft: Draft) -> Draft:
    text = WINDOW.replace("store %3 float64 live", "store %3 float64 constant")
    return _other_window(draft, parse(text))


def _launch(number: int, **changes: Any) -> Callable[[Draft], Draft]:
    def broken(draft: Draft) -> Draft:
        return _with(draft, number, lambda each: replace(each.launch, **changes))

    return broken


def _with(draft: Draft, number: int, change: Callable[[LaunchDraft], Launch]) -> Draft:
    launches = list(draft.launches)
    launches[number] = launches[number]._replace(launch=change(launches[number]))
    return draft._replace(launches=tuple(launches))


def _all_in_one_program(draft: Draft) -> Draft:
    groups = tuple(group for each in draft.launches for group in each.launch.groups)
    return draft._replace(launches=(LaunchDraft(Launch(groups)),))


def _task_again(position: int) -> Callable[[Draft], Draft]:
    def broken(draft: Draft) -> Draft:
        def again(each: LaunchDraft) -> Launch:
            (group,) = each.launch.groups
            group = replace(group, tasks=(position, *group.tasks))
            return replace(each.launch, groups=(group,))

        return _with(draft, -1, again)

    return broken


def _not_stored(store: int) -> Callable[[Draft], Draft]:
    def broken(draft: Draft) -> Draft:
        live = draft.launches[0].liveness
        nests = (NestLiveness(frozenset({store})), *live.nests[1:])
        return _first(draft, liveness=replace(live, nests=nests))

    return broken


def _first(draft: Draft, **changes: Any) -> Draft:
    first, *rest = draft.launches
    return draft._replace(launches=(first._replace(**changes), *rest))


def _reads_only(draft: Draft) -> Draft:
    first, *rest = draft.launches[0].nests
    result, *others = first.accesses
    result = replace(result, privilege=Privilege.READ)
    first = replace(first, accesses=(result, *others))
    return _first(draft, nests=(first, *rest))


def _program(change: Callable[[Any], Any]) -> Callable[[Draft], Draft]:
    def broken(draft: Draft) -> Draft:
        return _first(draft, program=change(draft.launches[0].program))

    return broken


def _planned(change: Callable[[PlannedLaunch], None]) -> Callable[[Draft], Draft]:
    def broken(draft: Draft) -> Draft:
        change(draft.planned[0])
        return draft

    return broken


def _swaps_arguments(launch: PlannedLaunch) -> None:
    launch.arguments = launch.arguments[::-1]


BROKEN: dict[str, tuple[str, Callable[[Draft], Draft], str]] = {
    "a task is lost": ("renaming", _without_the_last_task, "tasks have changed"),
    "other tasks are carried": ("renaming", _carried, "other tasks are carried"),
    "names break the IR": ("renaming", _constants_change, "constant 3 is changed"),
    "a group is lost": (
        "groups",
        lambda draft: draft._replace(groups=draft.groups[1:]),
        "a task is not in one group",
    ),
    "a group is there twice": (
        "groups",
        lambda draft: draft._replace(groups=(*draft.groups, draft.groups[0])),
        "a task is not in one group",
    ),
    "a launch is lost": (
        "launches",
        lambda draft: draft._replace(launches=draft.launches[1:]),
        "a task is in no launch",
    ),
    "what is partitioned runs on one processor": (
        "launches",
        _all_in_one_program,
        "do not all run where their launch does",
    ),
    "a program is partitioned": (
        "launches",
        _launch(0, partitioned=True),
        "do not all run where their launch does",
    ),
    "a task runs twice": ("scalars", _task_again(1), "task 1 is in several launches"),
    "a task runs twice in one launch": (
        "scalars",
        _task_again(5),
        "a launch has a task twice",
    ),
    "what is live is not stored": ("liveness", _not_stored(0), "live stores [0]"),
    "a nest has no liveness": (
        "liveness",
        lambda draft: _first(
            draft, liveness=replace(draft.launches[0].liveness, nests=())
        ),
        "a nest has no liveness",
    ),
    "a nest reads what its kernel writes": (
        "kernels",
        _reads_only,
        "does something else with store 1",
    ),
    "a nest has no turn": (
        "schedule",
        _program(lambda program: replace(program, bands=program.bands[1:])),
        "a nest does not have one turn",
    ),
    "a nest has two turns": (
        "schedule",
        _program(lambda program: replace(program, bands=program.bands * 2)),
        "a nest does not have one turn",
    ),
    "arguments change places": (
        "arguments",
        _planned(_swaps_arguments),
        "the task names another one",
    ),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_what_a_pass_does_wrong_is_noticed(
    broken: tuple[str, Callable[[Draft], Draft], str],
) -> None:
    name, change, message = broken
    (step,) = (one for one in PASSES if one.name == name)
    with pytest.raises(
        ValueError, match=f"after the pass '{name}': .*{re.escape(message)}"
    ):
        verify_pass(step, change(drafts()[name]))


def test_passes_watch_one_another() -> None:
    assert list(drafts()) == [step.name for step in PASSES]


def _buffers(launch: PlannedLaunch) -> tuple[int, int]:
    """Return the buffers of what the second sum adds up, and of what that is made of."""
    made, _, read, _ = launch.nests[3].operands
    assert made < 0 > read
    return made, read


def test_what_nobody_needs_any_more_is_replaced() -> None:
    (launch,) = drafts(IN_PLACE)["arguments"].planned
    made, read = _buffers(launch)
    assert made == read
    assert len(launch.scratch) == 3


def test_what_is_needed_later_is_not_replaced() -> None:
    draft = drafts(NEEDED_LATER)["arguments"]
    (launch,) = draft.planned
    made, read = _buffers(launch)
    assert made != read
    assert len(launch.scratch) == 4


# a dead array that was written before, changed by points and read beside their tiles
ON_POINTS = """
store %0 float64
store %1 float64 live
view %0.0 shape 0 many [1:-1]
view %1.1 shape 1 many [1:-1]
view %0.2 shape 1 many [:-2]
view %0.3 shape 1 many [2:]
UNARY_OP.NEGATIVE(float64) -> (float64) shape 0: write %0.0, read %0.0
BINARY_OP.ADD(float64, float64) -> (float64) shape 1: write %1.1, read %0.2, read %0.3
"""


def _arguments(text: str) -> str:
    (step,) = (one for one in PASSES if one.name == "arguments")
    return step.render(drafts(text)["arguments"])


def test_what_nobody_uses_afterwards_stays_in_the_memory_of_points() -> None:
    assert _arguments(ON_POINTS).splitlines()[:3] == [
        "partitioned",
        "argument %0.0 read",
        "argument %1.1 read write",
    ]


def test_what_somebody_uses_afterwards_is_copied_from_there() -> None:
    text = _arguments(ON_POINTS.replace("%0 float64", "%0 float64 live"))
    assert "argument %0.0 read\n" in text
    assert "argument %0.0 write moves\n" in text
