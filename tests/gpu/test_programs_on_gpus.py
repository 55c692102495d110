# SPDX-License-Identifier: Apache-2.0
"""Small programs on GPUs that are the CPU: their values, and what the GPUs are given.

The memory of these GPUs is out of the host's reach: a task that touched it would end
the process.
"""

from __future__ import annotations

from textwrap import dedent
from typing import Final

import pytest
from fake_gpus import Done, run, run_in_worker

# Compares what a function of a module returns with what it returns for NumPy.
COMPARE: Final = """
import numpy
import cupynumeric

for number, (found, expected) in enumerate(
    zip(function(cupynumeric), function(numpy), strict=True)
):
    found = numpy.asarray(found)
    assert found.shape == expected.shape, number
    assert numpy.allclose(found, expected, rtol=1e-12, atol=1e-12), number
"""

ONE_LOOP: Final = """
def function(np):
    x = np.arange(3000.0)
    return [np.sqrt(x) * 3.0 + x]
"""

LAYOUTS: Final = """
def function(np):
    x = (np.arange(3600.0) % 7).reshape(60, 60)
    y = x[:30, 1:21] + x[30:, :20] * 2.0
    z = x.T + x
    stencil = x[1:-1, 1:-1] + 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, 2:])
    x[1:-1, 1:-1] = stencil
    column = np.arange(60.0)[:, None] - x
    return [y, z, stencil, x, column, np.eye(60) * x, np.arange(60) % 4 + 1]
"""

REDUCTIONS: Final = """
def function(np):
    x = (np.arange(7000.0) % 13).reshape(70, 100) - 3.0
    y = x * 2.0
    total = y.sum()
    return [
        y.sum(axis=0), y.sum(axis=1), total, y.max(), y.min(axis=1), y - total,
        (x > 2.0).any(axis=1), x.astype("float16").sum(axis=1),
        x[:, :3].sum(axis=1), y - y.mean(axis=1, keepdims=True),
    ]
"""

SCALARS: Final = """
def function(np):
    x = np.arange(1000.0)
    norm = np.sqrt((x * x).sum())
    x /= norm
    count = (x > 0.01).sum()
    return [x, norm, count, x * count]
"""


def compare(function: str, gpus: int = 1, **settings: str) -> Done:
    """Run a function that is found right; with settings, in a process of its own."""
    program = dedent(function) + COMPARE
    if settings:
        done = run(program, gpus=gpus, **settings)
    else:
        done = run_in_worker(program, gpus)
    assert done.status == 0, done.errors[-3000:]
    return done


@pytest.mark.parametrize("gpus", [1, 2])
@pytest.mark.parametrize("function", [LAYOUTS, REDUCTIONS, SCALARS])
def test_values_are_numpys(function: str, gpus: int) -> None:
    counters = compare(function, gpus).counters
    assert counters["failures"] == 0
    assert counters["launches"] > 0


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_order_of_blocks_and_threads_is_free(seed: str) -> None:
    assert compare(REDUCTIONS, FAKE_CUDA_SEED=seed).counters["launches"] > 0


@pytest.mark.parametrize("gpus", [1, 2])
def test_a_loop_is_one_launch_on_each_gpu(gpus: int) -> None:
    counters = compare(ONE_LOOP, gpus).counters
    assert counters["groups"] == counters["tasks_submitted"] == 1
    assert counters["loads"] == 1
    assert counters["launches"] == gpus


# in the task's pool, in a store that tasks share, and in a buffer of unknown size
@pytest.mark.parametrize("side", [300, 900, 2000])
@pytest.mark.parametrize("gpus", [1, 2])
def test_temporaries_lie_in_the_memory_of_the_gpu(side: int, gpus: int) -> None:
    function = f"""
    def function(np):
        x = np.arange({side**2}.0).reshape({side}, {side})
        y = x * 0.5
        z = y.T + y[:1]
        return [z[:3, :3] + z[-3:, -3:]]
    """
    counters = compare(function, gpus).counters
    assert counters["failures"] == 0 < counters["launches"]
    if gpus == 1:
        assert counters["temporaries_removed"] == 2


def test_no_task_waits_for_the_device() -> None:
    # those of Legate that unpack scalars do, so there are none
    program = """
    import cupynumeric
    from legate.core import get_legate_runtime

    x = cupynumeric.arange(1000.0)
    for _ in range({tasks}):
        x = x * 2.0 - 1.0
        get_legate_runtime().issue_execution_fence(block=True)
    """
    few, many = (run_in_worker(program.format(tasks=n)).counters for n in (2, 12))
    assert many["launches"] == few["launches"] + 10
    # how often Legate waits by itself when it starts depends on the machine
    assert many["synchronizations"] < few["synchronizations"] + 10


def test_a_scope_without_gpus_runs_unfused() -> None:
    program = """
    import cupynumeric
    from legate.core import Scope, TaskTarget, get_legate_runtime

    cpus = get_legate_runtime().machine.only(TaskTarget.CPU)
    with Scope(machine=cpus):
        x = cupynumeric.arange(100.0) * 2.0 + 1.0
        assert x.sum() == 10000.0
    """
    done = run_in_worker(program)
    assert done.status == 0, done.errors[-3000:]
    assert done.counters["groups"] == done.counters["launches"] == 0


def test_a_report_tells_of_programs_on_gpus() -> None:
    done = compare(ONE_LOOP, LEGATE_DIFFUSE_EXPLAIN="all")
    assert "operations became 1 task" in done.output
