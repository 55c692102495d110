# SPDX-License-Identifier: Apache-2.0
"""The place of an operation is the program's innermost line, however it is found."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import legate_diffuse
from legate_diffuse import _native
from legate_diffuse.observe.location import locate, locate_operation

HERE = "test_location.py"
OURS = """
def inside(depth, call):
    if depth:
        return inside(depth - 1, call)
    return call() if call is not None else (locate(), locate_one())


def locate_one():
    return places.find(7) or locate_operation(places, 7)
"""
Inside = Callable[..., Any]


def _of_this_package() -> Inside:
    """Return a function that stands for the package's own."""
    file = Path(legate_diffuse.__file__).parent / "not_a_file.py"
    names = {
        "locate": locate,
        "locate_operation": locate_operation,
        "places": _native.Places(),
    }
    exec(compile(OURS, file, "exec"), names)
    inside: Inside = names["inside"]  # type: ignore[assignment]
    return inside


def test_an_operation_is_located_from_any_depth_and_again() -> None:
    inside = _of_this_package()
    for _ in range(3):
        for depth in (2, 0, 7, 3, 5, 4):
            places = [inside(depth, None)]
            line = sys._getframe().f_lineno - 1
            assert len(set(places[0])) == 1
            assert places[0][0].endswith(f"{HERE}:{line}")


def test_a_function_of_the_program_hides_its_caller() -> None:
    inside = _of_this_package()

    def plain() -> Any:
        return inside(0, None)

    line = plain.__code__.co_firstlineno + 1
    for depth in range(4):
        inside(depth, None)
        for place in inside(depth, plain):
            assert place.endswith(f"{HERE}:{line}")


def test_each_line_is_told_apart() -> None:
    inside = _of_this_package()
    for _ in range(2):
        first = inside(1, None)
        second = inside(1, None)
        lines = [int(place.rpartition(":")[2]) for place in (*first, *second)]
        assert lines[0] == lines[1] == lines[2] - 1 == lines[3] - 1
