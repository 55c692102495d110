# SPDX-License-Identifier: Apache-2.0
"""Products of matrices in compressed rows on several processors.

``test_sparse_products.py`` runs this file on several machines.
"""

from __future__ import annotations

from typing import Any

import cupynumeric as cn
import numpy as np
import other_library as other
import other_package
import pytest
from comparison import counts, same, unfused
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import legate_diffuse

legate_diffuse.register("other", other_package.register())

TYPES = ("float32", "float64", "complex128")
INDICES = ("int32", "int64")
# lengths of rows: points without elements, without rows, and odd numbers of rows
STRUCTURES = {
    "random": [3, 0, 1, 5, 2, 0, 0, 4] * 8,
    "no element at the beginning": [0] * 30 + [2] * 31,
    "no element at the end": [2] * 31 + [0] * 30,
    "elements in the middle": [0] * 20 + [3] * 7 + [0] * 20,
    "one row has all": [0] * 5 + [40] + [0] * 5,
    "two rows": [1, 2],
    "three rows": [0, 5, 0],
}


def matrix_of(lengths: list[int], width: int, dtype: str, index: str) -> Any:
    """Return a SciPy matrix with rows of these lengths."""
    rng = np.random.default_rng(sum(lengths))
    columns = rng.integers(0, width, sum(lengths)).astype(index)
    values = rng.random(len(columns)) - 0.5
    if dtype.startswith("complex"):
        values = values * (1 + 0.7j)
    begins = np.concatenate([[0], np.cumsum(lengths)])
    found = csr_array((values.astype(dtype), columns, begins), (len(lengths), width))
    found.indices = columns
    return found


def in_legate(matrix: Any) -> other.Matrix:
    begins = cn.array(matrix.indptr.astype("int64"))
    return other.Matrix(begins, cn.array(matrix.indices), cn.array(matrix.data))


def near(y: Any) -> Any:
    """Return sums of what lies beside each element."""
    sums = cn.zeros_like(y)
    sums[1:-1] = y[:-2] + y[2:]
    return sums


def the_vector_is_changed_before(a: Any, x: Any, y: Any, z: Any) -> Any:
    x *= 2
    a.product(x, y)
    return y - z


def the_vector_is_changed_afterwards(a: Any, x: Any, y: Any, z: Any) -> Any:
    a.product(x, y)
    x *= 2
    a.product(x, z)
    return y + z


def neighbours_are_read(a: Any, x: Any, y: Any, z: Any) -> Any:
    a.product(x, y)
    return near(y) * z


def the_vector_is_read_with_neighbours(a: Any, x: Any, y: Any, z: Any) -> Any:
    a.product(near(x), y)
    return near(y) + z


PROGRAMS = (
    lambda a, x, y, z: (a.product(x, y), y)[1],
    lambda a, x, y, z: (a.product(x + 1, y), y * z - y)[1],
    lambda a, x, y, z: (a.product(x, y), a.product(x, z), y * 2 + z)[2],
    the_vector_is_changed_before,
    the_vector_is_changed_afterwards,
    neighbours_are_read,
    the_vector_is_read_with_neighbours,
)


def run(matrix: other.Matrix, shape: tuple[int, int], dtype: str, program: Any) -> Any:
    height, width = shape
    x, z = ((cn.arange(n) % 7 - 3).astype(dtype) for n in (width, height))
    return np.asarray(program(matrix, x, cn.empty(height, dtype), z))


def check(lengths: list[int], width: int, dtype: str, index: str, program: Any) -> None:
    """Assert that a program gives the same bits unfused."""
    given_matrix = matrix_of(lengths, width, dtype, index)
    matrix = in_legate(given_matrix)
    arguments = matrix, given_matrix.shape, dtype, program
    found = run(*arguments)
    with unfused():
        same(found, run(*arguments))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("name", STRUCTURES)
def test_points_agree(name: str, index: str, dtype: str) -> None:
    lengths = STRUCTURES[name]
    for width in (max(len(lengths) - 3, 2), len(lengths), len(lengths) + 9):
        for program in PROGRAMS:
            check(lengths, width, dtype, index, program)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=70).filter(lambda n: sum(n) > 1),
    st.integers(2, 90),
    st.sampled_from(TYPES),
    st.sampled_from(INDICES),
    st.sampled_from(PROGRAMS),
)
def test_random_matrices_agree(
    lengths: list[int], width: int, dtype: str, index: str, program: Any
) -> None:
    check(lengths, width, dtype, index, program)


@pytest.mark.parametrize("index", INDICES)
def test_a_product_agrees_with_scipy(index: str) -> None:
    given_matrix = matrix_of([3, 0, 1, 5, 2] * 20, 100, "float64", index)
    x = np.cos(np.arange(100.0))
    y = cn.empty(100)
    in_legate(given_matrix).product(cn.array(x), y)
    np.testing.assert_allclose(np.asarray(y), given_matrix @ x, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("name", STRUCTURES)
def test_diagonals_agree(name: str, index: str, dtype: str) -> None:
    """Compare with NumPy: unfused such tasks end the process on four points."""
    lengths = STRUCTURES[name]
    height = len(lengths)
    for width in (max(height - 3, 2), height + 9):
        given_matrix = matrix_of(lengths, width, dtype, index)
        matrix = in_legate(given_matrix)
        x, y, z = (
            cn.ones(width, dtype),
            cn.empty(height, dtype),
            cn.empty(height, dtype),
        )
        matrix.product(x, y)
        matrix.diagonal(z)
        expected = np.zeros(height, dtype)
        for row in range(height):
            for k in range(*given_matrix.indptr[row : row + 2]):
                if given_matrix.indices[k] == row:
                    expected[row] = given_matrix.data[k]
        # what follows is aligned with the rows
        same(np.asarray(z + z), expected + expected)


def test_what_is_aligned_with_rows_is_in_one_task() -> None:
    matrix = in_legate(matrix_of([3, 0, 1, 5, 2] * 20, 100, "float64", "int64"))
    x, y, z = cn.ones(100), cn.empty(100), cn.arange(100.0)

    def program() -> Any:
        matrix.product(x, y)
        scaled = y * z - y
        return cn.dot(x, y), scaled

    expected = np.asarray(program()[1])
    found = counts(program)
    assert found["groups"] == found["tasks_submitted"] - found["fills_submitted"] == 1
    with unfused():
        same(expected, program()[1])
