# SPDX-License-Identifier: Apache-2.0
"""Copies of reshaped arrays are tasks of this package's, on any number of points."""

from __future__ import annotations

import pytest
from process import run_in_worker
from tiers import some

PROGRAM = """
import cupynumeric
import numpy
from legate_diffuse.interpose.window import window

copies = window.submitter.copies
taken = []
of = copies.of

def noted(operation):
    task = of(operation)
    if operation.kind and not all(view.affine for view in operation.views):
        taken.append(task.library is copies._library)
    return task

def reshaped(np, dtype):
    x = np.arange(26 * 38).astype(dtype).reshape(26, 38)
    y = np.zeros((24, 36), dtype)
    y[:] = x[1:-1, :-2].reshape(12, 2, 36)[::1].reshape(24, 36)
    yield x[:-2, :-2].reshape(12, 2, 18, 2)
    yield x[1:-1, 1:-1].reshape(3, 8, 4, 9)[:, 0, :, 2]
    yield x[:, 3].reshape(2, 13)
    yield x[2:3, :-2].reshape(6, 6)
    yield x[:0, :4].reshape(2, 0, 2)
    yield x.T.reshape(19, 2, 26)
    yield y.reshape(6, 4, 12, 3)

copies.of = noted
for dtype in ("bool", "int8", "int16", "float32", "float64", "complex128"):
    pairs = zip(reshaped(cupynumeric, dtype), reshaped(numpy, dtype), strict=True)
    for found, expected in pairs:
        numpy.testing.assert_array_equal(numpy.asarray(found), expected)
copies.of = of
print(len(taken) > 0, all(taken))
"""


@pytest.mark.parametrize("cpus", some([2, 1, 3, 4], 2))
def test_reshaped_parts_are_copied(cpus: int) -> None:
    done = run_in_worker(
        PROGRAM,
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 500",
        LEGATE_TEST="1",
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_THREADS="1",
        LEGATE_DIFFUSE_SMALL_BYTES="0",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "True"]
