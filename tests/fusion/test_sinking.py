# SPDX-License-Identifier: Apache-2.0
"""Tasks that move to where others touch the same arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import pytest
from concrete_programs import Program
from mutants import mutate
from noticed import is_noticed
from plan_checks import fails
from random_programs import random_program
from tiers import examples
from window_golden import covered
from window_reader import parse

from legate_diffuse.fusion import sinking
from legate_diffuse.fusion.grouping import group_window
from legate_diffuse.fusion.sinking import sink

# %0 to %4 are arrays, %5 and %6 single elements
STORES: Final = "".join(
    [f"store %{n} float64 live single\n" for n in range(5)]
    + [f"store %{n} float64 live replicated single\n" for n in (5, 6)]
    + [f"view %{n}.{n} shape 0 many [:]\n" for n in range(5)]
    + [f"view %{n}.{n} shape 0 many [] as (*)\n" for n in (5, 6)]
    + [f"view %{n}.1{n} shape 1 many [1:]\n" for n in (1, 4)]
)


def _add(target: int, one: int, other: int) -> str:
    return (
        "BINARY_OP.ADD(float64, float64) -> (float64) shape 0: "
        f"write %{target}.{target}, read %{one}.{one}, read %{other}.{other}\n"
    )


def _sum(target: int, array: int) -> str:
    return (
        "SCALAR_UNARY_RED.SUM(float64) -> (float64) shape 0: "
        f"reduce(add) %{target}.{target}, read %{array}.{array}\n"
    )


# %1 is p, %2 is x, %3 is r
X: Final = _add(2, 2, 5) + _add(2, 2, 1)
SHIFTED: Final = (
    "BINARY_OP.ADD(float64, float64) -> (float64) shape 1: "
    "write %4.14, read %1.11, read %1.11\n"
)
PROGRAMS: Final = {
    "x moves to p": (
        _sum(5, 1) + X + _add(3, 3, 5) + _sum(6, 3) + _add(1, 1, 6),
        [(0,), (3, 4), (1, 2, 5)],
    ),
    "a sum remains": (
        _sum(5, 1) + X + _sum(6, 3) + _add(1, 1, 6),
        [(0,), (3,), (1, 2, 4)],
    ),
    "somebody in the band reads x": (
        _sum(5, 1) + X + _add(3, 3, 2) + _sum(6, 3) + _add(1, 1, 6),
        [(0,), (1, 2, 3, 4), (5,)],
    ),
    "another loop of the band reads p": (
        _sum(5, 1) + X + _add(3, 3, 5) + SHIFTED + _sum(6, 3) + _add(1, 1, 6),
        [(0,), (1, 2, 3, 5), (4,), (6,)],
    ),
    "what x needs changes before": (
        _sum(5, 1) + X + _add(3, 3, 5) + _sum(6, 3) + _sum(5, 0) + _add(1, 1, 6),
        [(0,), (1, 2, 3, 4), (5, 6)],
    ),
    "nobody needs x again": (
        _sum(5, 1) + X + _add(3, 3, 5) + _sum(6, 3) + _add(4, 4, 6),
        [(0,), (1, 2, 3, 4), (5,)],
    ),
}


@pytest.mark.parametrize(("text", "expected"), PROGRAMS.values(), ids=PROGRAMS)
def test_tasks_move_where_arrays_are_shared(
    text: str, expected: list[tuple[int, ...]]
) -> None:
    window = parse(STORES + text)
    groups = sink(group_window(window, covered))
    assert [group.tasks for group in groups] == expected


def test_points_keep_their_tasks() -> None:
    text, _ = PROGRAMS["x moves to p"]
    window = parse((STORES + text).replace(" single", ""))
    groups = group_window(window, covered)
    assert len(groups) > 1
    assert sink(groups) == groups


WINDOWS = examples(2_000, 8_000)


@cache
def _sunk() -> tuple[Program, ...]:
    """Return random programs in which something moves."""
    found = []
    for number in range(WINDOWS):
        program = random_program(number)
        groups = group_window(program.window, covered)
        if sink(groups) != groups:
            found.append(program)
    return tuple(found)


def test_random_programs_give_the_same_values() -> None:
    assert len(_sunk()) > WINDOWS / 80
    assert not any(map(fails, _sunk()))


BROKEN: Final[dict[str, tuple[Callable[..., Any], str, str]]] = {
    "tasks move past what they conflict with": (
        sinking._conflict,
        "conflicts(task, other)",
        "False",
    ),
    "all tasks may be one group": (
        sinking._target,
        "refuse_any(Group(), in_order) is None",
        "True",
    ),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_rule_is_noticed(
    broken: tuple[Callable[..., Any], str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(*broken, monkeypatch)
    assert is_noticed(lambda number: fails(random_program(number)), 8_000)
