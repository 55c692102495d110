# SPDX-License-Identifier: Apache-2.0
"""Numbers of rows that depend on landmarks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from program_reader import parse_rows

from legate_diffuse.ir.distance import (
    Distance,
    Landmark,
    Rows,
    at,
    greatest,
    landmarks_of,
    least,
)

LANDMARKS: list[Landmark] = [(0, 0), (0, 1), (3, 27)]
small = st.integers(-5, 5)
positions = st.fixed_dictionaries({mark: st.integers(0, 40) for mark in LANDMARKS})


@st.composite
def numbers(draw: st.DrawFn) -> Rows:
    found: Rows = draw(small)
    for mark in LANDMARKS:
        found += Distance(0, ((mark, draw(small)),))
    return found


@given(numbers(), numbers(), positions)
def test_sums_are_those_of_numbers(
    one: Rows, other: Rows, where: dict[Landmark, int]
) -> None:
    a, b = at(one, where), at(other, where)
    assert at(one + other, where) == a + b
    assert at(one - other, where) == a - b
    assert at(3 - one, where) == 3 - a
    assert one - one == 0
    assert isinstance(one, int) == (not landmarks_of(one))


@given(st.lists(numbers(), min_size=1, max_size=4), positions)
def test_bounds_hold_wherever_landmarks_are(
    rows: list[Rows], where: dict[Landmark, int]
) -> None:
    found = [at(each, where) for each in rows]
    assert at(greatest(rows), where) >= max(found)
    assert at(least(rows), where) <= min(found)
    if not any(map(landmarks_of, rows)):
        assert (greatest(rows), least(rows)) == (max(found), min(found))


@given(numbers())
def test_text_is_read_again(rows: Rows) -> None:
    assert parse_rows(str(rows)) == rows


@pytest.mark.parametrize("text", ["", "a", "%0.", "2*", "1+", "%0.a%", "2*3", "%a.0"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no number of rows"):
        parse_rows(text)


def test_text() -> None:
    rows = Distance(3, (((0, 0), 2), ((1, 27), -1)))
    assert str(rows) == "2*%0.a-%1.b1+3"
