# SPDX-License-Identifier: Apache-2.0
"""Products of matrices of one column or row, which many have in place of vectors."""

from __future__ import annotations

from test_small_arrays import run_fresh


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
