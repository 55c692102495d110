# SPDX-License-Identifier: Apache-2.0
"""The page that describes the passes is right."""

from __future__ import annotations

import re
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
    made: list[tuple[str, str]] = []

    def note(step: Pass, draft: Draft) -> None:
        made.append((step.name, step.render(draft)))

    make_plan(parse(shown[0][1]), MEANINGS, note)
    assert made == shown


def test_the_page_lists_the_passes() -> None:
    rows = re.findall(r"^\| (\w+) \|", PAGE, re.MULTILINE)
    assert rows == ["pass", *(step.name for step in PASSES)]


def test_the_page_names_files_that_are_there() -> None:
    named = set(re.findall(r"`(\w+\.py)`", PAGE))
    assert len(named) > 8
    assert {name for name in named if not (FOLDER / name).exists()} == set()
