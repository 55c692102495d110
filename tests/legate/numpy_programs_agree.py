# SPDX-License-Identifier: Apache-2.0
"""Random programs on the machine that ``LEGATE_CONFIG`` describes.

``test_programs.py`` runs this file on several of them.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import cupynumeric as cn
import numpy as np
from comparison import same, same_but_for_rounding, unfused
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy_programs import FAILED, Agreement, Choices, NoChoiceError, Program, Writer
from numpy_reductions import REDUCTIONS
from numpy_statements import DTYPES, STATEMENTS
from numpy_writes import WRITES

import legate_diffuse
from legate_diffuse._native import num_run_apart
from legate_diffuse.interpose.window import window
from legate_diffuse.launch import choice, steps

PROGRAMS = int(os.environ.get("PROGRAMS", "100"))
if not os.environ.get("LEGATE_DIFFUSE_THREADS"):
    # whatever tasks want, which is noted nevertheless
    turns = itertools.cycle((True, False, False))
    vars(choice)["ThreadsOrPoints"]._is_to_change = lambda _: next(turns)
# Some launches are split, whatever memory they take.
split = itertools.cycle((True, False, False, False))
vars(steps)["may_take_much"] = lambda planned, *_: (
    not planned.partitioned and len(planned.tasks) > 1 and next(split)
)
vars(steps)["num_parts"] = lambda planned, *_: min(len(planned.tasks), 3)
ALL = STATEMENTS | WRITES | REDUCTIONS
# Bytes; some arrays of the programs are larger than a limit below that.
LARGEST = 4096
TIMES = 4 if "TESTS_APART" in os.environ else 1
# Powers then have the bits of the unfused run, not NumPy's: pow(-0.0, 0.5) is 0.0.
LIBM = os.environ.get("LEGATE_DIFFUSE_MATH") == "libm"
# What has many forms comes more often.
KINDS = [*ALL, "unary", "unary", "binary", "chain", "in_place", "sweeps", "delete"]
# Shapes that broadcast to the first.
SHAPES = (
    ((5,), (1,), ()),
    ((4, 6), (6,), (4, 1)),
    ((3, 4, 5), (4, 5), (5,)),
    ((1,), (), (1, 1)),
    ((16, 16), (16,), (1, 16)),
    ((67,), (), (1,)),
    ((2, 3), (2, 1), (3,)),
    ((0,), (1,), ()),
    ((3, 0), (3, 1), ()),
    ((300,), (1,), ()),
)
# Rows of any length: of many, the last vector is incomplete.
ROWS = st.integers(1, 40).map(lambda length: ((3, length), (length,), (3, 1)))
# Relative errors of functions whose rounding the maths library chooses.
ERRORS = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12}


def write_program(
    shapes: tuple[tuple[int, ...], ...],
    inputs: list[tuple[str, int]],
    statements: list[tuple[str, list[int]]],
) -> Program:
    """Write a program of statements, but for those that have nothing to work on."""
    writer = Writer()
    for shape, (dtype, seed) in zip(shapes, inputs, strict=False):
        call = f'({shape}, "{dtype}", {seed})'
        is_shared = shape != () and seed % 4 == 3
        text = f"n.asarray(kept{call})" if is_shared else f"n.array(sample{call})"
        # upstream shares constants of one element, and their changes
        writer.assign(f"{text}.copy()" if shape == () else text, Agreement.BITS)
    for name, numbers in statements:
        with suppress(NoChoiceError):
            ALL[name](writer, Choices(numbers))
    return writer.program()


@st.composite
def programs(draw: Callable[[Any], Any]) -> Program:
    inputs = st.tuples(st.sampled_from(DTYPES), st.integers(0, 15))
    statement = st.tuples(
        st.sampled_from(KINDS),
        st.lists(st.integers(0, 255), min_size=8, max_size=8),
    )
    shapes = draw(st.sampled_from(SHAPES) | ROWS)
    arrays = draw(st.lists(inputs, min_size=1, max_size=3))
    # two lists: hypothesis prefers short ones
    statements = draw(st.lists(statement, min_size=1, max_size=9))
    return write_program(
        shapes, arrays, statements + draw(st.lists(statement, max_size=9))
    )


def check(program: Program) -> None:
    """Assert that a program gives the same fused, unfused and in NumPy."""
    failures = window.counters.failures
    fused = program.run(cn)
    # the windows are known now, and noted when they have come twice
    again = [program.run(cn) for _ in range(TIMES)]
    window.flush("test")
    assert window.counters.failures == failures, "a group fell back to its tasks"
    with unfused():
        original = program.run(cn)
    rounded = {rounding.name for rounding in program.rounded}
    rounded |= {rounding.scale for rounding in program.rounded}
    for name, result in fused.items():
        if name not in rounded:
            numpys = name in program.numpys
            expected = result if numpys and not LIBM else original[name]
            same(result, expected, f"{name} fused and unfused")
            for each in again:
                same(each[name], expected, f"{name} fused again and unfused")
            if not (numpys and LIBM):
                check_with_numpy(name, result, program)
    for rounding in program.rounded:
        name, scale = rounding.name, original[rounding.scale]
        same_but_for_rounding(fused[name], original[name], scale, rounding.terms)


def check_with_numpy(name: str, result: Any, program: Program) -> None:
    expected, agreement = program.results[name], program.agreements[name]
    assert result.dtype == expected.dtype, f"{name} in NumPy"
    assert result.shape == expected.shape, f"{name} in NumPy"
    if agreement is Agreement.BITS:
        same(result, expected, f"{name} fused and in NumPy")
    elif agreement is Agreement.NEAR:
        np.testing.assert_allclose(result, expected, rtol=ERRORS[result.dtype.name])


@settings(
    max_examples=PROGRAMS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(programs())
def test_fused_unfused_and_numpy(program: Program) -> None:
    print(program, flush=True)
    try:
        check(program)
    except Exception as error:
        # a smaller program may end the process, as some do unfused
        print(FAILED, error, flush=True)
        raise


def test_the_programs_were_fused() -> None:
    counts = legate_diffuse.stats()
    assert counts["groups"] >= PROGRAMS
    if "TESTS_APART" in os.environ:
        assert num_run_apart() >= PROGRAMS // 2
    # what runs at once waits for nothing to be fused with
    at_once = window.submitter.small.limit >= LARGEST
    name = "ran_in_process" if at_once else "temporaries_removed"
    # of forty programs with large arrays sometimes only thirty
    assert counts[name] >= PROGRAMS // 2, counts
