# SPDX-License-Identifier: Apache-2.0
"""The benchmark programs in check mode, at the sizes at which they are tested."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

APPS = Path(__file__).parents[2] / "scripts" / "apps"

OPTIONS = {
    "black_scholes": "--size 1000",
    "chain": "--size 1000",
    "stencil": "--size 30",
    "update": "--size 1000",
    "jacobi": "--size 60",
    "cg": "--size 40",
    "cg with a tolerance": "--size 8 --tolerance 1e-3",
    "cg in single precision": "--size 20 --dtype float32",
    "bicgstab": "--size 40",
    "multigrid": "--size 15",
    "multigrid with injection": "--size 15 --restriction injection",
    "channel_flow": "--size 21 --sweeps 5",
    "shallow_water": "--size 30",
    "heat": "--size 12",
    "softmax": "--size 20",
    "layer_norm": "--size 20",
    "kmeans": "--size 1000",
    "logistic_regression": "--size 200",
    "lstm": "--size 20",
    "nbody": "--size 50",
    "mandelbrot": "--size 50",
}


@pytest.mark.parametrize(("cpus", "threads"), [(1, 1), (2, 2), (2, 1)])
@pytest.mark.parametrize("case", OPTIONS)
def test_applications_pass_the_check(case: str, cpus: int, threads: int) -> None:
    name = case.split()[0]
    command = [sys.executable, str(APPS / f"{name}.py"), *OPTIONS[case].split()]
    done = subprocess.run(
        [*command, "--iterations", "2", "--batches", "1"],
        env=os.environ
        | {
            "LEGATE_CONFIG": f"--cpus {cpus} --gpus 0 --sysmem 500",
            "LEGATE_TEST": "1",
            "LEGATE_DIFFUSE": "1",
            "LEGATE_DIFFUSE_THREADS": str(threads),
            "LEGATE_DIFFUSE_CHECK": "1",
            "LEGATE_DIFFUSE_STATS": "1",
        },
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    counts = [line.split() for line in done.stderr.splitlines()]
    found = {" ".join(words[:-1]): words[-1] for words in counts if words}
    assert found["failures"] == "0"
    assert int(found["launches checked"].replace(",", "")) > 0
