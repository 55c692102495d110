# SPDX-License-Identifier: Apache-2.0
"""How many layouts and views are remembered, of a program with ever new ones."""

from __future__ import annotations

import gc
from collections import deque
from types import SimpleNamespace

import pytest

import legate_diffuse.stores.layout as layouts
import legate_diffuse.stores.view as views
from legate_diffuse.stores.layout import Layout, whole
from legate_diffuse.stores.view import View

EXTENT = 60


def _count(kind: type) -> int:
    return sum(type(each) is kind for each in gc.get_objects())


def test_layouts_of_parts_of_parts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "_MAX_IN_ALL", 1000)
    monkeypatch.setattr(layouts, "_remembered", deque())
    before = _count(Layout)
    matrix = whole((EXTENT, EXTENT + 1))
    for row in range(EXTENT):
        part = matrix.derive(("project", 0, row))
        assert part is not None
        found = [part.derive(("slice", 0, column, None)) for column in range(EXTENT)]
        # what came last is found again
        assert part.derive(("slice", 0, EXTENT // 2, None)) is found[EXTENT // 2]
    assert 500 < _count(Layout) - before <= 1100 < EXTENT**2


def test_views_of_parts_of_parts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "_MAX_DERIVED", 20)
    monkeypatch.setattr(views, "_MAX_OF_PART", 10)
    before = _count(View)
    view = View(SimpleNamespace(moves=0), whole((EXTENT, EXTENT)))  # type: ignore[arg-type]
    for row in range(EXTENT):
        part = view.project(0, row)
        for column in range(1, EXTENT):
            found = part.slice(0, column, None)
            assert part.slice(0, column, None) is found
    assert 20 < _count(View) - before <= 20 * (1 + 10) + 2
