# SPDX-License-Identifier: Apache-2.0
"""The applications at small sizes agree with NumPy, unfused and fused."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

APPS = Path(__file__).parents[2] / "scripts" / "apps"

# Sizes, and options, at which every operation of the application occurs.
OPTIONS = {
    "jacobi": "--size 100",
    "cg": "--size 40",
    "cg with a tolerance": "--size 8 --tolerance 1e-3",
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
# Without sums: fused results have the bits of the unfused ones.
POINT_WISE = ("channel_flow", "shallow_water", "heat", "mandelbrot")
Results = dict[str, np.ndarray]


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("case", OPTIONS)
def test_applications_agree_with_numpy(case: str, cpus: int, tmp_path: Path) -> None:
    expected = _run(case, tmp_path, "numpy")
    unfused = _run(case, tmp_path, "cupynumeric", cpus=cpus)
    assert _difference(expected, unfused) < 1e-10
    # threads share the loops of whole arrays, or arrays are partitioned
    for threads in {cpus, 1}:
        fused = _run(case, tmp_path, "cupynumeric", cpus=cpus, threads=threads)
        assert _difference(expected, fused) < 1e-10
        if case in POINT_WISE:
            for name, array in unfused.items():
                assert np.array_equal(array, fused[name])


@pytest.mark.parametrize("app", ["cg", "bicgstab"])
def test_the_matrix_is_the_stencil(app: str, tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    by_stencil = _run(app, tmp_path, "numpy")["x"]
    by_matrix = _run(app, tmp_path, "numpy", "--operator", "sparse")["x"]
    assert np.max(np.abs(by_stencil[1:-1, 1:-1].ravel() - by_matrix)) < 1e-12


@pytest.mark.skipif(
    importlib.util.find_spec("legate_sparse") is not None, reason="it is installed"
)
def test_a_missing_package_is_one_sentence() -> None:
    done = subprocess.run(
        [sys.executable, str(APPS / "cg.py"), "--size", "4", "--operator", "sparse"],
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


@pytest.mark.parametrize("case", OPTIONS)
def test_applications_take_float32(case: str, tmp_path: Path) -> None:
    found = _run(case, tmp_path, "numpy", "--dtype", "float32", error=1e-5)
    assert {array.dtype for array in found.values()} == {np.dtype("float32")}


def _run(
    case: str,
    folder: Path,
    package: str,
    *options: str,
    cpus: int = 1,
    threads: int = 0,
    error: float = 1e-12,
) -> Results:
    """Run an application, and return its results once it finds them right.

    It is fused if a number of threads is given.
    """
    output = folder / f"{package}.{threads}.npz"
    command = [sys.executable, str(APPS / f"{case.split()[0]}.py")]
    command += ["--package", package, "--iterations", "2", "--output", str(output)]
    done = subprocess.run(
        [*command, *OPTIONS[case].split(), *options],
        env=os.environ
        | {
            "LEGATE_CONFIG": f"--cpus {cpus} --gpus 0 --sysmem 500",
            "LEGATE_TEST": "1",
            "LEGATE_DIFFUSE": str(int(threads > 0)),
            "LEGATE_DIFFUSE_THREADS": str(threads or 1),
            "LEGATE_DIFFUSE_DRIVER_STUB": "1",
            "LEGATE_DIFFUSE_SYNC_COMPILE": "1",
        },
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    # Realm's own messages may come after it
    (record,) = (line for line in done.stdout.splitlines() if line.startswith("{"))
    assert json.loads(record)["error"] < error
    with np.load(output) as arrays:
        return dict(arrays)


def _difference(expected: Results, found: Results) -> float:
    """Return the largest difference, relative to the largest value."""
    assert expected.keys() == found.keys()
    worst = 0.0
    for name, array in expected.items():
        assert (array.dtype, array.shape) == (found[name].dtype, found[name].shape)
        off = float(np.max(np.abs(array - found[name])))
        worst = max(worst, off / float(np.max(np.abs(array))))
    return worst
