# SPDX-License-Identifier: Apache-2.0
"""Loops take turns on rows at distances that the program chooses.

Tests that count plans run in processes of their own, see ``test_small_arrays.py``.
"""

from __future__ import annotations

import pytest
from test_small_arrays import run_fresh, run_here
from tiers import examples, some

# Distances near, far and beyond the end, in one order and the other; the arrays have
# several rows of a block, or many blocks.
PROGRAM = """
def sweeps(n, rows, columns, distances):
    x = n.arange(float(rows * columns)) % 7.0
    x = x.reshape((rows, columns)) if columns > 1 else x
    y = n.zeros(x.shape)
    for k in distances:
        x[k:] = n.maximum(x[k:] * 0.75, x[:-k] + 0.5)
        y[: rows - k] += x[k:]
        x[: rows - k] -= y[k:] * 0.25
    return [x, y]

def program(n):
    return sweeps(n, ROWS, COLUMNS, DISTANCES)

"""


# rows, columns, bytes of the cache, and CPUs: the first of each line are in both tiers
MACHINES = [
    *((20_000, 1, 4096, cpus) for cpus in (1, 2, 3)),
    *((700, 30, 8192, cpus) for cpus in (2, 3, 1)),
    *((300, 1, 512, cpus) for cpus in (3, 1, 2)),
    *((200_000, 1, 65536, cpus) for cpus in (1, 2, 3)),
]


@pytest.mark.parametrize(("rows", "columns", "cache_bytes", "cpus"), some(MACHINES, 3))
def test_values(rows: int, columns: int, cache_bytes: int, cpus: int) -> None:
    near = [3, 4, 7, 31, 60, 5]
    far = [rows // 3, 3, rows - 4, rows // 2, 9, rows // 2 + 40, 200]
    for distances in (near, far, near + far)[-examples(2, 3) :]:
        run_here(
            PROGRAM.replace("ROWS", str(rows))
            .replace("COLUMNS", str(columns))
            .replace("DISTANCES", str(distances))
            + """
agree(program), agree(program)
found = counts(lambda: program(cn))
assert found["groups"] > 0, found
""",
            LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
            LEGATE_DIFFUSE_SMALL_BYTES="0",
            LEGATE_DIFFUSE_CACHE_BYTES=str(cache_bytes),
        )


def test_all_distances_have_one_plan() -> None:
    """How far rows lie apart is filled in at launch, near or far."""
    run_fresh(
        PROGRAM.replace("ROWS", "100_000")
        .replace("COLUMNS", "1")
        .replace("DISTANCES", "[]")
        + """
def one(k):
    return counts(lambda: sweeps(cn, 100_000, 1, [k, k + 3]))

one(20), one(25)
for k in (30, 1000, 40_000, 77):
    found = one(k)
    assert found["plans_made"] == 0, (k, found)
    for a, b in zip(sweeps(cn, 100_000, 1, [k, k + 3]),
                    sweeps(np, 100_000, 1, [k, k + 3])):
        np.testing.assert_array_equal(np.asarray(a), b)
""",
        LEGATE_CONFIG="--cpus 2 --gpus 0 --sysmem 1000",
        LEGATE_DIFFUSE_SMALL_BYTES="0",
    )


def test_a_landmark_that_another_task_brings() -> None:
    """Where it is can then be told from views beside it only."""
    run_fresh(
        """
def program(n):
    x = n.arange(20_000.0) % 7.0
    found = []
    for k in [40, 55, 70]:
        found.append(n.sort(x[k:]))
        x[k + 2 :] = n.maximum(x[k + 2 :] * 0.75, x[: -k - 2] + 0.5)
        x[k + 4 :] -= x[: -k - 4] * 0.25
    return [x, *found]

agree(program), agree(program)
""",
        LEGATE_CONFIG="--cpus 1 --gpus 0 --sysmem 1000",
        LEGATE_DIFFUSE_SMALL_BYTES="0",
        LEGATE_DIFFUSE_CACHE_BYTES="4096",
    )


def test_distances_may_be_numbers_of_numpy() -> None:
    run_fresh(
        """
def program(n):
    x, y = n.arange(300.0), n.zeros(300)
    table = n.arange(40.0 * 50.0).reshape(40, 50)
    for k in np.array([20, 30, 41]):
        x[k:] = n.maximum(x[k:] * 0.75, x[:-k] + 0.5)
        y[k:] += x[: 300 - k]
        table[k - 3] += table[k - 15] * 2.0
        table[k - 10 :, 3] += table[: 50 - k, k - 9]
    return [x, y, table]

agree(program), agree(program)
""",
        LEGATE_CONFIG="--cpus 1 --gpus 0 --sysmem 1000",
        LEGATE_DIFFUSE_SMALL_BYTES="0",
    )
