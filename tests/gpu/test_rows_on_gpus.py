# SPDX-License-Identifier: Apache-2.0
"""Programs over the rows of a matrix: one launch on each GPU, if a row fits."""

from __future__ import annotations

from textwrap import dedent
from typing import Final

import pytest
from fake_gpus import run_in_worker

# Prints how many kernels are launched by the last of a few steps.
STEPS: Final = """
    import ctypes
    import sys

    import cupynumeric
    import numpy
    from legate.core import get_legate_runtime

    driver = ctypes.CDLL("libcuda.so.1")
    steps = 2

    def prepared(np):
        index = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
        x = (20.0 * ((index * 0.6180339887498949) % 1.0) - 10.0).astype("DTYPE")
        return x, x[0] * 0.5, x[1] - 1.0

    def launches():
        get_legate_runtime().issue_execution_fence(block=True)
        return driver.fake_driver_launches()

    expected = function(numpy, *prepared(numpy))
    arrays = prepared(cupynumeric)
    for _ in range(steps):
        before = launches()
        found = function(cupynumeric, *arrays)
        count = launches() - before
    tolerance = 30 * numpy.finfo("DTYPE").eps
    scale = numpy.abs(expected).max()
    assert found.dtype == expected.dtype
    assert numpy.abs(numpy.asarray(found) - expected).max() < tolerance * scale
    print(count)
"""

SOFTMAX: Final = """
    def function(np, x, gain, bias):
        weights = np.exp(x - np.max(x, axis=1, keepdims=True))
        return weights / np.sum(weights, axis=1, keepdims=True)
"""

LAYER_NORM: Final = """
    def function(np, x, gain, bias):
        mean = np.mean(x, axis=1, keepdims=True)
        variance = np.var(x, axis=1, keepdims=True)
        normal = (x - mean) / np.sqrt(variance + 1.0e-5)
        return gain * normal + bias
"""

# Rows read beside what others have changed in the same row, never in another one.
WITHIN_ROWS: Final = """
    def function(np, x, gain, bias):
        y = x * 2.0
        z = y[:, 1:] + y[:, :-1]
        return z - z.max(axis=1, keepdims=True)
"""

# The sweep along the rows keeps its loops apart.
ACROSS_ROWS: Final = """
    def function(np, x, gain, bias):
        y = x * 2.0
        z = y[1:] + y[:-1]
        return z - z.max(axis=1, keepdims=True)
"""

# A nest along one dimension: the threads of a block have a row each.
SINGLE: Final = """
    def function(np, x, gain, bias):
        y = x.sum(axis=1)
        z = y * y - y
        return x * z[:, None]
"""


def launched(
    function: str, rows: int, columns: int, gpus: int = 1, dtype: str = "float64"
) -> int:
    """Return how many kernels a step launches that was found right."""
    text = STEPS.replace("ROWS", str(rows)).replace("COLUMNS", str(columns))
    program = dedent(function) + dedent(text.replace("DTYPE", dtype))
    done = run_in_worker(program, gpus)
    assert done.status == 0, done.errors[-3000:]
    assert done.counters["failures"] == 0
    return int(done.output.split()[-1])


@pytest.mark.parametrize("gpus", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", [SOFTMAX, LAYER_NORM])
def test_a_row_program_is_one_launch(function: str, gpus: int, dtype: str) -> None:
    assert launched(function, 50, 400, gpus, dtype) == gpus


@pytest.mark.parametrize("function", [WITHIN_ROWS, SINGLE])
@pytest.mark.parametrize("columns", [3, 40])
def test_nests_that_keep_to_their_rows_are_one_launch(
    function: str, columns: int
) -> None:
    assert launched(function, 60, columns) == 1


def test_rows_that_do_not_fit_are_loops_one_after_the_other() -> None:
    assert launched(SOFTMAX, 20, 7000) > 1


def test_nests_that_reach_other_rows_stay_apart() -> None:
    assert launched(ACROSS_ROWS, 60, 40) > 1
