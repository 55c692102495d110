# SPDX-License-Identifier: Apache-2.0
"""Results in given arrays, and of given types, are those of cuPyNumeric's own tasks."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_hosted import DTYPES, run_both
from test_small_arrays import run_here
from tiers import some


@pytest.mark.parametrize("dtype", some(DTYPES, 2))
def test_results_are_written_as_by_tasks(dtype: str, tmp_path: Path) -> None:
    run_both("__import__('written_statements').WRITTEN", dtype, tmp_path / "unfused")


def test_many_results_are_written_without_tasks() -> None:
    """NumPy makes them, and a loop copies them to where they belong."""
    run_here(
        """
def program(n):
    x = n.array(np.arange(90000.0) % 7)
    i = n.array(np.arange(90000) * 7 % 89)
    A = n.array(np.arange(90000.0).reshape(300, 300) % 5)
    found = [n.zeros(90000) for _ in range(4)] + [n.zeros((300, 300))]
    n.take(x, i, out=found[0])
    n.cumsum(x, out=found[1])
    n.choose(i % 2, [x, x + 1.0], out=found[2])
    n.nancumsum(x, out=found[3])
    n.matmul(A, A, out=found[4])
    n.take(found[0], i, out=x)
    return [*found, x]
program(cn), program(cn)
found = counts(lambda: float(program(cn)[-1][3]))
assert found["tasks_submitted"] == found["failures"] == 0, found
agree(program)
"""
    )
