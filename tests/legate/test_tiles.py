# SPDX-License-Identifier: Apache-2.0
"""Points that need what others have: fused, unfused and NumPy agree.

``PROGRAMS=10000 pytest --timeout=0 tests/legate/test_tiles.py`` makes as many random
programs on each machine.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from process import run_checks, run_in_worker
from tiers import some
from workers import Done

from legate_diffuse.launch.state import TINY

CHECKS = Path(__file__).with_name("numpy_tiles_agree.py")
# Two points, of small arrays too.
PARTITIONED = {
    "LEGATE_CONFIG": "--cpus 2 --gpus 0 --sysmem 500",
    "LEGATE_TEST": "1",
    "LEGATE_DIFFUSE": "1",
    "LEGATE_DIFFUSE_THREADS": "1",
    "LEGATE_DIFFUSE_SMALL_BYTES": "0",
}


def is_fused(done: Done) -> None:
    """Assert that a program has ended well, and that some of it was fused."""
    assert done.returncode == 0, done.stderr
    assert done.counters["groups"] > 0


# how many elements each CPU has at least of an array that is divided, and fewer than
# how many elements are never divided
@pytest.mark.parametrize(
    ("cpus", "elements", "tiny"),
    some([(2, 1, 0), (3, 1, 0), (4, 1, 0), (2, 40, 0), (3, 1, TINY)], 4),
)
def test_random_tiles_agree(cpus: int, elements: int, tiny: int) -> None:
    options = f"--cpus {cpus} --gpus 0 --sysmem 1000 --utility 1"
    settings = {
        "LEGATE_CONFIG": f"{options} --min-cpu-chunk {elements}",
        "LEGATE_DIFFUSE_THREADS": "1",
        "LEGATE_TEST": str(int(elements == 1)),
        "TINY": str(tiny),
        # Legion looks whether partitions have the kind that it is told
        "LEGION_DEFAULT_ARGS": "-lg:partcheck",
    }
    status, told = run_checks(CHECKS, settings)
    assert status == 0, told[-8000:]


STEPS = """
import gc
import cupynumeric as np
from legate_diffuse.stores.root import Root

def roots():
    return sum(isinstance(each, Root) for each in gc.get_objects())

def step(x):
    y = np.zeros_like(x)
    y[1:-1] = x[:-2] + x[2:]
    return 0.25 * (x + y)

# what is no longer used goes at once, and not when Python looks for cycles
gc.disable()
x = np.arange(64.0)
found = []
for count in range(1, 31):
    x = step(x)
    float(x[1])
    if count % 10 == 0:
        found.append(roots())
gc.enable()
assert found[0] == found[1] == found[2], found
"""


def test_no_store_waits_for_the_garbage_collector() -> None:
    done = run_in_worker(STEPS, **PARTITIONED)
    is_fused(done)


JOINED = """
import numpy
import cupynumeric as np

# three parts of a new array, which is then computed with in the same task
x, ends = np.array(numpy.arange(100.0)), np.array([1.0, 2.0])
found = np.diff(x, n=3, prepend=ends, append=ends)
right = numpy.diff(numpy.arange(100.0), n=3, prepend=[1.0, 2.0], append=[1.0, 2.0])
numpy.testing.assert_array_equal(numpy.asarray(found), right)
"""


def test_no_part_is_copied_that_nothing_was_written_to() -> None:
    done = run_in_worker(
        JOINED, **PARTITIONED | {"LEGATE_CONFIG": "--cpus 4 --gpus 0 --sysmem 500"}
    )
    is_fused(done)


TURNED = """
import numpy
import cupynumeric as np

def turned(np):
    values = numpy.arange(64.0).reshape(8, 8)
    a, b, c = (np.array(values % k) for k in (7, 5, 3))
    d = np.zeros_like(a)
    np.multiply(a, d.T, out=d)
    d = a - d.T.sum(axis=0)
    d.T[...] = b
    return d, d.T - c.T.sum(axis=0)

for found, right in zip(turned(np), turned(numpy)):
    numpy.testing.assert_array_equal(numpy.asarray(found), right)
"""


def test_tiles_of_arrays_that_are_used_transposed() -> None:
    done = run_in_worker(TURNED, **PARTITIONED)
    is_fused(done)
    assert done.counters["failures"] == 0


LARGE = """
import sys
import numpy
import cupynumeric
from legate_diffuse import stats

def smooth(np, shape):
    p = np.arange(shape[0] * shape[1], dtype=float).reshape(shape) % 7.0
    r = np.sqrt(p + 1.0)
    for _ in range(3):
        p = r + 0.25 * p
        q = np.zeros_like(p)
        q[1:-1, 1:-1] = 4.0 * p[1:-1, 1:-1] - p[:-2, 1:-1] - p[2:, 1:-1]
        r = r - 0.125 * q
    return p, q, r

shape = tuple(map(int, sys.argv[1:]))
before = stats()["tasks_submitted"]
found = smooth(cupynumeric, shape)
assert stats()["tasks_submitted"] - before < 20, stats()
for one, other in zip(found, smooth(numpy, shape), strict=True):
    numpy.testing.assert_array_equal(numpy.asarray(one), other)
"""


# no tile is larger than caches are, and all of them are, in the end only those of all
# results; rows begin anywhere in a line
@pytest.mark.parametrize("shape", [(2101, 2099), (700_001, 7), (1501, 1499)])
def test_tiles_bypass_caches_together(shape: tuple[int, int]) -> None:
    large = PARTITIONED | {"LEGATE_CONFIG": "--cpus 2 --gpus 0 --sysmem 2000"}
    done = run_in_worker(LARGE, *map(str, shape), **large)
    is_fused(done)


TINY_GRIDS = """
import numpy
import cupynumeric
from legate_diffuse import stats

def relax(np):
    u, right = np.ones((3, 3)), np.ones((3, 3)) * 2.0
    u = u * right
    float(u[0, 0])
    before = stats()["tasks_submitted"]
    for _ in range(8):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        new = np.zeros_like(u)
        new[1:-1, 1:-1] = right[1:-1, 1:-1] - around
        u = u + 0.25 * new
    u[0, 0].item()
    return u, stats()["tasks_submitted"] - before

expected, _ = relax(numpy)
found, tasks = relax(cupynumeric)
numpy.testing.assert_array_equal(numpy.asarray(found), expected)
print(tasks)
"""


def test_sweeps_over_a_tiny_grid_are_one_task() -> None:
    done = run_in_worker(TINY_GRIDS, **PARTITIONED)
    is_fused(done)
    assert done.stdout.split() == ["1"]


RESHAPED = """
import cupynumeric as np

# Legate divides the first into rows, and points of a task the second
for rows, columns in ((400, 38), (3, 38)):
    x = np.ones((rows, columns))
    y = x + x
    x[:, 0] = x[:, 1]
    part = y[:, 19:]
    flat = part.reshape(rows * (columns - 19))
    assert float(flat.sum()) == 2.0 * rows * (columns - 19)
"""


def test_parts_of_what_is_divided_into_rows_are_reshaped() -> None:
    done = run_in_worker(RESHAPED, **PARTITIONED)
    is_fused(done)


SWEEPS = """
import sys
import numpy
import cupynumeric
from legate_diffuse import stats

def sweep(p, b):
    old = p.copy()
    p[1:-1, 1:-1] = old[1:-1, 2:] + old[1:-1, :-2] + old[2:, 1:-1] + old[:-2, 1:-1]
    p[1:-1, 1:-1] = 0.25 * p[1:-1, 1:-1] - b[1:-1, 1:-1]
    # the first column and the last one are neighbours
    for here, east, west in ((-1, 0, -2), (0, 1, -1)):
        around = old[1:-1, east] + old[1:-1, west] + old[2:, here] + old[:-2, here]
        p[1:-1, here] = 0.25 * around - b[1:-1, here]
    p[-1, :] = p[-2, :]
    p[0, :] = p[1, :]

def solve(np):
    p = np.arange(300.0 * 301.0).reshape(300, 301) * 1e-5
    b = p * p
    p[0, :] = 0.0
    # reading ends a window
    float(p[5, 5]), float(b[5, 5])
    before = stats()["tasks_submitted"]
    for _ in range(3):
        sweep(p, b)
    p[0, 0].item()
    return p, stats()["tasks_submitted"] - before

expected, _ = solve(numpy)
found, tasks = solve(cupynumeric)
numpy.testing.assert_array_equal(numpy.asarray(found), expected)
print(tasks)
"""


@pytest.mark.parametrize("cpus", some([2, 3, 4], 2))
def test_borders_that_legate_would_not_divide_are_in_the_task(cpus: int) -> None:
    done = run_in_worker(
        SWEEPS,
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 500",
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_THREADS="1",
    )
    is_fused(done)
    assert done.stdout.split() == ["2"]


WALLS = """
import numpy
import cupynumeric
from legate_diffuse import stats

def walls(u, v):
    u[0, :] = 1.0
    u[-1, :] = 2.0
    v[0, :] = 3.0

def run(np):
    u, v = np.zeros((64, 30)), np.ones((64, 30))
    # reading ends a window
    float(u[5, 5]), float(v[5, 5])
    found = []
    for _ in range(3):
        before = stats()["tasks_submitted"]
        walls(u, v)
        u[1:-1] = u[:-2] + v[2:] * v[1:-1]
        u[3, 3].item()
        found.append(stats()["tasks_submitted"] - before)
    return u, v, found

expected = run(numpy)
found = run(cupynumeric)
numpy.testing.assert_array_equal(numpy.asarray(found[0]), expected[0])
numpy.testing.assert_array_equal(numpy.asarray(found[1]), expected[1])
print(found[2])
"""


@pytest.mark.parametrize("cpus", some([2, 3, 4], 1))
def test_rows_that_come_first_are_in_the_task(cpus: int) -> None:
    done = run_in_worker(
        WALLS, **PARTITIONED | {"LEGATE_CONFIG": f"--cpus {cpus} --gpus 0 --sysmem 500"}
    )
    is_fused(done)
    # one for the element that is read
    assert done.stdout.split("\n")[0] == "[2, 2, 2]"


EMPTY = """
import numpy
import cupynumeric as np
import legate_diffuse
from legate_diffuse.interpose.window import window

# an operation without points is the first that sees the element
for shape in ((), (1,), (1, 1)):
    points = np.array(numpy.zeros((3, 0), bool))
    x = np.array(numpy.arange(1, 4, dtype="int32").reshape(3, 1))
    element = np.array(numpy.full(shape, 7.0, "float32")).copy()
    without = np.logical_or(points[-3:, :-1], element)
    y = np.flip(x, 1).copy()
    element[...] -= 2
    without = np.logical_or(without, element)
    z = element / y
    window.flush("test")
    expected = numpy.float32(5.0) / numpy.arange(1, 4).reshape(3, 1)
    assert numpy.array_equal(z, expected), z
assert legate_diffuse.stats()["failures"] == 0
"""


def test_operations_without_points_see_an_element_first() -> None:
    done = run_in_worker(EMPTY, **PARTITIONED | {"LEGATE_DIFFUSE_SMALL_BYTES": "64"})
    is_fused(done)


SUMS = """
import numpy
import cupynumeric
from legate_diffuse import stats
from legate_diffuse.interpose.window import window

# all results are sums: tiles are those of an array that is read beyond them
def sums(np, v):
    b = v[1:] - v[:-1]
    c = b[1:] * b[:-1]
    w = v[1:] * v[:-1]
    x = w[2:] + w[:-2]
    y = x[1:] + x[:-1]
    return np.sum(c), np.max(b), np.sum(y)

# one result is smaller than what is summed
def smaller(np, v):
    b = v[1:] - v[:-1]
    c = b[1:] * b[:-1]
    return np.sum(b), c[1:] - c[:-1], np.sum(c)

for shape in ((41,), (41, 7), (7, 90), (5, 1), (130, 2)):
    u = numpy.random.default_rng(1).random(shape)
    own = cupynumeric.array(u) * 2.0
    window.flush("test")
    for compute in (sums, smaller):
        for _ in range(2):
            found = compute(cupynumeric, own)
            window.flush("test")
            for one, other in zip(found, compute(numpy, 2.0 * u), strict=True):
                numpy.testing.assert_allclose(numpy.asarray(one), other, rtol=1e-9)
assert stats()["failures"] == 0
"""


@pytest.mark.parametrize("cpus", [2, 3, 4])
def test_tiles_are_those_of_what_is_read_where_all_is_summed(cpus: int) -> None:
    options = f"--cpus {cpus} --gpus 0 --sysmem 500"
    done = run_in_worker(SUMS, **PARTITIONED | {"LEGATE_CONFIG": options})
    is_fused(done)


NEW = """
import cupynumeric as np

x = np.arange(69.0).reshape(3, 23)
# a new array, of which two copies write all
y = np.concatenate([x, x], axis=0)
y[:, 2:] = y[:, :-2] + y[:, 2:]
z = y + y
print(z.tolist())
"""


def test_what_was_never_written_to_is_not_read() -> None:
    expected = run_in_worker(NEW.replace("cupynumeric", "numpy"))
    done = run_in_worker(
        NEW,
        LEGATE_CONFIG="--cpus 3 --gpus 0 --sysmem 500",
        LEGATE_TEST="1",
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_THREADS="1",
        LEGATE_DIFFUSE_SMALL_BYTES="0",
        LEGATE_DIFFUSE_SYNC_COMPILE="1",
    )
    is_fused(done)
    assert done.stdout == expected.stdout


MOVED = """
import numpy
import cupynumeric as np
from legate_diffuse.stores.root import Root

roots, spares = set(), set()
move = Root.move

def counted(root, spare):
    move(root, spare)
    roots.add(root)
    # the store that it has left
    spares.add(root.spare.handle)
    spares.add(root.handle)

Root.move = counted
grids = [np.ones((64, 64)) * n for n in range(5)]
for _ in range(12):
    for u in grids:
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
        # each grid has a task of its own
        u[1, 1].item()
for n, u in enumerate(grids):
    numpy.testing.assert_array_equal(numpy.asarray(u), n * numpy.ones((64, 64)))
Root.move = move
print(len(roots), len(spares))
"""


def test_an_array_that_moves_takes_its_size_once_more() -> None:
    done = run_in_worker(MOVED, **PARTITIONED)
    is_fused(done)
    assert done.stdout.split() == ["5", "10"]


SOLVER = """
import gc
import cupynumeric as np
import legate_diffuse
from legate_diffuse.launch import release
from legate_diffuse.stores.root import Root

def stored():
    found = [each for each in gc.get_objects() if isinstance(each, Root)]
    return sum(each.real is not None and each.shape == (64, 64) for each in found)

counts = []
run = release.LetGo.run

def counted(step, queue, launch):
    run(step, queue, launch)
    counts.append(stored())

release.LetGo.run = counted
gc.disable()
x = np.ones((64, 64))
for _ in range(30):
    # two tasks for a step, as the second needs a sum that the first has made
    y = x * 2.0
    total = (y * x).sum()
    z = y / total
    x = z * 4096.0
total.item()
release.LetGo.run = run
gc.enable()
assert len(counts) > 4, counts
print(max(counts))
"""


def test_arrays_go_when_no_task_of_the_window_needs_them() -> None:
    done = run_in_worker(SOLVER, **PARTITIONED)
    is_fused(done)
    # what a step begins with, and what it makes
    assert int(done.stdout) <= 3


SPARES = """
import numpy
import cupynumeric
from legate.core import get_legate_runtime

fence = get_legate_runtime().issue_execution_fence

def sweeps(np, x):
    for _ in range(3):
        x[1:-1] = 0.5 * (x[:-2] + x[2:])
        if np is cupynumeric:
            fence(block=False)

def spare(x):
    return x._thunk.base._view.root.spare

def solve(np):
    x, y = np.arange(300.0), np.arange(70.0)
    sweeps(np, x)
    assert np is numpy or spare(x) is not None
    for k in range(100):
        if np is cupynumeric and k == 40:
            assert spare(x) is not None
        y = y * 0.5 + k
        if np is cupynumeric:
            fence(block=False)
    assert np is numpy or spare(x) is None
    sweeps(np, x)
    assert np is numpy or spare(x) is not None
    return x, y

for found, expected in zip(solve(cupynumeric), solve(numpy)):
    numpy.testing.assert_array_equal(numpy.asarray(found), expected)
"""


def test_what_does_not_move_any_more_has_no_spare_store() -> None:
    done = run_in_worker(SPARES, **PARTITIONED)
    is_fused(done)
