# SPDX-License-Identifier: Apache-2.0
"""The verifier of programs: it accepts one, and notices each thing wrong in it."""
# ruff: noqa: E501 (the lines of programs)

from __future__ import annotations

import pytest
from program_reader import parse_program

from legate_diffuse.ir.verify_program import verify_program

# A temporary, a stencil over it, a wall beside that, a sum, and what uses the sum.
PROGRAM = """
store %0 float64 live
store %1 float64
store %2 float64 live
store %3 float64 live replicated
band
nest 0 shape 0 many rows 0 margin 0 0: write %1[:, :] @0, read %0[:, :] @0
nest 1 shape 1 many rows 0 shift 2 margin 0 2: write %2[1:-1, :] @0, read %1[:-2, :] @0, read %1[2:, :] @2
nest 2 shape 2 many shift 3 margin 0 3: write %2[0, :] @0, read %2[1, :] @1
nest 3 shape 0 many rows 0 shift 3 margin 0 3: reduce(add) %3[] as (*, *), read %2[:, :] @0
circular %1 2
band
nest 4 shape 0 many rows 0 margin 0 0: write %0[:, :] @0, read %2[:, :] @0, read %3[] as (*, *)
"""

# All rows of an array use one row of another.
ROW_FOR_ALL = """
store %0 float64 live
store %1 float64 live
band
nest 0 shape 0 many rows 0: write %0[:, :] @0, read %1[:, :] @0
nest 1 shape 0 many rows 0: write %1[:, :] @0, read %0[0, :] as (*, 1)
"""

# By what is wrong: what to replace, with what, and what the verifier says.
BROKEN: dict[str, tuple[str, str, str]] = {
    # nests
    "a nest is lost": (
        "nest 0 shape 0 many rows 0 margin 0 0: write %1[:, :] @0, read %0[:, :] @0",
        "",
        "a nest does not have one turn",
    ),
    "a nest has two turns": ("nest 4", "nest 3", "a nest does not have one turn"),
    "a constant is changed": (
        "%0 float64 live",
        "%0 float64 live constant",
        "is changed",
    ),
    "a view has too many dimensions": (
        "nest 0 shape 0 many rows 0 margin 0 0: write %1[:, :] @0",
        "nest 0 shape 0 many rows 0 margin 0 0: write %1[:, :, :] @0",
        "has not the loops of the nest",
    ),
    "a store has other dimensions": (
        "read %0[:, :] @0",
        "read %0[:] as (0, *) @0",
        "store number 0 has two meanings",
    ),
    "a reduction has no operator": ("reduce(add)", "reduce", "has the operator ''"),
    "a nest reads beside what it writes": (
        "read %0[:, :] @0",
        "read %0[:, :] @0, read %1[1:, :] @1",
        "nest 0: its points depend on one another through store 1",
    ),
    "a nest reads what it reduces to": (
        "reduce(add) %3[] as (*, *)",
        "reduce(add) %3[] as (*, *), read %3[] as (*, *)",
        "nest 3: its points depend on one another through store 3",
    ),
    # distances
    "a distance is wrong": (
        "read %1[2:, :] @2",
        "read %1[2:, :] @1",
        "nest 1: its distances do not agree",
    ),
    "a point is elsewhere": (
        "read %2[1, :] @1",
        "read %2[1, :] @2",
        "nest 2: its distances do not agree",
    ),
    "what stands has a distance": (
        "reduce(add) %3[] as (*, *)",
        "reduce(add) %3[] as (*, *) @0",
        "nest 3: store 3 has a distance and stands",
    ),
    "columns are taken for rows": (
        "rows 0 shift 2",
        "rows 1 shift 2",
        "nest 1: store 2 has a distance and stands",
    ),
    "there is no such loop": (
        "rows 0 shift 2",
        "rows 2 shift 2",
        "nest 1: store 2 has a distance and stands",
    ),
    "a nest has no rows in its band": (
        "write %1[:, :] @0, read %0[:, :] @0",
        "write %1[:, :], read %0[:, :]",
        "nest 0: it has no rows in its band",
    ),
    "nothing moves along the rows": (
        "write %0[:, :] @0, read %2[:, :] @0, read %3",
        "write %0[:, :], read %2[:, :], read %3",
        "nest 4: nothing moves along its rows",
    ),
    # the order of nests
    "a nest is too early": (
        "shift 2 ",
        "shift 1 ",
        "nests 0 and 1 at store 1: the shift is 1 and not 2",
    ),
    "a wall is too early": (
        "shift 3 margin 0 3: write %2",
        "shift 2 margin 0 3: write %2",
        "nests 1 and 2 at store 2: the shift is 0 and not 1",
    ),
    "what is overwritten is too early": (
        "shift 3 margin 0 3: reduce",
        "shift 1 margin 0 3: reduce",
        "nests 1 and 3 at store 2: the shift is -1 and not 0",
    ),
    "a sum is used before it is complete": (
        "circular %1 2\nband\nnest 4 shape 0 many rows 0 margin 0 0: write %0[:, :] @0, read %2[:, :] @0",
        "nest 4 shape 0 many rows 0 shift 4 margin 1 4: write %0[:, :] @0, read %2[:, :] @-1",
        "nests 3 and 4 at store 3: they cannot take turns",
    ),
    "nests are numbered in another order": (
        "nest 0 shape 0",
        "nest 4 shape 0",
        "a nest does not have one turn",
    ),
    # threads
    "a nest has no margin": (
        "shift 2 margin 0 2",
        "shift 2",
        "band 0: some nests have margins",
    ),
    "a margin is too small": (
        "shift 2 margin 0 2",
        "shift 2 margin 0 1",
        "nests 0 and 1 at store 1: the margin is too small",
    ),
    "the margin behind a wall is too small": (
        "margin 0 3: write %2",
        "margin 0 2: write %2",
        "nests 1 and 2 at store 2: the margin is too small",
    ),
    # memory
    "a buffer is too small": (
        "circular %1 2",
        "circular %1 1",
        "circular store 1: 1 rows more are not 2",
    ),
    "a buffer is used elsewhere": (
        "nest 4 shape 0 many rows 0 margin 0 0: write %0[:, :] @0, read %2[:, :] @0",
        "nest 4 shape 0 many rows 0 margin 0 0: write %0[:, :] @0, read %1[:, :] @0",
        "circular store 1: it is used elsewhere",
    ),
    "nobody uses a buffer": ("circular %1 2", "circular %7 2", "circular store 7"),
    "a store that somebody else sees is in a buffer": (
        "circular %1 2",
        "circular %2 2",
        "circular store 2: it is not scratch",
    ),
    "what is in scratch memory is live": (
        "store %1 float64",
        "store %1 float64 live",
        "store 1 is live and in scratch memory",
    ),
    "what is in scratch memory is read first": (
        "write %1[:, :] @0, read %0[:, :] @0",
        "write %0[:, :] @0, read %1[:, :] @0",
        "store 1 is read before it is written",
    ),
}

BROKEN_ROWS: dict[str, tuple[str, str, str]] = {
    "what uses a row comes too early": (
        "nest 1 shape 0 many rows 0",
        "nest 1 shape 0 many rows 0 shift -1",
        "nests 0 and 1 at store 0: the shift is -1 and not 0",
    ),
    "a later row is used": (
        "read %0[0, :]",
        "read %0[1, :]",
        "nests 0 and 1 at store 0: the shift is 0 and not 1",
    ),
    "a row at no known place is used": (
        "read %0[0, :]",
        "read %0[-1, :]",
        "nests 0 and 1 at store 0: they cannot take turns",
    ),
    "all rows are used": (
        "read %0[0, :] as (*, 1)",
        "read %0[:, :] as (1, 0)",
        "nests 0 and 1 at store 0: they cannot take turns",
    ),
    "threads divide the rows": (
        "rows 0:",
        "rows 0 margin 0 0:",
        "nests 0 and 1 at store 0: threads cannot divide their rows",
    ),
    "bands change places": (
        "nest 0 shape 0 many rows 0: write %0[:, :] @0, read %1[:, :] @0\n",
        "nest 1 shape 0 many: write %1[:, :], read %0[0, :] as (*, 1)\n"
        "band\nnest 0 shape 0 many: write %0[:, :], read %1[:, :]\n#",
        "they run in the wrong order",
    ),
}


def refusal(text: str, scratch: set[int]) -> str:
    """Return what the verifier says of a program."""
    program = parse_program(text)
    with pytest.raises(ValueError) as found:
        verify_program(program, scratch)
    return str(found.value)


def test_programs_are_accepted() -> None:
    verify_program(parse_program(PROGRAM), {1})
    verify_program(parse_program(ROW_FOR_ALL), set())


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_is_noticed(broken: tuple[str, str, str]) -> None:
    old, new, message = broken
    assert PROGRAM.count(old) == 1
    assert message in refusal(PROGRAM.replace(old, new), {1})


@pytest.mark.parametrize("broken", BROKEN_ROWS.values(), ids=BROKEN_ROWS)
def test_rows_that_all_use_are_noticed(broken: tuple[str, str, str]) -> None:
    old, new, message = broken
    assert old in ROW_FOR_ALL
    assert message in refusal(ROW_FOR_ALL.replace(old, new), set())
