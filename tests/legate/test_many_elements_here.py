# SPDX-License-Identifier: Apache-2.0
"""Statements on millions of elements, some of which bypass the caches.

Programs run in workers, see ``test_small_arrays.py``.
"""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

# What lies where no line of a cache begins, too; larger and smaller than caches.
EXTENTS = (1_048_575, 1_048_576, 2_097_153, 2_500_003)


@pytest.mark.parametrize("extent", EXTENTS)
def test_elements_past_the_caches(extent: int) -> None:
    run_here(
        f"""
def program(n):
    size = {extent}
    x = n.arange(float(size))
    y = n.zeros(size)
    z = n.zeros(size, dtype=n.int8)
    y[size // 2] = x[3]
    z[-1] = 5
    both = n.concatenate((x, y, x[1:]))
    added = x + y
    x[5:] += 1.0
    kept = x[7:].copy()
    return [y, z, both, added, x, kept, n.array(kept), n.asarray(kept)[::1]]
agree(program)
""",
        LEGATE_CONFIG="--cpus 1 --gpus 0 --sysmem 2000",
    )


@pytest.mark.parametrize("cpus", [1, 2])
def test_few_elements_become_many(cpus: int) -> None:
    run_here(
        """
def program(n):
    b = n.arange(1200.0)
    return [
        n.diag(b), n.diag(b, 3), n.diag(b, -2), n.diagflat(b), n.diagflat(b, 1),
        n.tile(b, (900, 1)), n.tile(b, 1100), n.repeat(b, 1000), n.eye(1300),
        n.repeat(b.reshape(3, 400), 500, axis=1), n.diag(b > 3), n.tile(b > 3, 999),
    ]
agree(program)
agree(program)
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 4000",
    )


def test_parts_of_many_elements_need_no_python() -> None:
    """What NumPy does with an array of any size has a native way."""
    run_here(
        """
from legate_diffuse.shortcuts.elements import Elements
def program(n):
    a = n.zeros((1500, 1400))
    a[7] = 3.0
    a[:, 9] = n.arange(1500.0)
    found = [a.diagonal(), n.diag(a), n.trace(a), a.diagonal(3), n.diag(a, -1)]
    found += [n.diag(n.diag(a)[:5]), n.argmax(a), a.argmin(axis=0), a[[1, 2, 7]]]
    return found + [a.take(n.arange(9)), n.searchsorted(a[:, 9], 7.0)]
agree(program)
a = cn.array(np.ones((1500, 1400)))
a.diagonal(), a[3, 4], a.diagonal()
def none(*_, **__):
    raise AssertionError
before, Elements.find = Elements.find, none
try:
    found = [a.diagonal(), cn.diag(a), cn.trace(a)]
finally:
    Elements.find = before
for one, other in zip(found, (np.ones(1400), np.ones(1400), 1400.0)):
    np.testing.assert_array_equal(np.asarray(one), other)
""",
        LEGATE_CONFIG="--cpus 1 --gpus 0 --sysmem 2000",
    )
