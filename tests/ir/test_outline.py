# SPDX-License-Identifier: Apache-2.0
"""A number stands for one outline, whatever comes in between."""

from __future__ import annotations

import sys
from itertools import count
from types import FrameType
from typing import Any

import pytest

from legate_diffuse.ir.outline import OUTLINES, Outline, number_of

# no view has so many dimensions
_DIMS = count(1000)


def new_outline() -> Outline:
    return Outline((next(_DIMS),), None)


def assert_all_are_known(outlines: list[Outline]) -> None:
    numbers = [number_of(outline) for outline in outlines]
    assert len(set(numbers)) == len(numbers)
    assert [OUTLINES[number] for number in numbers] == outlines


class Interruption(BaseException):
    """As by a signal's handler."""


def interrupt(line: int, outline: Outline) -> bool:
    """Ask for a number, and raise before a line runs; False if there are fewer."""
    left = line

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code is not number_of.__code__:
            return None
        if event == "line":
            left -= 1
            if left < 0:
                raise Interruption
        return trace

    sys.settrace(trace)
    try:
        number_of(outline)
    except Interruption:
        return True
    finally:
        sys.settrace(None)
    return False


def test_an_interruption_anywhere_leaves_numbers_right() -> None:
    interrupted = []
    for line in range(20):
        interrupted.append(new_outline())
        if not interrupt(line, interrupted[-1]):
            break
        assert_all_are_known([new_outline(), interrupted[-1], new_outline()])
    assert len(interrupted) > 3
    assert_all_are_known(interrupted)


@pytest.mark.parametrize("hashed", range(1, 4))
def test_nested_work_leaves_numbers_right(hashed: int) -> None:
    """A finalizer asks for an outline while an outline is looked up."""
    nested = [new_outline()]

    class Dims(tuple[int, ...]):
        left = hashed

        def __hash__(self) -> int:
            Dims.left -= 1
            if Dims.left == 0:
                number_of(nested[0])
            return super().__hash__()

    outer = Outline(Dims((next(_DIMS),)), None)
    number_of(outer)
    assert_all_are_known([outer, *nested, new_outline()])


def test_the_same_outline_asked_for_meanwhile_has_one_number() -> None:
    dims = (next(_DIMS),)
    found: list[int] = []

    class Dims(tuple[int, ...]):
        asked = False

        def __hash__(self) -> int:
            if not Dims.asked:
                Dims.asked = True
                found.append(number_of(Outline(dims, None)))
            return super().__hash__()

    assert number_of(Outline(Dims(dims), None)) == found[0]
