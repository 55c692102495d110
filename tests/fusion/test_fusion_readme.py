# SPDX-License-Identifier: Apache-2.0
"""The page that describes the passes is right."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from window_reader import parse

import legate_diffuse.fusion
from legate_diffuse.fusion.draft import Draft
from legate_diffuse.fusion.pipeline import PASSES, Pass, make_plan
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS

FOLDER = Path(legate_diffuse.fusion.__file__).parent
PAGE = (FOLDER / "README.md").read_text("utf-8")


def test_each_pass_makes_what_the_page_shows() -> None:
    shown = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
    starts = [n for n, (name, _) in enumerate(shown) if name == "window"]
    for start, end in pairwise((*starts, len(shown))):
        walk = shown[start:end]
        made: list[tuple[str, str]] = []

        def note(step: Pass, draft: Draft, made: list[tuple[str, str]] = made) -> None:
            made.append((step.name, step.render(draft)))

        make_plan(parse(walk[0][1]), MEANINGS, note)
        if start:
            # of the first window all passes are shown
            names = [name for name, _ in walk]
            made = [each for each in made if each[0] in names]
        assert made == walk


def test_the_page_lists_the_passes() -> None:
    rows = re.findall(r"^\| (\w+) \|", PAGE, re.MULTILINE)
    assert rows == ["pass", *(step.name for step in PASSES)]


def test_the_page_names_files_that_are_there() -> None:
    named = set(re.findall(r"`(\w+\.py)`", PAGE))
    assert len(named) > 8
    assert {name for name in named if not (FOLDER / name).exists()} == set()
