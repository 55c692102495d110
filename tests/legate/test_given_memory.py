# SPDX-License-Identifier: Apache-2.0
"""Arrays in memory of NumPy's arrays that the program keeps.

Programs run in workers, see ``test_small_arrays.py``.
"""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

TASKS = """
from cupynumeric._array.thunk import perform_scan
from cupynumeric.config import ScanCode
from legate.core.task import InputStore, OutputStore, task

@task
def halve(x: InputStore, y: OutputStore) -> None:
    np.asarray(y)[...] = np.asarray(x) * 0.5
"""


@pytest.mark.parametrize("size", [1, 7, 1000, 60000])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool", "complex128"])
def test_operations_run_on_the_memory(size: int, dtype: str) -> None:
    run_here(
        f"""
data = (np.arange({size}) % 5).astype("{dtype}")
expected = data.copy()
def program():
    x = cn.asarray(data)
    y = x + x
    x[0] = x[-1]
    x[1:] = x[:-1]
    x *= x
    return [y, x, x.sum(), x[:3], x[x != 0]]
def reference(x):
    y = x + x
    x[0] = x[-1]
    x[1:] = x[:-1].copy()
    x *= x
    return [y, x, x.sum(), x[:3], x[x != 0]]
x = cn.asarray(data)
expected = reference(expected)
found = []
ran = counts(lambda: found.extend(program()))
assert ran["failures"] == 0 < ran["ran_in_process"], ran
# masks select of many elements of these types by a task
assert ran["tasks_submitted"] <= (data.size > 50000 and data.dtype.kind in "bc"), ran
for one, other in zip(found, expected, strict=True):
    np.testing.assert_array_equal(np.asarray(one), other)
np.testing.assert_array_equal(data, expected[1])
# what the program writes is seen
data[...] = 1
assert bool((x == 1).all()) and np.shares_memory(np.asarray(x), data)
"""
    )


def test_both_see_what_tasks_write() -> None:
    run_here(
        TASKS
        + """
source, target = np.arange(100.0), np.zeros(100)
x, y = cn.asarray(source), cn.asarray(target)
for k in range(3):
    halve(x, y)
    np.testing.assert_array_equal(target, source * 0.5)
    x += 1.0
    y += x
    np.testing.assert_array_equal(target, source + (source - 1.0) * 0.5)
    assert float(x[0]) == source[0] == k + 1.0
    source[3] = -float(k)
    scanned = perform_scan(ScanCode.SUM, x)
    np.testing.assert_array_equal(np.asarray(scanned), np.cumsum(source))
    seen = np.asarray(y)
    y[5] = 7.0
    assert seen[5] == target[5] == 7.0
"""
    )


def test_arrays_over_one_memory_are_in_step() -> None:
    run_here(
        TASKS
        + """
data = np.arange(60000.0)
first, second = cn.asarray(data), cn.asarray(data)
first += 1.0
second *= 2.0
third = first[1:] + second[:-1]
np.testing.assert_array_equal(data, (np.arange(60000.0) + 1.0) * 2.0)
np.testing.assert_array_equal(np.asarray(third), data[1:] + data[:-1])
halve(first, second)
cn.add(first, 1.0, out=data)
np.testing.assert_array_equal(np.asarray(first), np.asarray(second))
assert data[0] == 2.0
# another shape over the same memory
square = data.reshape(200, 300)
part = cn.asarray(square)
part += 1.0
first += 1.0
np.testing.assert_array_equal(np.asarray(first), data)
"""
    )


def test_memory_outlives_what_shares_it() -> None:
    run_here(
        TASKS
        + """
def shared():
    data = np.arange(50.0)
    return cn.asarray(data)
arrays = [shared() for _ in range(20)]
views = [np.asarray(x) for x in arrays]
for x in arrays:
    x += 1.0
gc.collect()
del arrays, x
gc.collect()
junk = [np.full(50, 9.0) for _ in range(100)]
for view in views:
    np.testing.assert_array_equal(view, np.arange(50.0) + 1.0)
kept = np.arange(50.0)
x = cn.asarray(kept)
halve(x, x + 0.0)
del kept
gc.collect()
again = np.arange(50.0)
assert float(cn.asarray(again)[7]) == float(x[7]) == 7.0
"""
    )


def test_what_cannot_be_shared_here_is_as_before() -> None:
    run_here(
        """
columns = np.asfortranarray(np.arange(12.0).reshape(3, 4))
x = cn.asarray(columns)
x += 1.0
assert columns[0, 0] == float(x[0, 0]) == 1.0
fixed = np.arange(4.0)
fixed.flags.writeable = False
y = cn.asarray(fixed)
try:
    y[0] = 5.0
except ValueError:
    pass
assert fixed[0] == float(y[0]) == 0.0 and float(y.sum()) == 6.0
z = cn.asarray(np.zeros((0, 3)))
assert z.shape == (0, 3) and float(z.sum()) == 0.0
number = np.array(5.0)
w = cn.asarray(number)
w += 1.0
assert float(w) == float(number) == 6.0
part = np.arange(30.0)
cn.asarray(part[10:20])[:] = 0.0
cn.asarray(part[::2])[:] = 0.0
""",
        fuses=False,
    )


def test_large_memory_that_numpy_got_is_in_step() -> None:
    run_here(
        TASKS
        + """
x = cn.arange(100000.0) + 1.0
seen = np.asarray(x)
y = cn.zeros(100000)
def step():
    x[1:] += x[:-1] * 0.5
    return float(x.max())
for k in range(3):
    expected = seen.copy()
    expected[1:] += seen[:-1] * 0.5
    ran = counts(step)
    assert ran["tasks_submitted"] == 0 < ran["ran_in_process"], ran
    np.testing.assert_array_equal(seen, expected)
    seen[k] = -1.0
    assert float(x[k]) == -1.0
    halve(x, y)
    np.testing.assert_array_equal(np.asarray(y), seen * 0.5)
"""
    )
