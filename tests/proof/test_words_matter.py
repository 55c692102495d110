# SPDX-License-Identifier: Apache-2.0
"""The validator notices when a word of a program, or what its launch says, is wrong."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from noticed import is_noticed
from proven import refuted
from tiers import examples
from word_mutants import MUTANTS, Mutate, packed

from legate_diffuse.fusion.pipeline import make_plan
from legate_diffuse.fusion.plan import Plan, PlannedLaunch
from legate_diffuse.ir import Window
from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.launch import landmarks, program, tiling
from legate_diffuse.launch.program import write_program
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS
from legate_diffuse.proof.launches import Write
from legate_diffuse.proof.words import read_words

sys.path.append(str(Path(__file__).parents[1] / "fusion"))

from mutants import mutate
from random_programs import random_program
from recorded_windows import FOLDER, sections
from test_wrapping import programs as wrapping_programs
from window_reader import parse

# Two sums over arrays that lie a landmark apart, and what they are written to.
APART: Final = """
store %0 float64 live single where a < b
store %1 float64 single undefined
store %2 float64 live single undefined
store %3 float64 single undefined where a < b
view %0.0 shape 0 many [a:]
view %0.1 shape 0 many [:b]
view %1.2 shape 0 many [:]
view %0.3 shape 1 many [:]
view %2.4 shape 1 many [:]
view %3.5 shape 1 many [:]
view %3.6 shape 0 many [a:]
view %3.7 shape 0 many [:b]
BINARY_OP.ADD(float64, float64) -> (float64) shape 0: write %1.2, read %0.0, read %0.1
COPY(float64) -> (float64) shape 0: write %0.0, read %1.2
BINARY_OP.ADD(float64, float64) -> (float64) shape 1: write %3.5, read %0.3, read %0.3
BINARY_OP.ADD(float64, float64) -> (float64) shape 0: write %0.0, read %3.6, read %3.7
BINARY_OP.ADD(float64, float64) -> (float64) shape 1: write %2.4, read %0.3, read %3.5
"""
# A wrong word is noticed in one of so many windows.
RANDOM: Final = 500
WRAPPING: Final = 30
RECORDED: Final = ("stencil", "heat", "jacobi", "cg", "channel_flow")
# So many of the places where a window can be made wrong.
PLACES: Final = 4


@dataclass(frozen=True)
class _Case:
    window: Window
    plan: Plan


@cache
def _case(number: int) -> _Case:
    window = _window(number)
    return _Case(window, make_plan(window, MEANINGS))


def _window(number: int) -> Window:
    if number < len(RECORDED):
        text = (FOLDER / f"{RECORDED[number]}.txt").read_text("utf-8")
        return parse(dict(sections(text))["window"])
    number -= len(RECORDED)
    if number == 0:
        return parse(APART)
    number -= 1
    if number < WRAPPING:
        return list(wrapping_programs(number + 1))[-1].window
    return random_program(number - WRAPPING).window


CASES: Final = len(RECORDED) + 1 + WRAPPING + RANDOM


def _wrong(mutate: Mutate, launch: PlannedLaunch, place: int) -> Write:
    """Return what writes the words of one launch wrong, at one of its places."""

    def write(
        planned: Any,
        views: list[Any],
        shapes: list[Any],
        scalars: Callable[[Any], bytes],
    ) -> bytes:
        text = write_program(planned, views, shapes, scalars)
        if planned.tasks != launch.tasks:
            return text
        words = list(mutate(*read_words(text, len(planned.arguments))))
        return packed(*words[place]) if place < len(words) else text

    return write


def _count(mutate: Mutate, case: _Case, launch: PlannedLaunch) -> int:
    """Return in how many places the words of a launch can be made wrong."""
    found = []

    def write(planned: Any, *rest: Any) -> bytes:
        text = write_program(planned, *rest)
        if planned.tasks == launch.tasks:
            words = read_words(text, len(planned.arguments))
            found.append(len(list(mutate(*words))))
        return text

    refuted(case.window, case.plan.launches, write=write)
    return max(found, default=0)


def _is_refuted(mutate: Mutate, number: int) -> bool:
    rng = random.Random(number)
    case = _case(number)
    for launch in case.plan.launches:
        if not launch.fused or not launch.nests:
            continue
        count = _count(mutate, case, launch)
        for place in rng.sample(range(count), min(count, PLACES)):
            write = _wrong(mutate, launch, place)
            if refuted(case.window, case.plan.launches, write=write):
                return True
    return False


@pytest.mark.parametrize("mutate", MUTANTS.values(), ids=MUTANTS)
def test_a_wrong_word_is_noticed(mutate: Mutate) -> None:
    assert is_noticed(lambda number: _is_refuted(mutate, number), CASES)


# -- what a launch says beside its words -------------------------------------------
Change = Callable[[PlannedLaunch], Iterator[PlannedLaunch]]


def _without_privilege(lost: int) -> Change:
    def change(launch: PlannedLaunch) -> Iterator[PlannedLaunch]:
        for place, privilege in enumerate(launch.privileges):
            if privilege < REDUCE and privilege & lost and privilege != lost:
                privileges = bytearray(launch.privileges)
                privileges[place] &= ~lost
                yield replace(launch, privileges=bytes(privileges))

    return change


def _without(name: str) -> Change:
    def change(launch: PlannedLaunch) -> Iterator[PlannedLaunch]:
        if getattr(launch, name):
            yield replace(launch, **{name: ()})

    return change


def _read_only(launch: PlannedLaunch) -> Iterator[PlannedLaunch]:
    for place, privilege in enumerate(launch.privileges):
        if privilege == WRITE:
            privileges = bytearray(launch.privileges)
            privileges[place] = READ
            yield replace(launch, privileges=bytes(privileges))


def _temporary(launch: PlannedLaunch) -> Iterator[PlannedLaunch]:
    yield from (
        replace(launch, temporaries=(*launch.temporaries, view))
        for view in launch.arguments
    )


def _swapped_arguments(launch: PlannedLaunch) -> Iterator[PlannedLaunch]:
    if len(launch.arguments) > 1:
        one, two, *rest = launch.arguments
        yield replace(launch, arguments=(two, one, *rest))


CHANGES: Final[dict[str, Change]] = {
    "an argument is not read": _without_privilege(READ),
    "an argument is not written": _without_privilege(WRITE),
    "what is written is only read": _read_only,
    "what is stored is a temporary": _temporary,
    "arguments are swapped": _swapped_arguments,
    "nothing runs before the task": _without("hoisted"),
    "nothing runs after the task": _without("late"),
    "nothing moves": _without("moved"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_wrong_launch_is_noticed(change: Change) -> None:
    def changed(number: int) -> Iterator[list[PlannedLaunch]]:
        launches = _case(number).plan.launches
        for place, launch in enumerate(launches):
            if launch.fused:
                for other in change(launch):
                    yield [*launches[:place], other, *launches[place + 1 :]]

    def is_refuted(number: int) -> bool:
        window = _case(number).window
        return any(refuted(window, launches) for launches in changed(number))

    assert is_noticed(is_refuted, CASES)


WRITERS: Final[dict[str, tuple[Callable[..., Any], str, str]]] = {
    "far landmarks cut no band": (landmarks._cut, "if one != two", "if False"),
    "parts begin where their stores do": (tiling._of_nest, "low - begin", "low"),
    "parts end where their stores do": (tiling._of_nest, "high - begin", "high"),
}


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_a_broken_writer_is_noticed(
    writer: tuple[Callable[..., Any], str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(*writer, monkeypatch, (program,))

    def is_refuted(number: int) -> bool:
        case = _case(number)
        return refuted(case.window, case.plan.launches) is not None

    assert is_noticed(is_refuted, CASES)


def test_nothing_is_noticed_where_nothing_is_wrong() -> None:
    for case in map(_case, range(examples(150, CASES))):
        found = refuted(case.window, case.plan.launches)
        assert found is None, found.reason
