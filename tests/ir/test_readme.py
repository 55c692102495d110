# SPDX-License-Identifier: Apache-2.0
"""The page that describes the IR is right."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from window_reader import parse

import legate_diffuse.ir
from legate_diffuse.fusion.grouping import group_window
from legate_diffuse.fusion.pipeline import covered
from legate_diffuse.ir import Points, Privilege
from legate_diffuse.ir.privilege import OPERATORS
from legate_diffuse.ir.text import STORE_FLAGS, render
from legate_diffuse.ir.verify import verify_window
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS

PAGE = Path(legate_diffuse.ir.__file__).with_name("README.md").read_text("utf-8")


def example() -> str:
    (text,) = re.findall(r"```\n(.*?)```", PAGE, re.DOTALL)
    return str(text)


def test_the_example_is_a_window() -> None:
    window = parse(example())
    verify_window(window)
    assert len(window.tasks) == 6
    uncommented = [line.partition("#")[0].rstrip() for line in example().splitlines()]
    assert set(render(window).splitlines()) == set(uncommented)


def test_the_example_forms_the_groups_that_the_page_describes() -> None:
    groups = group_window(parse(example()), partial(covered, MEANINGS))
    assert [group.tasks for group in groups] == [(0, 1, 2, 3, 5), (4,)]


def test_all_words_of_the_language_are_explained() -> None:
    explained = set(re.findall(r"`(\w+)", PAGE))
    words = {*STORE_FLAGS, *OPERATORS}
    words |= {points.value for points in Points}
    words |= {word for privilege in Privilege for word in privilege.text.split()}
    words |= {"nonaffine", "where", "as", "new", "carried"}
    assert words <= explained
