# SPDX-License-Identifier: Apache-2.0
"""A large array in another shape uses the memory of the first one until either changes.

Programs run in workers, see ``test_small_arrays.py``.
"""

from __future__ import annotations

import pytest
from test_small_arrays import run_here
from tiers import examples

# Random changes of arrays that may use the same memory, compared with NumPy's copies.
RANDOM = """
import random
from legate.core import align
from legate.core.task import InputStore, OutputStore, task
@task(constraints=(align("x", "y"),))
def halve(x: InputStore, y: OutputStore) -> None:
    np.asarray(y)[...] = np.asarray(x) * 0.5
class Both:
    def __init__(self, ours, theirs):
        self.ours, self.theirs, self.shown = ours, theirs, []
    def compare(self):
        found = np.asarray(self.ours)
        assert found.shape == self.theirs.shape
        np.testing.assert_array_equal(found, self.theirs)
def program(seed):
    rng = random.Random(seed)
    size = rng.choice([8192, 65536])
    shapes = [(size,), (-1, 256), (-1, 1024), (-1, 64, 64), (-1, 2)]
    first = np.arange(float(size))
    # one is in memory of NumPy's, one comes from a task, one was made here
    pool = [Both(cn.asarray(first.copy()), first.copy()),
            Both(cn.arange(float(size)), first.copy()),
            Both(cn.arange(float(size)) * 1.0, first.copy())]
    for _ in range(rng.randint(5, 40)):
        it = rng.choice(pool)
        a, b = it.ours, it.theirs
        other = rng.choice([each for each in pool if each.theirs.shape == b.shape])
        c, d = other.ours, other.theirs
        value, row = rng.random(), rng.randrange(b.shape[0])
        place = tuple(rng.randrange(extent) for extent in b.shape)
        match rng.choice(STEPS):
            case "reshape" if b.size == size:
                shape = rng.choice(shapes)
                if shape[1:] != b.shape[1:]:
                    pool.append(Both(a.reshape(shape), b.reshape(shape).copy()))
            case "ravel" if b.ndim > 1:
                pool.append(Both(a.ravel(), b.ravel().copy()))
            case "flatten" if b.ndim > 1:
                pool.append(Both(a.flatten(), b.flatten()))
            case "part" if b.ndim > 1:
                last = b.shape[0] * 7 // 8
                pool.append(Both(a[row // 8 : last].reshape(-1),
                                 b[row // 8 : last].reshape(-1).copy()))
            case "transposed" if b.ndim == 2:
                pool.append(Both(a.T.reshape(-1), b.T.reshape(-1).copy()))
            case "number":
                a[...] = value
                b[...] = value
            case "rows":
                a[row : row + 3] = value
                b[row : row + 3] = value
            case "rows in place":
                a[row : row + 3] += 0.5
                b[row : row + 3] += 0.5
            case "element":
                a[place] = value
                b[place] = value
            case "in place":
                a += 1.5
                b += 1.5
            case "all":
                a[:] = c * 2
                b[:] = d * 2
            case "shifted":
                a[1:-1] = c[2:]
                b[1:-1] = d[2:].copy()
            case "out":
                cn.add(c, 1.0, out=a)
                np.add(d, 1.0, out=b)
            case "fill":
                a.fill(value)
                b.fill(value)
            case "places":
                a[cn.asarray([row, 0])] = value
                b[[row, 0]] = value
            case "mask":
                a[a > 1000] = 7.0
                b[b > 1000] = 7.0
            case "sort" if b.ndim == 1:
                a.sort()
                b.sort()
            case "show":
                it.shown.append(np.asarray(a))
                np.testing.assert_array_equal(it.shown[-1], b)
            case "write what is shown" if it.shown:
                it.shown[-1][place] = value
                b[place] = value
            case "forget what is shown":
                it.shown.clear()
            case "drop" if len(pool) > 2:
                pool.remove(it)
            case "read":
                assert float(a[place]) == b[place]
            case "sum":
                assert np.isclose(float(a.sum()), b.sum(), rtol=1e-9)
            case "copy":
                pool.append(Both(a.copy(), b.copy()))
            case "rolled":
                # by NumPy, which gets the memory
                pool.append(Both(cn.roll(a, 3), np.roll(b, 3)))
            case "loop":
                pool.append(Both(a * 2 + 1, b * 2 + 1))
            case "task" if a is not c:
                halve(c, a)
                b[...] = d * 0.5
        while len(pool) > 8:
            pool.remove(rng.choice(pool))
        if rng.random() < 0.1:
            rng.choice(pool).compare()
    for each in pool:
        each.compare()
STEPS = ["reshape", "reshape", "reshape", "ravel", "flatten", "part", "transposed",
         "number", "rows", "rows in place", "element", "in place", "all", "shifted",
         "out", "fill", "places", "mask", "sort", "show", "write what is shown",
         "forget what is shown", "drop", "read", "sum", "copy", "rolled", "loop",
         "task"]
"""


@pytest.mark.parametrize("cpus", [1, 2])
def test_no_change_is_seen_elsewhere(cpus: int) -> None:
    run_here(
        RANDOM
        + f"""
if {cpus} > 1:
    # where arrays are divided, the results of these are wrong unfused as well
    STEPS.remove("write what is shown")
    STEPS.remove("sort")
for seed in range({examples(150, 1500) // cpus}):
    try:
        program(seed)
    except AssertionError as error:
        raise AssertionError(f"seed {{seed}}") from error
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
    )


def test_memory_is_taken_when_one_changes() -> None:
    run_here(
        """
from legate_diffuse import _native
def taken():
    return _native.small_array_bytes() - before
x = cn.arange(120000.0).reshape(300, 400)
x[0, 0] = float(x.sum()) * 0.0
before = _native.small_array_bytes()
flat = x.reshape(-1)
rows = x[100:300].reshape(100, 800)
assert taken() == 0
# to read needs none
assert float((flat * 2.0).max()) == 2.0 * (x.size - 1) and float(rows[0, 0]) == 40000.0
again = taken()
x[5, 5] = -1.0
assert taken() == again + x.size * 8
assert float(flat[2005]) == 2005.0 and float(rows.min()) == 40000.0
# which one alone uses
flat += 1.0
rows[3] = 7.0
assert float(flat[-1]) == x.size and float(x[-1, -1]) == x.size - 1
assert float(rows[3].sum()) == 5600.0 and float(flat[42400]) == 42401.0
"""
    )


def test_memory_that_legate_maps_is_copied_when_it_changes() -> None:
    run_here(
        """
from legate.core.task import OutputStore, task
from legate_diffuse import _native
def taken():
    return _native.small_array_bytes() - before
@task
def draw(y: OutputStore) -> None:
    np.asarray(y)[...] = np.random.rand(300, 400)
x = cn.empty((300, 400))
draw(x)
assert float(x[0, 0]) < 1.0
before = _native.small_array_bytes()
found = [x.reshape(-1) for _ in range(9)]
assert taken() == 0, taken()
found[0] -= 1.0
found[1] += 1.0
draw(x)
before = np.asarray(found[2])
assert (before < 1.0).all() and (np.asarray(found[0]) == before - 1.0).all()
assert (np.asarray(found[1]) == before + 1.0).all()
assert all(np.array_equal(np.asarray(each), before) for each in found[2:])
assert not np.array_equal(np.asarray(x).ravel(), before)
"""
    )
