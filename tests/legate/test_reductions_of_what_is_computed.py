# SPDX-License-Identifier: Apache-2.0
"""What is computed and summed along an axis in one loop has the values of two."""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

STATEMENTS = (
    "(A * 2).sum(axis=0)",
    "(A * 2).sum(axis=1)",
    "(A.T * 2).sum(axis=0)",
    "(A.T * 2).sum(axis=1)",
    "(A.T * v + 1).max(axis=1)",
    "(A.T * v + A).min(axis=0) + v",
    "(A.T[:200, 5:] - v[5:]).max(axis=1)",
    "((A - A.max(axis=0)) * 3).sum(axis=1)",
    "(T.transpose((2, 0, 1)) * 2).sum(axis=0)",
    "(T.transpose((1, 2, 0)) * 2).max(axis=1)",
    "(T.transpose((2, 1, 0)) * 2).sum(axis=2)",
    "((T * 2).swapaxes(0, 2) + 1).prod(axis=1)",
    "(T * 2).sum(axis=(0, 2))",
    "(T * 2).sum(axis=(1, 2))",
    "(T * 2).sum(axis=(-1, 0), keepdims=True)",
    "(T * 2 - 5).max(axis=(0, 1))",
    "(T * 2 - 5).min(axis=(2, 1), keepdims=True)",
    "(T * 2).sum(axis=(0, 1, 2)) + v",
    "(T * 2).sum(axis=(2, 1, 0), keepdims=True)",
    "(T * 0.5).mean(axis=(0, 1), keepdims=True)",
    "(T.transpose((2, 0, 1)) * 0.5).mean(axis=(-2, -1))",
    "(T % 2 + 1).astype(float).reshape(-1, 2, 40, 6).prod(axis=(1, 2)) % 64",
    "n.linalg.norm(T * 0.5 - 3)",
    "n.linalg.norm(A.T * 1.5 - w)",
    "n.linalg.norm((T * 2).astype('float32'))",
    "((A % 3) * 1.5) @ w",
    "((A.T % 3) * 1.5) @ w",
    "w @ ((A.T % 3) * 1.5)",
)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_values_are_those_of_two_loops(statement: str) -> None:
    run_here(
        f"""
def program(n):
    A, v = n.arange(90000).reshape(300, 300) % 11, n.arange(300) % 5
    T = n.arange(96000).reshape(40, 40, 60) % 7
    w = v * 0.5
    return [{statement}]
def run():
    found = program(cn)
    float(found[0].sum())
run(), run()
found = counts(run)
assert found["temporaries_removed_bytes"] >= 400_000, found
assert found["failures"] == 0, found
agree(program)
wanted, made = program(np)[0], np.asarray(program(cn)[0])
assert wanted.dtype == made.dtype and (wanted == made).all()
"""
    )


@pytest.mark.parametrize(
    "statement",
    [
        "(A * 2) @ w",
        "(A * 2 + v) @ w",
        "w @ (A * 2).T",
        "(A * 2)[5:2000] @ w",
        "(A * 2) @ w + (A * 3) @ v",
        "(A > 5).astype(float) @ w",
    ],
)
def test_large_matrices_that_wait_are_not_stored_for_a_product(statement: str) -> None:
    run_here(
        f"""
A = np.arange(2100.0 * 2100.0).reshape(2100, 2100) % 11
v = np.arange(2100.0) % 5
def program(n):
    a, b = (A, v) if n is np else (large, vector)
    return [(lambda A, v, w: {statement})(a, b, b * 0.5)]
large, vector = cn.array(A), cn.array(v)
def run():
    found = program(cn)
    float(found[0].sum())
run(), run()
found = counts(run)
assert found["temporaries_removed_bytes"] >= A.nbytes, found
assert found["failures"] == 0, found
agree(program)
wanted, made = program(np)[0], np.asarray(program(cn)[0])
assert wanted.dtype == made.dtype and (wanted == made).all()

# one that is used again is stored as well
kept = large * 2.0
assert (np.asarray(kept @ vector) == (A * 2.0) @ v).all()
assert (np.asarray(kept) == A * 2.0).all()
"""
    )


@pytest.mark.parametrize(
    "options",
    [
        "",
        "axis=0",
        "-1, ddof=1",
        "axis=1, keepdims=True",
        "axis=(0,), ddof=249",
        "keepdims=True, ddof=2",
        "None, None, None, 3",
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_variances_are_sums_of_squares(options: str, dtype: str) -> None:
    run_here(
        f"""
def program(n):
    A = ((n.arange(90000) % 1013).astype("{dtype}") * 0.25 + 7).reshape(300, 300)
    return [A.var({options}), n.var(A.T[5:, :250] * 0.5 - A[:295, 50:], {options})]
def run():
    return [float(each.sum()) for each in program(cn)]
run(), run()
found = counts(run)
assert found["temporaries_removed_bytes"] >= 350_000, found
assert found["failures"] == 0, found
for made, wanted in zip(program(cn), program(np)):
    made, wanted = np.asarray(made), np.asarray(wanted)
    assert made.dtype == wanted.dtype and made.shape == wanted.shape
    np.testing.assert_allclose(made, wanted, rtol=1e-4 if made.itemsize == 4 else 1e-12)
"""
    )
