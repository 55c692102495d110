# SPDX-License-Identifier: Apache-2.0
"""The applications at small sizes agree with NumPy, unfused and fused."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from application_runs import (
    AGREEING,
    BY_MATRIX,
    CHECKED,
    NUMPY,
    SCRIPTS,
    SINGLE_PRECISION,
    WITH_NUMPY,
    WITH_SINES,
    Mode,
    Run,
    Runs,
    difference,
)
from tiers import some

# Without sums: fused results have the bits of the unfused ones.
POINT_WISE = ("channel_flow", "shallow_water", "heat", "mandelbrot")
InMode = Callable[[Mode], Runs]


@pytest.mark.parametrize("cpus", some([2, 1], 2))
@pytest.mark.parametrize("case", AGREEING)
def test_applications_agree_with_numpy(case: str, cpus: int, runs: InMode) -> None:
    expected = right(runs(NUMPY)[case])
    unfused = right(runs(Mode(cpus))[case])
    assert difference(expected, unfused) < 1e-10
    # threads share the loops of whole arrays, or arrays are partitioned
    for threads in {cpus, 1}:
        mode = Mode(cpus, threads)
        fused = right(runs(mode)[case])
        assert difference(expected, fused) < 1e-10
        if case in WITH_SINES:
            fused = right(runs(replace(mode, maths="libm"))[case])
        if case in POINT_WISE:
            for name, array in unfused.results.items():
                assert np.array_equal(array, fused.results[name])


@pytest.mark.parametrize("app", ["cg", "bicgstab"])
def test_the_matrix_is_the_stencil(app: str, runs: InMode) -> None:
    if not BY_MATRIX:
        pytest.skip("NumPy's programs have matrices of scipy")
    by_stencil = right(runs(NUMPY)[app]).results["x"]
    by_matrix = right(runs(NUMPY)[f"{app} by matrix"]).results["x"]
    assert np.max(np.abs(by_stencil[1:-1, 1:-1].ravel() - by_matrix)) < 1e-12


@pytest.mark.skipif(
    importlib.util.find_spec("legate_sparse") is not None, reason="it is installed"
)
def test_a_missing_package_is_one_sentence() -> None:
    script = str(SCRIPTS / "apps" / "cg.py")
    done = subprocess.run(
        [sys.executable, script, "--size", "4", "--operator", "sparse"],
        env=os.environ
        | {
            "LEGATE_CONFIG": "--cpus 1 --gpus 0 --sysmem 500",
            "LEGATE_DIFFUSE": "0",
            "LEGATE_DIFFUSE_DRIVER_STUB": "1",
        },
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 1
    assert "--operator sparse needs legate_sparse" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("case", SINGLE_PRECISION)
def test_applications_take_float32(case: str, runs: InMode) -> None:
    found = right(runs(NUMPY)[case], error=1e-5).results
    assert {array.dtype for array in found.values()} == {np.dtype("float32")}


@pytest.mark.parametrize("case", WITH_NUMPY)
def test_programs_run_on_numpy(case: str, runs: InMode) -> None:
    right(runs(NUMPY)[case])


@pytest.mark.parametrize(("cpus", "threads"), some([(2, 1), (1, 1), (2, 2)], 3))
@pytest.mark.parametrize("case", CHECKED)
def test_applications_pass_the_check(
    case: str, cpus: int, threads: int, runs: InMode
) -> None:
    growth = runs(Mode(cpus, threads, check=True))[case].record["growth"]
    assert growth["failures"] == growth["plans_refuted"] == 0
    assert growth["launches_checked"] > 0


def right(run: Run, error: float = 1e-12) -> Run:
    """Return an application's run if that found its results right."""
    assert run.record["error"] < error
    assert run.record["growth"]["plans_refuted"] == 0
    return run
