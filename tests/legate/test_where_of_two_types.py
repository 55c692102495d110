# SPDX-License-Identifier: Apache-2.0
"""``where`` makes of two types what the original makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from process import run_alone
from test_small_arrays import run_here

PROGRAM = """
import numpy as np
import cupynumeric as cn
def values(n):
    whole = cn.arange(n)
    arrays = [whole.astype(name) for name in (
        "bool", "uint8", "int32", "int64", "float32", "float64", "complex64")]
    return [*arrays, whole[:1] * 2.5, cn.array(7), True, False, 1, -1, 300, 2**60, 1.5,
            2j, np.float32(1), np.int64(3), [3] * n, float("inf")]
def outcomes(n):
    for mask in (cn.arange(n) % 2 == 0, cn.arange(n) % 3, [True, False] * (n // 2)):
        for one in values(n):
            for other in values(n):
                try:
                    yield np.asarray(cn.where(mask, one, other))
                except Exception as error:
                    yield np.array(type(error).__name__)
"""


@pytest.mark.parametrize("count", [6, 3000])
def test_results_are_those_of_tasks(count: int, tmp_path: Path) -> None:
    path = str(tmp_path / "unfused.npz")
    done = run_alone(
        f"{PROGRAM}np.savez({path!r}, *outcomes({count}))\n", LEGATE_DIFFUSE="0"
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    run_here(
        f"""{PROGRAM}
wanted = np.load({path!r})
for one, name in zip(outcomes({count}), wanted.files, strict=True):
    other = wanted[name]
    assert (one.dtype, one.shape) == (other.dtype, other.shape), name
    assert np.array_equal(one, other), (name, one, other)
x = cn.arange(6.0)
mask, single, whole = x > 2, x.astype("float32"), x.astype(int)
for _ in range(2):
    tasks = window.counters.tasks_submitted
    for one, other in ((single, 0), (0.5, whole), (single, x), (whole, single)):
        assert cn.where(mask, one, other).dtype == "float64"
    assert cn.where(mask, True, False).dtype == bool
    assert cn.where(mask, single, np.float32(0)).dtype == "float32"
    assert cn.where(mask, 2j, x).dtype == cn.where(mask, 1j, 0).dtype == "complex128"
    assert cn.where(whole % 2, single, single).dtype == "float32"
    assert cn.where(whole % 2, np.exp(1j), 1).dtype == "complex128"
assert window.counters.tasks_submitted == tasks
"""
    )
