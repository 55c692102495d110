# SPDX-License-Identifier: Apache-2.0
"""Programs of Legate Sparse, where it is installed."""

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

TYPES = ("float32", "float64", "complex64", "complex128")
ROWS, COLUMNS = 60, 40

pytestmark = pytest.mark.usefixtures("_two_threads")


def numbers(count: int, dtype: str, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    found = rng.random(count) - 0.5
    if dtype.startswith("complex"):
        found = found * (1 + 0.7j) + rng.random(count) * 1j
    return found.astype(dtype)


def matrix_of(dtype: str, shape: tuple[int, int] = (ROWS, COLUMNS)) -> Any:
    """Return a SciPy matrix; some of its rows are empty."""
    lengths = np.random.default_rng(2).integers(0, 5, shape[0])
    begins = np.concatenate([[0], lengths.cumsum()])
    columns = np.random.default_rng(3).integers(0, shape[1], begins[-1])
    found = scipy_sparse.csr_array(
        (numbers(begins[-1], dtype), columns, begins), shape=shape
    )
    found.sum_duplicates()
    return found


@pytest.mark.parametrize("dtype", TYPES)
def test_a_product_is_fused_with_what_surrounds_it(dtype: str) -> None:
    given = matrix_of(dtype)
    matrix = sparse.csr_array(given)
    x, one = cn.array(numbers(COLUMNS, dtype)), np.dtype(dtype).type(1)

    def program() -> Any:
        y = matrix @ (x + one)
        return y * y - y

    y = given @ (numbers(COLUMNS, dtype) + one)
    tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-12
    np.testing.assert_allclose(agree(program), y * y - y, tolerance, tolerance)
    found = counts(program)
    assert (found["tasks_submitted"], found["groups"]) == (1, 1)


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize("isalpha", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
def test_axpby_is_fused(dtype: str, isalpha: bool, negate: bool) -> None:
    x, y = (numbers(ROWS, dtype, seed) for seed in (1, 2))
    a, b = numbers(2, dtype, 4)

    def program() -> Any:
        result = cn.array(y) + cn.array(y)
        factors = cn.array(a), cn.array(b)
        linalg.cg_axpby(result, cn.array(x), *factors, isalpha=isalpha, negate=negate)
        return result * result

    factor = -a / b if negate else a / b
    expected = factor * x + (y + y) if isalpha else x + factor * (y + y)
    tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-12
    np.testing.assert_allclose(agree(program), expected**2, tolerance, tolerance)
    assert counts(program)["groups"] == 1


@pytest.mark.parametrize("dtype", TYPES)
def test_a_diagonal_is_fused(dtype: str) -> None:
    given = matrix_of(dtype, (ROWS, ROWS))
    matrix, one = sparse.csr_array(given), np.dtype(dtype).type(1)

    def program() -> Any:
        y = matrix.diagonal()
        return y * y - y + one

    y = given.diagonal()
    tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-12
    np.testing.assert_allclose(agree(program), y * y - y + one, tolerance, tolerance)
    assert counts(program)["groups"] == 1


@pytest.mark.parametrize("dtype", TYPES)
def test_a_matrix_is_made_of_a_dense_one(dtype: str) -> None:
    dense = matrix_of(dtype).toarray()

    def program() -> Any:
        return (sparse.csr_array(cn.array(dense) * 1) @ cn.ones(COLUMNS, dtype)) * 2

    agree(program)
    assert not counts(program)["failures"]


def test_conjugate_gradients_are_few_tasks() -> None:
    n = 40
    line = scipy_sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    given = scipy_sparse.csr_array(scipy_sparse.kronsum(line, line))
    matrix, b = sparse.csr_array(given), cn.ones(n * n)
    iterations = 50

    def program() -> Any:
        return linalg.cg(matrix, b, rtol=1e-12, maxiter=iterations)[0]

    with unfused():
        original = np.asarray(program())
    np.testing.assert_allclose(np.asarray(program()), original, rtol=1e-9)
    assert counts(program)["tasks_submitted"] <= 0.2 * iterations
