# SPDX-License-Identifier: Apache-2.0
"""The validator divides bands of many loops over threads, as their margins say."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from proven import refuted
from window_reader import parse

from legate_diffuse.fusion.pipeline import make_plan
from legate_diffuse.ir.nest import Margin
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS

sys.path.append(str(Path(__file__).parents[1] / "fusion"))

from recorded_windows import FOLDER, sections


@pytest.mark.parametrize("place", range(1, 8))
@pytest.mark.parametrize("end", ["before", "after"])
def test_margins_of_a_stencils_sweeps_are_needed(place: int, end: str) -> None:
    text = (FOLDER / "stencil.txt").read_text("utf-8")
    window = parse(dict(sections(text))["window"])
    (launch,) = make_plan(window, MEANINGS).launches
    nest = launch.nests[place]
    assert launch.bands == (8,)
    assert nest.turn.margin == Margin(place, place)
    assert refuted(window, [launch]) is None
    less = replace(nest.turn.margin, **{end: place - 1})
    nest.turn = replace(nest.turn, margin=less)
    nest.packed = b""
    launch.written = None
    assert refuted(window, [launch]) is not None
