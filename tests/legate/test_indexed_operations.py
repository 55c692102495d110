# SPDX-License-Identifier: Apache-2.0
"""Operations whose values depend on the index of a point: arange, eye, tri, tril, triu.

Other results of the group, views and reductions decide on the order of the loops and
on the part of the array that a task computes, none of which may change an index.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import cupynumeric as cn
import numpy as np
import pytest
from comparison import counts, differential, fused, same, unfused
from every import every
from process import run_checks
from tiers import examples, some

from legate_diffuse import _native
from legate_diffuse.kernel.dtypes import ALL
from legate_diffuse.kernel.verify import MAX_DIMENSIONS

NUMBERS = [dtype for dtype in ALL if dtype != "bool"]
# of each kind there is one
TYPES = ALL[:: examples(3, 1)]


def both(program, originals=0):
    """Assert that a program gives the same bits fused and unfused; return them."""
    found = fused(lambda: np.asarray(program(cn)), originals)
    with unfused():
        original = program(cn)
    same(found, original)
    return found


def unless_one_element(shape):
    """Return that all operations are fused, unless there is no pass to save."""
    return None if np.prod(shape) == 1 else 0


@every("dtype", NUMBERS)
@every(("start", "stop", "step"), [(0, 100, 1), (-3, 90, 7), (50, -70, -3), (3, 4, 1)])
def test_arange_of_numbers(dtype, start, stop, step):
    if dtype.startswith("u"):
        start, stop = sorted((abs(start), abs(stop)))
        step = abs(step)
    result = both(
        lambda n: n.arange(start, stop, step, dtype=dtype) + n.zeros(1, dtype)
    )
    np.testing.assert_array_equal(result, np.arange(start, stop, step).astype(dtype))


@every("dtype", [d for d in NUMBERS if "int" not in d])
@every(("start", "step"), [(0.1, 0.3), (-1e3, 0.7), (1e-3, -1.3)])
def test_arange_has_the_bits_of_upstream(dtype, start, step):
    both(lambda n: -n.arange(start, start + 300 * step, step, dtype=dtype))


def test_arange_of_truth_values():
    result = both(lambda n: n.logical_not(n.arange(False, 5, True, dtype=bool)))
    np.testing.assert_array_equal(result, [True, False, False, False, False])


@pytest.mark.parametrize("start", [2**53 + 1, -(2**63), 2**62])
def test_arange_of_large_integers(start):
    result = both(lambda n: n.arange(start, start + 40, 3) * 1)
    np.testing.assert_array_equal(result, np.arange(start, start + 40, 3))


def test_empty_arange():
    assert both(lambda n: n.arange(5, 5) * 2, originals=None).shape == (0,)


@every("dtype", TYPES)
@every("shape", [(6, 6), (5, 9), (9, 5), (1, 7), (7, 1), (1, 1)])
def test_eye(dtype, shape):
    for offset in (0, 2, -3, 100, -100):
        for program in (
            lambda n, k=offset: n.eye(*shape, k=k, dtype=dtype) == 1,
            lambda n, k=offset: n.eye(*shape, k=k, dtype=dtype).T,
        ):
            differential(program, originals=unless_one_element(shape))


@every("dtype", TYPES)
@every("shape", [(6, 6), (5, 9), (1, 7), (7, 1), (1, 1), (2, 3, 4)])
def test_triangles(dtype, shape):
    values = np.arange(1, np.prod(shape) + 1).reshape(shape).astype(dtype)

    def program(n, a, offset):
        b = a + a
        return n.tril(b, offset), n.triu(b, offset), n.triu(n.tril(a, 1), -1)

    for offset in (0, 1, -2, 50, -50):
        differential(
            lambda n, a, k=offset: program(n, a, k),
            values,
            originals=unless_one_element(shape),
        )


def test_triangle_of_a_line():
    differential(lambda n, a: (n.tril(a * 2), n.triu(a * 2, 1)), np.arange(1.0, 6.0))


def test_triangles_keep_what_is_no_number():
    values = np.array([[np.nan, -0.0, np.inf], [-np.inf, -0.0, 1.0]])
    differential(lambda n, a: (n.tril(a * 1), n.triu(a * 1)), values)


def test_views():
    def program(n, a):
        turned = n.tril(a.T * 2.0)
        part = n.triu(a[1:, 2:-1] + 1.0, 1)
        part[1:, :2] = n.eye(8, 2)
        line = n.arange(13.0)
        return turned, part, a * line, a[:, 3] + n.arange(10.0), line[3:] - line[:-3]

    differential(program, np.arange(130.0).reshape(10, 13))


def test_reductions():
    def program(n, a):
        b = n.triu(a, 1) + n.eye(10, 13, 2)
        return b.sum(axis=0), b.sum(axis=1), b.max(), (a * n.arange(13.0)).sum()

    differential(program, np.arange(130.0).reshape(10, 13))


def test_reduction_of_nothing_else():
    differential(lambda n: (n.arange(1000) * 2).sum())
    differential(lambda n: n.tril(n.ones((30, 40))).sum())
    differential(lambda n: n.tril(n.ones((30, 40))).sum(axis=0))


def test_matrix_that_is_used_again():
    def program(n, a):
        b = n.eye(7)
        b[2:5, 2:5] = n.eye(3, k=1)
        b += n.arange(7.0)
        return n.tril(b @ a), b

    # the product
    differential(program, np.arange(49.0).reshape(7, 7), originals=1)


def test_they_share_a_task():
    a = cn.ones((20, 30))

    def program():
        return cn.tril(a + cn.arange(30.0), 1) * cn.eye(20, 30)

    program()
    found = counts(program)
    assert found["tasks_seen"] + found["fills_seen"] >= 6
    # arange has a shape of its own
    assert found["tasks_submitted"] <= 2


def test_a_kernel_asks_for_dimensions_that_there_are():
    code = (ctypes.c_int64 * 7)(1, 0, 1 << MAX_DIMENSIONS)
    with pytest.raises(ValueError, match="no such dimension"):
        _native.register_kernel(ctypes.addressof(code))


def test_loops_of_several_shapes():
    def program(n, a):
        b = n.tril(a, 3) + n.eye(200, 30, -4)
        c = n.triu(b[1:] - b[:-1], -60)
        return n.tril(c[1:] * 2 + c[:-1], -20) + n.arange(30.0), c.sum(axis=0)

    differential(program, np.arange(6000.0).reshape(200, 30))


@pytest.mark.parametrize("cache_bytes", some(["4096", "0"], 2))
def test_on_one_processor(cache_bytes):
    """There, loops over whole arrays, or in turns over blocks of rows, are one task."""
    if "--cpus 1" in os.environ["LEGATE_CONFIG"]:
        pytest.skip("this is the run on one processor")
    settings = {
        "LEGATE_CONFIG": "--cpus 1 --gpus 0 --sysmem 500",
        "LEGATE_DIFFUSE_CACHE_BYTES": cache_bytes,
    }
    status, told = run_checks(Path(__file__), settings)
    assert status == 0, told
