# SPDX-License-Identifier: Apache-2.0
"""Nests before and after they are scheduled, as text."""
# ruff: noqa: E501 (the lines of programs)

from __future__ import annotations

import pytest
from program_reader import parse_program

from legate_diffuse.fusion.schedule import schedule
from legate_diffuse.ir.program_text import render_program

# By what is shown: stores that live in the program only, the nests, and their bands.
SCHEDULED: dict[str, tuple[set[int], str, str]] = {
    "a stencil and what reads it": (
        {1},
        """
        store %0 float64 live
        store %1 float64
        store %2 float64 live
        nest 0 shape 0 many: write %1[:, :], read %0[:, :]
        nest 1 shape 1 many: write %2[1:-1, 1:-1], read %1[:-2, 1:-1], read %1[2:, 1:-1]
        """,
        """
        band
        nest 0 shape 0 many rows 0 margin 0 0: write %1[:, :] @0, read %0[:, :] @0
        nest 1 shape 1 many rows 0 shift 2 margin 0 2: write %2[1:-1, 1:-1] @0, read %1[:-2, 1:-1] @0, read %1[2:, 1:-1] @2
        circular %1 2
        """,
    ),
    "rows at walls follow the rows beside them": (
        set(),
        """
        store %0 float64 live
        store %1 float64
        nest 0 shape 0 many: write %1[1:-1, :], read %0[:-2, :], read %0[2:, :]
        nest 1 shape 1 many: write %1[0, :], read %1[1, :]
        nest 2 shape 1 many: write %1[-1, :], read %1[-2, :]
        nest 3 shape 0 many: write %0[1:-1, :], read %1[:-2, :], read %1[2:, :]
        """,
        """
        band
        nest 0 shape 0 many rows 0 margin 0 0: write %1[1:-1, :] @0, read %0[:-2, :] @0, read %0[2:, :] @2
        nest 1 shape 1 many shift 1 margin 0 1: write %1[0, :] @0, read %1[1, :] @1
        nest 2 shape 1 many shift -1 margin 1 0: write %1[-1, :] @0, read %1[-2, :] @-1
        nest 3 shape 0 many rows 0 margin 2 0: write %0[1:-1, :] @0, read %1[:-2, :] @-2, read %1[2:, :] @0
        """,
    ),
    "a sum is complete before it is used": (
        set(),
        """
        store %0 float64 live
        store %1 float64 live replicated
        store %2 float64 live
        nest 0 shape 0 many: write %0[:], read %2[:]
        nest 1 shape 0 many: reduce(add) %1[] as (*), read %0[:]
        nest 2 shape 0 many: write %2[:], read %0[:], read %1[] as (*)
        """,
        """
        band
        nest 0 shape 0 many rows 0 margin 0 0: write %0[:] @0, read %2[:] @0
        nest 1 shape 0 many rows 0 margin 0 0: reduce(add) %1[] as (*), read %0[:] @0
        band
        nest 2 shape 0 many rows 0 margin 0 0: write %2[:] @0, read %0[:] @0, read %1[] as (*)
        """,
    ),
    "scalar work on the way comes first": (
        set(),
        """
        store %0 float64 live
        store %1 float64 live replicated
        store %2 float64 live
        nest 0 shape 0 many: write %0[:], read %2[:]
        nest 1 shape 1 one: write %1[]
        nest 2 shape 0 many: write %2[:], read %0[:], read %1[] as (*)
        """,
        """
        band
        nest 1 shape 1 one: write %1[]
        band
        nest 0 shape 0 many rows 0 margin 0 0: write %0[:] @0, read %2[:] @0
        nest 2 shape 0 many rows 0 margin 0 0: write %2[:] @0, read %0[:] @0, read %1[] as (*)
        """,
    ),
    "columns are not rows": (
        set(),
        """
        store %0 float64 live
        store %1 float64 live
        nest 0 shape 0 many: write %0[:, :], read %1[:, :]
        nest 1 shape 0 many: write %1[:, :], read %0[:, :] as (1, 0)
        """,
        """
        band
        nest 0 shape 0 many rows 0 margin 0 0: write %0[:, :] @0, read %1[:, :] @0
        band
        nest 1 shape 0 many rows 0 margin 0 0: write %1[:, :] @0, read %0[:, :] as (1, 0)
        """,
    ),
    "the program says how far rows lie apart": (
        {1},
        """
        store %0 float64 live where a < b, -
        store %1 float64
        nest 0 shape 0 many: write %1[:, :], read %0[a:, :], read %0[:b, :]
        nest 1 shape 0 many: write %0[a:, :], read %1[:, :]
        nest 2 shape 1 many: write %1[:-2, :], read %0[a+2:, :], read %0[:b-2, :]
        """,
        """
        band
        nest 0 shape 0 many rows 0 margin 0 0: write %1[:, :] @0, read %0[a:, :] @%0.a, read %0[:b, :] @0
        nest 1 shape 0 many rows 0 margin %0.a 0: write %0[a:, :] @0, read %1[:, :] @-%0.a
        nest 2 shape 1 many rows 0 shift %0.a+2 margin %0.a %0.a+2: write %1[:-2, :] @0, read %0[a+2:, :] @%0.a+2, read %0[:b-2, :] @0
        circular %1 %0.a+2
        """,
    ),
    "threads divide what comes before few rows that are far away": (
        {1},
        """
        store %0 float64 live where a < b, -
        store %1 float64
        nest 0 shape 0 many: write %1[:, :], read %0[:, :]
        nest 1 shape 1 many: write %0[1:-1, :], read %1[:-2, :], read %1[2:, :]
        nest 2 shape 2 many: write %0[:1, :], read %0[1:2, :]
        nest 3 shape 2 many: write %0[:1, :], read %0[a:a+1, :]
        """,
        """
        band
        nest 0 shape 0 many rows 0 margin 0 0: write %1[:, :] @0, read %0[:, :] @0
        nest 1 shape 1 many rows 0 shift 1 margin 1 1: write %0[1:-1, :] @0, read %1[:-2, :] @-1, read %1[2:, :] @1
        nest 2 shape 2 many rows 0 shift 2 margin 0 2: write %0[:1, :] @0, read %0[1:2, :] @1
        circular %1 2
        band
        nest 3 shape 2 many rows 0 margin 0 0: write %0[:1, :] @0, read %0[a:a+1, :] @%0.a
        """,
    ),
    "all rows use one row": (
        set(),
        """
        store %0 float64 live
        store %1 float64 live
        nest 0 shape 0 many: write %0[:, :], read %1[:, :]
        nest 1 shape 0 many: write %1[:, :], read %0[0, :] as (*, 1)
        """,
        """
        band
        nest 0 shape 0 many rows 0: write %0[:, :] @0, read %1[:, :] @0
        nest 1 shape 0 many rows 0: write %1[:, :] @0, read %0[0, :] as (*, 1)
        """,
    ),
}


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


@pytest.mark.parametrize("case", SCHEDULED.values(), ids=SCHEDULED)
def test_nests_are_scheduled(case: tuple[set[int], str, str]) -> None:
    scratch, given, expected = case
    nests = parse_program(given.replace("nest 0", "band\nnest 0")).nests
    found = render_program(schedule(nests, scratch))
    shown = [line for line in found.splitlines() if not line.startswith("store")]
    assert shown == lines_of(expected)
    assert render_program(parse_program(found)) == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nest 0 shape 0 many: write %0[:]", "no band has begun"),
        ("band\nnest 0 shape 0 many: write %0[:]", "store %0 is not declared"),
        ("store %0 int8\nstore %0 int8 live", "store number 0 is declared already"),
        ("store %0 int8\nband\nnest 0 shape 0 many: write %0", "begin with an access"),
        ("circular", "it is no part of a program"),
    ],
)
def test_what_is_no_program_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_program(text)
