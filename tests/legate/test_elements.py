# SPDX-License-Identifier: Apache-2.0
"""Programs that read and write arrays element by element.

They are fused where arrays are in one piece.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cupynumeric as cn
import pytest
from comparison import counts, differential
from hypothesis import given, settings
from hypothesis import strategies as st
from process import run_checks
from tiers import examples, some

from legate_diffuse.kernel.dtypes import ALL

IN_ONE_PIECE = "--cpus 1" in os.environ["LEGATE_CONFIG"]
ORIGINALS = 0 if IN_ONE_PIECE else None
in_one_piece = pytest.mark.skipif(not IN_ONE_PIECE, reason="arrays are partitioned")


def recurrence(n: Any) -> Any:
    x, b = n.zeros(60), n.arange(60.0) / 8
    x[0] = 1.0
    for i in range(1, 60):
        x[i] = x[i - 1] * 0.5 + b[i]
    return x


def pairs_of_columns(n: Any) -> Any:
    a, r = n.arange(5.0) + 9 * n.eye(6, 5), n.zeros((5, 5))
    for k in range(5):
        r[k, k] = n.sqrt((a[:, k] * a[:, k]).max())
        a[:, k] /= r[k, k]
        for j in range(k + 1, 5):
            r[k, j] = (a[:, k] * a[:, j]).max()
            a[:, j] -= a[:, k] * r[k, j]
    return a, r


def elimination(n: Any) -> Any:
    a = n.arange(5.0) + 9 * n.eye(5)
    for k in range(4):
        for i in range(k + 1, 5):
            a[i, k] = a[i, k] / a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a


def read_before_write(n: Any) -> Any:
    x = n.arange(6.0)
    before = x[3]
    x[3] = 100.0
    x[-1], x[0] = x[0], x[-1]
    return x, before, before + x[3]


def several_shapes(n: Any) -> Any:
    a, b, c = n.zeros((1, 1)), n.zeros(1), n.zeros((2, 1, 3))
    a[0, 0] = 5.0
    b[0] = a[0, 0] + 1.0
    c[1, 0, 2] = b[0]
    c[0] = c[1, 0, 2]
    return a, b, c, a[0, 0]


@pytest.mark.parametrize(
    "program",
    [recurrence, pairs_of_columns, elimination, read_before_write, several_shapes],
)
def test_programs(program: Any) -> None:
    differential(program, originals=ORIGINALS)


@pytest.mark.parametrize("dtype", ALL)
def test_types(dtype: str) -> None:
    def program(n: Any) -> Any:
        x = n.array([0, 1, 0, 3], dtype=dtype)
        y = n.zeros((2, 3), dtype=dtype)
        y[1, 2], y[0, 1] = x[1], x[-1]
        x[0] = y[1, 2]
        return x, y, x[3]

    differential(program, originals=ORIGINALS)


@in_one_piece
def test_a_loop_over_elements_is_few_tasks() -> None:
    found = counts(lambda: recurrence(cn))
    assert found["tasks_seen"] > 4 * 59
    assert found["tasks_submitted"] <= 4


@in_one_piece
def test_plans_do_not_depend_on_the_place() -> None:
    x = cn.zeros(100)

    def change(i: int) -> None:
        x[i] = x[i - 3] + x[i + 2]

    counts(lambda: change(20))
    assert counts(lambda: change(70))["plan_hits"] == 1


places = st.integers(-4, 3)


@settings(max_examples=examples(25, 60), deadline=None)
@given(st.lists(st.tuples(places, places, places), min_size=1, max_size=12))
def test_places_that_meet(statements: list[tuple[int, int, int]]) -> None:
    def program(n: Any) -> Any:
        x = n.arange(4.0)
        for target, left, right in statements:
            x[target] = x[left] - 2.0 * x[right]
        x[1:] = x[:-1]
        return x

    differential(program, originals=ORIGINALS)


@pytest.mark.skipif(IN_ONE_PIECE, reason="this is the run on one processor")
@pytest.mark.parametrize("cache_bytes", some(["4096", "0"], 2))
def test_on_one_processor(cache_bytes: str) -> None:
    settings = {
        "LEGATE_CONFIG": "--cpus 1 --gpus 0 --sysmem 500",
        "LEGATE_DIFFUSE_CACHE_BYTES": cache_bytes,
    }
    status, told = run_checks(Path(__file__), settings)
    assert status == 0, told
