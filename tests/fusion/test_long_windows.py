# SPDX-License-Identifier: Apache-2.0
"""How much planning asks grows as windows do, and not as their squares."""

from __future__ import annotations

from typing import Any

import pytest
from recorder import Machine, Recorder, part
from window_reader import parse

from legate_diffuse.fusion import grouping, schedule
from legate_diffuse.fusion.pipeline import make_plan
from legate_diffuse.ir import Window, relations
from legate_diffuse.ir.distance import landmarks_of
from legate_diffuse.ir.region_text import landmark_name
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS

DIVIDE = "BINARY_OP.DIVIDE(float64, float64) -> (float64) shape"


def columns(count: int) -> Window:
    """Fill an array, and then overwrite so many of its columns one by one."""
    views = [
        f"view %0.{n + 2} shape 1 many [:, {landmark_name(n)}]" for n in range(count)
    ]
    copies = [
        f"COPY(float64) -> (float64) shape 1: write %0.{n + 2}, read %1.1"
        for n in range(count)
    ]
    return parse(
        "\n".join(
            (
                "store %0 float64 single undefined",
                "store %1 float64 live single",
                "view %0.0 shape 0 many [:, :]",
                "view %1.1 shape 1 many [:]",
                *views,
                "FILL(float64) -> (float64) shape 0: write %0.0",
                *copies,
                "COPY(float64) -> (float64) shape 1: write %1.1, read %0.2",
            )
        )
    )


def quotients(count: int) -> Window:
    """Divide so many arrays, each of a shape of its own, by their sums."""
    stores, views, tasks = [], [], []
    for n in range(count):
        x, s, y, shape = 3 * n, 3 * n + 1, 3 * n + 2, n + 1
        stores += [
            f"store %{x} float64 live single",
            f"store %{s} float64 replicated single undefined",
            f"store %{y} float64 live single undefined",
        ]
        views += [
            f"view %{x}.{4 * n} shape {shape} many [:]",
            f"view %{s}.{4 * n + 1} shape 0 one []",
            f"view %{s}.{4 * n + 2} shape {shape} many [] as (*)",
            f"view %{y}.{4 * n + 3} shape {shape} many [:]",
        ]
        tasks += [
            f"FILL(float64) -> (float64) shape 0: write %{s}.{4 * n + 1}",
            f"SCALAR_UNARY_RED.SUM(float64) -> (float64) shape {shape}: "
            f"reduce(add) %{s}.{4 * n + 1}, read %{x}.{4 * n}",
            f"{DIVIDE} {shape}: write %{y}.{4 * n + 3}, read %{x}.{4 * n}, "
            f"read %{s}.{4 * n + 2}",
        ]
    return parse("\n".join((*stores, *views, *tasks)))


def parts(count: int) -> Window:
    """Add so many parts of an array to those of another one, which may overlap."""
    recorder = Recorder(Machine(pieces=1))
    x, y = recorder.array(9999), recorder.array(9999)
    for n in range(count):
        square = recorder.array(490, live=False, made=False)
        first = 10 + 20 * n
        source, target = part(x, first, first + 490), part(y, first - 3, first + 487)
        recorder.task("BINARY_OP.MULTIPLY", (square, source, source))
        recorder.task("BINARY_OP.ADD", (target, target, square))
    return recorder.finish()[1]


def copies(count: int) -> Window:
    """Copy so many arrays, each of a shape of its own."""
    stores = [f"store %{n} float64 live single" for n in range(2 * count)]
    views = [f"view %{n}.{n} shape {n // 2} many [:]" for n in range(2 * count)]
    tasks = [
        f"COPY(float64) -> (float64) shape {n}: "
        f"write %{2 * n}.{2 * n}, read %{2 * n + 1}.{2 * n + 1}"
        for n in range(count)
    ]
    return parse("\n".join((*stores, *views, *tasks)))


def calls(
    window: Window, owner: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> int:
    """Return how often something is called while a window is planned."""
    count = 0
    original = getattr(owner, name)

    def counting(*arguments: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        return original(*arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, counting)
        make_plan(window, MEANINGS)
    return count


def test_each_part_is_taken_away_once(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (
        calls(columns(count), relations, "_without", monkeypatch) for count in (20, 40)
    )
    assert 0 < few < many <= 2 * few + 2


def test_bands_that_share_no_store_are_made_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few, many = (
        calls(quotients(count), schedule.BandBuilder, "_join", monkeypatch)
        for count in (10, 20)
    )
    assert 0 < few < many <= 2 * few


def test_no_shift_depends_on_many_landmarks() -> None:
    (launch,) = make_plan(parts(100), MEANINGS).launches
    most = max(len(landmarks_of(nest.turn.shift)) for nest in launch.nests)
    assert schedule._MOST_LANDMARKS - 2 <= most <= schedule._MOST_LANDMARKS


def test_groups_far_back_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (
        calls(copies(count), grouping, "refuse", monkeypatch) for count in (300, 600)
    )
    assert 0 < few < many <= 2.5 * few
