# SPDX-License-Identifier: Apache-2.0
"""An item of many cases runs all, and names those that fail."""

from __future__ import annotations

import inspect
import itertools

import pytest
from every import every


def test_all_cases_run() -> None:
    seen = []

    @every("x", [1, 2])
    @every(("y", "z"), [(3, 4), (5, 6)])
    def check(fixture: str, x: int, y: int, z: int) -> None:
        seen.append((fixture, x, y, z))

    assert [*inspect.signature(check).parameters] == ["fixture"]
    check(fixture="f")
    assert seen == [("f", x, y, z) for x in (1, 2) for y, z in ((3, 4), (5, 6))]


def test_a_failure_is_named() -> None:
    seen = []

    @every("x", range(5))
    def check(x: int) -> None:
        seen.append(x)
        assert x != 3

    with pytest.raises(AssertionError) as failure:
        check()
    assert failure.value.__notes__ == ["The case is x=3."]
    assert seen == [*range(5)]


def test_all_failures_are_named() -> None:
    @every("x", range(4), ids="case {}".format)
    @every("y", "ab")
    def check(x: int, y: str) -> None:
        if x % 2:
            raise LookupError(y)

    with pytest.raises(ExceptionGroup) as failure:
        check()
    names = [f"case {x} and y={y!r}" for x, y in itertools.product((1, 3), "ab")]
    assert failure.value.message == f"4 of 8 cases fail: {'; '.join(names)}"
    assert len(failure.value.exceptions) == 4


def test_an_item_is_skipped_if_all_cases_are() -> None:
    seen = []

    @every("x", [1, 2])
    def check(x: int) -> None:
        seen.append(x)
        pytest.skip("not here")

    with pytest.raises(pytest.skip.Exception, match="not here"):
        check()
    assert seen == [1, 2]

    @every("x", [1, 2])
    def half(x: int) -> None:
        if x == 1:
            pytest.skip("not here")

    half()


def test_groups_are_items() -> None:
    seen = []

    @every("x", range(4), by=lambda x: "odd" if x % 2 else "even")
    @every("y", "ab")
    def check(x: int, y: str) -> None:
        seen.append((x, y))

    (mark,) = check.pytestmark  # type: ignore[attr-defined]
    assert mark.args == ("group", ["even", "odd"])
    check(group="odd")
    assert seen == [(1, "a"), (1, "b"), (3, "a"), (3, "b")]


def test_no_cases_are_a_mistake() -> None:
    with pytest.raises(AssertionError, match="there is no case of x"):
        every("x", [])
