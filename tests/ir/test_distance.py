# SPDX-License-Identifier: Apache-2.0
"""Numbers of rows that depend on landmarks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from program_reader import parse_rows

from legate_diffuse.ir.distance import (
    Landmark,
    Rows,
    at,
    at_most,
    follows_from,
    greatest,
    landmarks_of,
    least,
    position,
)

LANDMARKS: list[Landmark] = [(0, 0), (0, 1), (3, 27)]
small = st.integers(-5, 5)
positions = st.fixed_dictionaries({mark: st.integers(0, 40) for mark in LANDMARKS})


@st.composite
def numbers(draw: st.DrawFn) -> Rows:
    found: Rows = draw(small)
    for mark in LANDMARKS:
        found += draw(small) * position(mark)
    return found


@given(numbers(), numbers(), small, positions)
def test_sums_are_those_of_numbers(
    one: Rows, other: Rows, factor: int, where: dict[Landmark, int]
) -> None:
    a, b = at(one, where), at(other, where)
    assert at(one + other, where) == a + b
    assert at(one - other, where) == a - b
    assert at(3 - one, where) == 3 - a
    assert at(-one, where) == -a
    assert at(factor * one, where) == factor * a
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


@given(numbers(), numbers(), positions)
def test_what_is_at_most_another_number_is_so_everywhere(
    one: Rows, other: Rows, where: dict[Landmark, int]
) -> None:
    if at_most(one, other):
        assert at(one, where) <= at(other, where)
    assert at_most(one, greatest((one, other)))
    assert at_most(least((one, other)), one)


@given(numbers(), numbers(), small)
def test_what_is_zero_with_others(one: Rows, other: Rows, factor: int) -> None:
    assert follows_from(other, []) == (other == 0)
    if isinstance(one, int):
        return
    assert follows_from(factor * one, [0, one, 2 * one])
    assert not follows_from(factor * one + 1, [one])
    assert not follows_from(one + position((7, 0)), [one])
    if follows_from(other, [one]) and not isinstance(other, int):
        # it is a multiple
        assert landmarks_of(other) == landmarks_of(one)


def test_what_is_zero_follows_from_several() -> None:
    a, b, c = map(position, LANDMARKS)
    assert follows_from(a - c + 5, [a - b + 2, b - c + 3])
    assert not follows_from(a - c + 6, [a - b + 2, b - c + 3])
    assert not follows_from(a - c + 5, [a - b + 2])


@given(numbers())
def test_text_is_read_again(rows: Rows) -> None:
    assert parse_rows(str(rows)) == rows


@pytest.mark.parametrize("text", ["", "a", "%0.", "2*", "1+", "%0.a%", "2*3", "%a.0"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no number of rows"):
        parse_rows(text)


def test_text() -> None:
    rows = 2 * position((0, 0)) - position((1, 27)) + 3
    assert str(rows) == "2*%0.a-%1.b1+3"
