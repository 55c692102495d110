# SPDX-License-Identifier: Apache-2.0
"""Reductions along several axes of arrays in the process are one loop."""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

PROGRAM = """
from itertools import combinations
def parts(n):
    made = (n.arange(5 * 4 * 3 * 6) * 37 % 101 - 40).astype(DTYPE)
    whole = made.reshape(5, 4, 3, 6)
    yield from (whole, whole[:, 1:3, :, 2:5], whole.transpose((3, 0, 2, 1)))
    yield from (whole[2], whole[:, 2:3], whole[2:4, :, 1], whole[:, :, None, 1])
def results(n):
    for part in parts(n):
        for count in range(2, part.ndim):
            for axes in combinations(range(part.ndim), count):
                for name in NAMES:
                    yield getattr(part, name)(axis=axes)
                    yield getattr(n, name)(part, axis=axes[::-1], keepdims=True)
                yield part.sum(axis=tuple([axis - part.ndim for axis in axes]))
def check():
    for one, other in zip(results(cn), results(np), strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-5)
check()
before, fills = window.counters.tasks_submitted, window.counters.fills_seen
check()
assert window.counters.tasks_submitted == before
# each but those to a single element, which NumPy makes, begins with a fill
assert window.counters.fills_seen - fills >= LEAST, window.counters.fills_seen - fills
"""


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64"])
def test_they_are_those_of_numpy(dtype: str) -> None:
    real = not dtype.startswith("c")
    names = ("sum", "max", "min") if real else ("sum",)
    least = 350 if real else 150
    run_here(
        f"DTYPE, NAMES, LEAST = {dtype!r}, {names!r}, {least}\n" + PROGRAM, fuses=False
    )


def test_products_and_means_of_few_numbers() -> None:
    run_here("""
def program(n):
    x = n.arange(1.0, 49.0).reshape(2, 2, 3, 4)
    found = []
    for axes in ((0, 1), (0, 3), (1, 2), (0, 1, 3), (2, 3)):
        found += [(x % 3 + 1).prod(axis=axes), x.mean(axis=axes)]
        found += [x.mean(axis=axes, keepdims=True), (x > 7.0).sum(axis=axes)]
        found += [x[..., 1:].sum(axis=axes, keepdims=True) - x[:, :, :, :1]]
    return found
agree(program)
""")


def test_extremes_pass_over_nan_as_those_of_tasks() -> None:
    run_here("""
x = (np.arange(60.0) * 37 % 11 - 5).reshape(3, 4, 5)
x[x == 2.0] = np.nan
x[1, :, 2] = -np.inf
y = cn.array(x)
for _ in range(2):
    for axes in ((0, 1), (0, 2), (1, 2)):
        assert np.array_equal(y.max(axis=axes), np.fmax.reduce(x, axis=axes))
        assert np.array_equal(cn.amin(y, axes), np.fmin.reduce(x, axis=axes))
found = y.sum(axis=(0, 1))
assert np.allclose(np.asarray(found), x.sum(axis=(0, 1)), equal_nan=True)
""")


def test_reductions_need_no_python() -> None:
    run_here(
        """
import sys
a = cn.array((np.arange(60.0) * 37 % 11).reshape(3, 4, 5))
def step():
    a.sum(axis=(0, 1)), a.max(axis=1), cn.sum(a, axis=-1), a.min((1, 2)), cn.sum(a, 0)
    cn.amax(a, axis=(2, 0)), a.sum(), cn.sum(a), a.sum(axis=(0, 1, 2))
    a[0, 0].sum(axis=0), a.sum((0, 2), keepdims=True)
    a.sum(axis=(0, 2), dtype=None, out=None, keepdims=False), a.prod(axis=(0, 1))
for _ in range(3):
    step()
called = set()
sys.setprofile(lambda frame, event, _: called.add(frame.f_code.co_name))
step()
sys.setprofile(None)
assert called <= {"step", "<module>"}, called
""",
        fuses=False,
    )


def test_axes_that_are_none_are_refused() -> None:
    run_here("""
def program(n):
    x = n.arange(24.0).reshape(2, 3, 4)
    found = []
    for axes in ((0, 0), (0, 3), (-4, 1), (1.0, 0)):
        try:
            found.append(x.sum(axis=axes))
        except Exception as error:
            found.append(1.0)
    return found
agree(program)
""")
