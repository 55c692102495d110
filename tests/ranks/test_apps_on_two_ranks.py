# SPDX-License-Identifier: Apache-2.0
"""Applications do on two ranks what they do on two partitions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from two_ranks import missing, packages_environment, run

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

APPS = Path(__file__).parents[1] / "apps"
sys.path.insert(0, str(APPS))

from application_runs import QUICK  # noqa: E402
from applications import APPLICATIONS  # noqa: E402

# Their results have no sums in them that points and ranks add up in another order.
WITHOUT_SUMS = (
    *("black_scholes", "chain", "channel_flow", "heat", "lstm", "mandelbrot"),
    *("multigrid", "nbody", "shallow_water", "stencil", "update"),
)
WITH_SUMS = (
    *("bicgstab", "cg", "jacobi", "kmeans", "layer_norm", "logistic_regression"),
    "softmax",
)

# Runs the application whose command line a file has.
PROGRAM = """
import os
import runpy
import sys
rank = os.environ.get("OMPI_COMM_WORLD_RANK", "0")
sys.argv = [{script!r}, {folder!r} + f"/commands{{rank}}.json"]
runpy.run_path({script!r}, run_name="__main__")
"""
SETTINGS = {
    "CUPYNUMERIC_TEST": "1",
    "LEGATE_DIFFUSE": "1",
    "LEGATE_DIFFUSE_SMALL_BYTES": "0",
    "LEGATE_DIFFUSE_THREADS": "1",
    "LEGATE_TEST": "1",
}


def prepare(folder: Path, app: str) -> Path:
    """Write what two ranks run, and return it."""
    folder.mkdir()
    for rank in range(2):
        command = [
            *(app, *QUICK[app].split(), "--package", "cupynumeric"),
            *("--iterations", "4", "--batches", "3"),
            *("--output", str(folder / f"results{rank}.npz")),
        ]
        (folder / f"commands{rank}.json").write_text(json.dumps({app: command}))
    script = str(APPS / "in_one_process.py")
    program = folder / "program.py"
    program.write_text(PROGRAM.format(folder=str(folder), script=script))
    return program


def counts(output: str) -> list[float]:
    """Return how many tasks an iteration has had, seen and submitted."""
    (line,) = [line for line in output.splitlines() if line.startswith("{")]
    found = json.loads(line)["statistics_per_iteration"]
    # fills are tasks of ours on several ranks only, so groups differ
    return [found[name] for name in ("tasks_seen", "tasks_submitted")]


@pytest.mark.parametrize("app", WITHOUT_SUMS + WITH_SUMS)
def test_tasks_and_results_are_those_of_partitions(app: str, tmp_path: Path) -> None:
    alone, together = tmp_path / "alone", tmp_path / "together"
    done = subprocess.run(
        [sys.executable, str(prepare(alone, app))],
        env=os.environ
        | packages_environment(tmp_path)
        | SETTINGS
        | {"LEGATE_CONFIG": "--cpus 2 --gpus 0 --sysmem 1000"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:3000]
    ranks = run(prepare(together, app), tmp_path, **SETTINGS)
    for rank, (output, _) in enumerate(ranks):
        assert counts(output) == counts(done.stdout)
        with (
            np.load(alone / "results0.npz") as expected,
            np.load(together / f"results{rank}.npz") as found,
        ):
            for name, array in expected.items():
                if app in WITHOUT_SUMS:
                    assert np.array_equal(array, found[name]), name
                    continue
                bound = APPLICATIONS[app].roundings * np.finfo(array.dtype).eps
                np.testing.assert_allclose(
                    found[name], array, rtol=0, atol=bound * np.max(np.abs(array))
                )
