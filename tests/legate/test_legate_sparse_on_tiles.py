# SPDX-License-Identifier: Apache-2.0
"""Programs of Legate Sparse on two points, where it is installed."""

from __future__ import annotations

from typing import Any

import cupynumeric as cn
import numpy as np
import pytest
import scipy.sparse as scipy_sparse
from comparison import agree, counts, unfused

sparse = pytest.importorskip(
    "legate_sparse", reason="legate_sparse is not installed: it has conda packages only"
)
linalg = pytest.importorskip("legate_sparse.linalg")

SIDE = 40


def poisson() -> Any:
    line = scipy_sparse.diags_array(
        [-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(SIDE, SIDE)
    )
    return scipy_sparse.csr_array(scipy_sparse.kronsum(line, line))


def tasks_of(program: Any) -> int:
    found = counts(program)
    return int(found["tasks_submitted"] - found["fills_submitted"])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_a_product_and_what_is_aligned_with_its_rows_are_one_task(dtype: str) -> None:
    given = poisson().astype(dtype)
    matrix, x = sparse.csr_array(given), cn.ones(SIDE * SIDE, dtype)

    def program() -> Any:
        y = matrix @ x
        return y * x - y

    agree(program)
    assert tasks_of(program) == 1


def test_an_iteration_of_conjugate_gradients_is_three_tasks() -> None:
    matrix, b = sparse.csr_array(poisson()), cn.ones(SIDE * SIDE)

    def program(iterations: int = 20) -> Any:
        return linalg.cg(matrix, b, rtol=1e-12, maxiter=iterations)[0]

    with unfused():
        original = np.asarray(program())
    np.testing.assert_allclose(np.asarray(program()), original, rtol=1e-9)
    few, many = tasks_of(lambda: program(20)), tasks_of(lambda: program(40))
    assert (many - few) / 20 <= 3.2
