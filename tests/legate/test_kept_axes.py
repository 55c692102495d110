# SPDX-License-Identifier: Apache-2.0
"""Reductions that keep their axis, and products of stacks, without Python between."""

from __future__ import annotations

from test_small_arrays import run_here


def test_sums_keep_an_axis_natively() -> None:
    run_here(
        """
for dtype in ("float64", "int64", "bool", "complex64"):
    values = (np.arange(60) % 7 > 2).reshape(3, 4, 5).astype(dtype)
    x = cn.array(values)
    for axis in (0, 1, 2, -1):
        for name in ("sum", "max", "prod", "any") if dtype != "complex64" else ("sum",):
            for keeps in (True, False):
                found = getattr(x, name)(axis=axis, keepdims=keeps)
                wanted = getattr(values, name)(axis=axis, keepdims=keeps)
                assert found.dtype == wanted.dtype, (dtype, axis, name)
                assert found.shape == wanted.shape, (dtype, axis, name)
                assert np.array_equal(found, wanted), (dtype, axis, name)
x = cn.arange(12.0).reshape(3, 4)
for _ in range(3):
    tasks = window.counters.tasks_submitted
    y = x / x.sum(axis=1, keepdims=True)
    z = x - x.max(axis=0, keepdims=True)
    assert window.counters.tasks_submitted == tasks
""",
        fuses=False,
    )


def test_stacks_are_multiplied_natively() -> None:
    run_here(
        """
import unittest.mock
from legate_diffuse.shortcuts.products import Products
rng = np.random.default_rng(0)
shapes = [((4, 3, 3), (4, 3, 3)), ((4, 3, 3), (3, 3)), ((3, 3), (4, 3, 3)),
          ((2, 4, 3, 5), (4, 5, 2)), ((4, 3, 3), (3,)), ((3,), (4, 3, 2))]
for one, other in shapes:
    a, b = rng.random(one), rng.random(other)
    x, y = cn.array(a), cn.array(b)
    assert np.allclose(x @ y, a @ b), (one, other)
    tasks = window.counters.tasks_submitted
    with unittest.mock.patch.object(Products, "of_stack", side_effect=AssertionError):
        assert np.allclose(x @ y, a @ b), (one, other)
        if len(other) < 3:
            assert np.allclose(x.dot(y), a.dot(b)), (one, other)
    assert window.counters.tasks_submitted == tasks
""",
        fuses=False,
    )
