# SPDX-License-Identifier: Apache-2.0
"""Small windows are as the IR says: recorded again, they have the same text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import pytest
from recorder import Recorder
from window_reader import parse

from legate_diffuse.ir import Window
from legate_diffuse.ir.text import render
from legate_diffuse.proof.cases import ALL_WAYS
from legate_diffuse.proof.extents import SmallInstances
from legate_diffuse.proof.instance import Instance
from legate_diffuse.stores.layout import Layout
from legate_diffuse.stores.view import View

sys.path.append(str(Path(__file__).parents[1] / "fusion"))

from random_programs import random_program
from recorded_windows import FOLDER, sections

RANDOM: Final = 300


def instances(window: Window) -> list[Instance]:
    num_views = 1 + max(view.id for view in window.views)
    num_shapes = 1 + max(task.shape for task in window.tasks)
    num_shapes = max(num_shapes, 1 + max(view.shape for view in window.views))
    small = SmallInstances(window, num_views, num_shapes)
    found = [small.find(wanted) for wanted in ALL_WAYS]
    return [each for each in found if each is not None]


def regions(window: Window) -> list[str]:
    """Return what is said of each access, in order: its region, and how it moves."""
    lines = {}
    for line in render(window).splitlines():
        if line.startswith("view "):
            _, name, _, _, region = line.split(maxsplit=4)
            # rows may be short or not
            lines[name] = region.replace("short ", "many ", 1)
    return [
        lines[f"%{access.view.store.id}.{access.view.id}"]
        for task in window.tasks
        for access in task.accesses
    ]


def recorded(instance: Instance) -> Window:
    """Return the IR of a window whose arrays have the extents of an instance."""
    recorder = Recorder()
    arrays: dict[int, View] = {}
    for store in instance.window.stores:
        arrays[store.id] = recorder.array(
            *instance.extents[store.id],
            dtype=store.dtype,
            live=store.live,
            made=not store.undefined,
            scalar=store.replicated,
            constant=object() if store.constant else None,
        )
    for task in instance.window.tasks:
        views = []
        for access in task.accesses:
            small: Any = instance.layout(access.view.id)
            layout = Layout(
                small.shape, small.dims, small.low, small.extents, affine=small.affine
            )
            views.append(arrays[access.view.store.id].through(layout))
        kind = task.kind
        recorder.task(
            f"{kind.task}.{kind.code}" if kind.code else kind.task,
            views,
            [int(access.privilege) for access in task.accesses],
            kind.scalars,
        )
    return recorder.finish()[1]


@pytest.mark.parametrize("seed", range(0, RANDOM, 20))
def test_random_windows_have_small_extents(seed: int) -> None:
    for number in range(seed, seed + 20):
        window = random_program(number).window
        found = instances(window)
        assert found, "there are extents for which all relations hold"
        for instance in found:
            assert regions(recorded(instance)) == regions(window), instance.name


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda p: p.stem)
def test_windows_of_applications_have_small_extents(path: Path) -> None:
    window = parse(dict(sections(path.read_text("utf-8")))["window"])
    found = instances(window)
    assert len(found) == len(ALL_WAYS)
    for instance in found:
        assert regions(recorded(instance)) == regions(window), instance.name


def test_a_replicated_array_has_one_element() -> None:
    window = parse(
        """
        store %0 float64 live undefined
        store %1 float64 live replicated single
        view %0.0 shape 0 many [:, :]
        view %1.1 shape 0 many [:] as (*, 0)
        UNARY_OP.COPY(float64) -> (float64) shape 0: write %0.0, read %1.1
        """
    )
    found = instances(window)
    assert found
    assert {instance.extents[1] for instance in found} == {(1,)}
    assert {instance.extents[0][1] for instance in found} == {1}


def test_what_is_written_with_one_landmark_lies_before_the_next() -> None:
    window = parse(
        """
        store %0 float64 live where c < b < a, -
        store %1 float64 live undefined
        store %2 float64 live
        view %1.0 shape 0 many [:, :]
        view %0.1 shape 0 many [a:a+3, :]
        view %0.2 shape 0 many [b:a-16, :]
        view %0.3 shape 1 many [b-15:b-14, :]
        view %2.4 shape 1 many [:, :]
        view %0.5 shape 0 many [c:c+3, :]
        UNARY_OP.COPY(float64) -> (float64) shape 0: write %1.0, read %0.1
        UNARY_OP.COPY(float64) -> (float64) shape 0: write %1.0, read %0.2
        UNARY_OP.COPY(float64) -> (float64) shape 1: write %0.3, read %2.4
        UNARY_OP.COPY(float64) -> (float64) shape 0: write %1.0, read %0.5
        """
    )
    found = instances(window)
    assert found
    for instance in found:
        # a and b are near, so c+3 could be near b, and would be written with it
        assert regions(recorded(instance)) == regions(window), instance.name
