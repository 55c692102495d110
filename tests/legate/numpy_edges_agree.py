# SPDX-License-Identifier: Apache-2.0
"""Programs with edges on the machine that ``LEGATE_CONFIG`` describes.

``test_edges.py`` runs this file on several of them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import cupynumeric as cn
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy_edges import NUMBERS, SHAPES, EdgeProgram, differing, write_edges
from numpy_edges_found import FOUND
from numpy_programs import FAILED

import legate_diffuse
from legate_diffuse.interpose.window import window

PROGRAMS = int(os.environ.get("PROGRAMS", "50"))
# Of a program's own choices few are shown, so hypothesis draws what they come from.
SEEDS = st.integers(0, 2**32 - 1)
MOST_STATEMENTS = 24


@pytest.mark.parametrize("program", FOUND, ids=lambda program: program.__name__)
def test_programs_that_were_wrong(program: Callable[[Any], tuple[Any, ...]]) -> None:
    failures = window.counters.failures
    results = [np.asarray(each) for each in program(cn)]
    assert window.counters.failures == failures, "a group fell back to its tasks"
    for found, expected in zip(results, program(np), strict=True):
        np.testing.assert_array_equal(found, expected)


def _program(seed: int, statements: int) -> EdgeProgram:
    rng = random.Random(seed)
    kinds = [rng.randrange(256) for _ in range(rng.randint(2, 8))]
    return write_edges(
        rng.choice(SHAPES),
        rng.randint(1, 3),
        rng.choice((1, 2, 3, 4, 4)),
        kinds,
        [
            (rng.randrange(256), [rng.randrange(256) for _ in range(NUMBERS)])
            for _ in range(statements)
        ],
    )


@settings(
    max_examples=PROGRAMS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(SEEDS, st.integers(2, MOST_STATEMENTS))
def test_fused_and_numpy(seed: int, statements: int) -> None:
    failures = window.counters.failures
    program = _program(seed, statements)
    print(program, flush=True)
    wrong = list(differing(program, cn))
    if wrong:
        print(FAILED, wrong, flush=True)
    assert not wrong, f"{wrong} differ from NumPy's"
    assert window.counters.failures == failures, "a group fell back to its tasks"


def test_the_programs_were_fused() -> None:
    counts = legate_diffuse.stats()
    assert counts["groups"] + counts["ran_in_process"] >= PROGRAMS, counts
