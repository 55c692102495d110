# SPDX-License-Identifier: Apache-2.0
"""Products of matrices of one column or row, which many have in place of vectors."""

from __future__ import annotations

import pytest
from test_small_arrays import run_fresh, run_here


def test_many_products_of_a_column_and_a_row_join_what_uses_them() -> None:
    run_fresh("""
rng = np.random.default_rng(3)
columns, rows = rng.normal(size=(2, 8, 300, 1))
columns[0, :2, 0] = -0.0, 0.0
def program(n):
    found = []
    for kind in ("float64", "float32"):
        W = n.zeros((300, 300), dtype=kind)
        for column, row in zip(columns, rows):
            one, other = n.array(column.astype(kind)), n.array(row.astype(kind))
            W += n.dot(one, other.T)
            W -= one @ other.T
            W = W + one.dot(other.T)
        found += [W, n.signbit(n.dot(n.array(columns[0]), n.array(rows[1]).T))]
    return found
for one, other in zip(program(cn), program(np), strict=True):
    np.testing.assert_array_equal(np.asarray(one), other)
found = counts(lambda: program(cn))
assert found["failures"] == 0 and found["temporaries_removed"] >= 2 * 8 * 3, found
""")


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_matrices_of_one_column_or_row_are_multiplied_as_vectors(dtype: str) -> None:
    run_here(f"""
def program(n):
    A = n.array((np.arange(3600) * 7 % 251 - 90.0).astype({dtype!r})).reshape(60, 60)
    if {dtype!r}[0] == "c":
        A = A + 1j * A.T
    x, found = A[:, :1] * 0.5, []
    for M in (A, A.T, A[3:, :], A[:, 5:].T, A[:40, :50]):
        column, row = x[: M.shape[1]], x[: M.shape[0]].T
        found += [M @ column, n.dot(M, column), n.matmul(M, column)]
        found += [row @ M, row.dot(M)]
        found += [M @ A[: M.shape[1], 7:8], A[4:5, : M.shape[0]] @ M, M @ column[:, 0]]
        found += [row @ x[: M.shape[0]], M @ column + row.T]
    return found
found = counts(lambda: program(cn))
assert found["tasks_submitted"] == found["failures"] == 0, found
near = 1e-4 if {dtype!r} == "float32" else 1e-12
for one, other in zip(program(cn), program(np), strict=True):
    one = np.asarray(one)
    assert (one.dtype, one.shape) == (other.dtype, other.shape)
    np.testing.assert_allclose(one, other, rtol=near)
""")
