# SPDX-License-Identifier: Apache-2.0
"""What many elements say of themselves: which are set, which differ, where they lie."""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

CPUS = pytest.mark.parametrize("cpus", [1, 2])


def run(program: str, cpus: int) -> None:
    config = f"--cpus {cpus} --gpus 0 --sysmem 4000"
    run_here(program, fuses=False, LEGATE_CONFIG=config)


@CPUS
def test_places_of_what_is_not_zero(cpus: int) -> None:
    run(
        """
TYPES = (
    "bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64",
    "float16", "float32", "float64", "complex128",
)
rng = np.random.default_rng(3)
for name in TYPES:
    for size in (40_001, 300_001):
        for share in (0.0, 0.3, 1.0):
            values = (rng.random(size) < share) * (rng.random(size) * 9 + 1)
            values = values.astype(name)
            if values.dtype.kind in "fc":
                values[::7] = -0.0
                values[5:9] = np.nan
            x, A = cn.array(values), cn.array(values[: size // 4 * 4].reshape(4, -1))
            whole, grid = np.array(x), np.array(A)
            found = cn.nonzero(x), x.nonzero(), cn.where(x), (cn.flatnonzero(x),)
            for (places,) in found:
                assert places.dtype == np.int64
                assert np.array_equal(places, np.flatnonzero(whole)), (name, size)
            assert np.array_equal(cn.argwhere(x), np.argwhere(whole)), (name, size)
            assert np.array_equal(cn.flatnonzero(A), np.flatnonzero(grid)), name
            assert np.array_equal(cn.flatnonzero(A.T), np.flatnonzero(grid.T)), name
            for one, other in zip(cn.nonzero(A[1:, 3:]), np.nonzero(grid[1:, 3:])):
                assert np.array_equal(one, other), (name, size)
            taken = np.array(cn.extract(x != 0, x)), np.array(cn.extract(A.T != 0, A))
            wanted = np.extract(whole != 0, whole), np.extract(grid.T != 0, grid)
            for one, other in zip(taken, wanted):
                assert one.dtype == other.dtype
                assert np.array_equal(one, other, equal_nan=True), (name, size)
""",
        cpus,
    )


def test_elements_that_differ() -> None:
    run(
        """
rng = np.random.default_rng(4)
TYPES = "bool", "int8", "uint16", "int32", "int64", "uint64", "float32", "float64"
for name in TYPES:
    for size in (3, 700, 400_000):
        for values in (
            rng.integers(0, 50, size), rng.integers(0, 2**40, size), np.arange(size)
        ):
            given = values.astype(name)
            made = cn.unique(cn.array(given))
            wanted = np.unique(given)
            assert made.dtype == wanted.dtype and np.array_equal(made, wanted)
            grid = given[: size // 2 * 2].reshape(2, -1)
            assert np.array_equal(cn.unique(cn.array(grid).T), np.unique(grid))
""",
        2,
    )


TRUTH = """
def program(n):
    found = []
    shapes = (7,), (5000,), (1300000,), (3, 4, 20000), (1,), (1, 1)
    for shape in shapes:
        for kind in (n.bool_, n.int32, n.float64):
            for value in (False, True):
                x = n.full(shape, value, dtype=kind)
                found += [x.any(), x.all(), n.any(x), n.all(x)]
                for place in (0, -1):
                    x[(place,) * len(shape)] = not value
                    found += [x.any(), x.all()]
                    x[...] = value
                y = x == x
                found += [y.all(), y.any(), (~y).any(), y[1:].any(), y.T.all()]
                found += [y.all(axis=0), n.any(y, axis=-1), y.any(keepdims=True)]
                found += [y[:0].all(), y.all(where=y)]
    return found
agree(program)
"""


@CPUS
def test_elements_that_decide(cpus: int) -> None:
    run(TRUTH, cpus)


def test_later_changes_do_not_decide() -> None:
    """An array for which something waits is not looked at before."""
    run(
        """
def program(n):
    found = []
    for size in (9, 40000, 1500000):
        x = n.zeros(size, dtype=bool)
        found.append(x.any())
        y = n.asarray(x)
        x[3] = True
        found += [x.any(), x.all(), y.any()]
        x |= True
        found += [x.all()]
        for k in range(4):
            x[2 * k] = False
            first = x.all()
            x[:] = True
            found += [first, x.all(), n.logical_not(x).any()]
        out = n.zeros((), dtype=bool)
        found += [n.all(x, out=out), out]
    return found
agree(program)
""",
        1,
    )


@CPUS
def test_many_short_rows_are_joined(cpus: int) -> None:
    run(
        """
def program(n):
    x = n.arange(50000.0)
    A, f = x.reshape(-1, 5), x.astype(n.float32)
    T = x.reshape(-1, 5, 2)
    i = n.arange(50000)
    return [
        n.column_stack((x, x + 1)), n.column_stack([x, i, f]), n.column_stack((f, f)),
        n.column_stack((A, A[:, 0:2])), n.column_stack((A, A.T.reshape(-1, 5))),
        n.column_stack([x[1:], x[:-1]] * 9), n.column_stack((i > 3, i < 9)),
        n.dstack((x, x)), n.dstack((A, A + 1)), n.dstack((T, T)),
        n.dstack((A.T, A.T)), n.column_stack((x[:40], x[:40])),
    ]
agree(program)
agree(program)
""",
        cpus,
    )


def test_vectors_show_themselves_wherever_they_are() -> None:
    run(
        """
x = cn.arange(500000.0)
y = x * 2.0
for each in (x, y, y[3:], cn.zeros(500000)):
    same = each.ravel()
    assert same is each or same.shape == each.shape
    same[1] = 7.0
    assert each[1] == 7.0
""",
        1,
    )
