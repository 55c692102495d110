# SPDX-License-Identifier: Apache-2.0
"""The benchmark programs at small sizes: results agree, task counts are exact."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"

# CPUs, and threads that share loops: with one of several CPUs arrays are partitioned.
MACHINES = ((1, 1), (2, 2), (2, 1))
# Tasks per iteration on each of them. Fills are no tasks.
TASKS = {
    "black_scholes": (1, 1, 1),
    "chain": (1, 1, 1),
    # a task for two iterations; partitioned, the grid is written after all was read
    "stencil": (0.5, 0.5, 2),
    "update": (0.5, 0.5, 0.5),
    # small matrix-vector products are fused, large ones are tasks of their own
    "jacobi": (0.5, 0.5, 2),
    # partitioned: operator, p q, x and r with r r, p
    "cg": (0.5, 0.5, 4),
    "bicgstab": (0.5, 0.5, 7),
    "multigrid": (17.5, 17.5, 173),
    "channel_flow": (6, 6, 46),
    "shallow_water": (5.5, 5.5, 24),
    "heat": (0.5, 0.5, 2),
    "softmax": (1, 1, 3),
    "layer_norm": (1, 1, 7),
    "kmeans": (6.5, 25.5, 28.5),
    "logistic_regression": (0.5, 0.5, 4),
    "lstm": (3, 25, 26),
    "nbody": (0.5, 0.5, 2.5),
    "mandelbrot": (1, 1, 2),
}
# Their windows are cut from many operations, and come again later than others.
LONG = ("multigrid", "channel_flow", "shallow_water")


@pytest.fixture(
    scope="module", params=MACHINES, ids=["one CPU", "threads", "partitioned"]
)
def records(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What ``bench.py --quick`` measures on a machine, by program."""
    cpus, threads = request.param
    report = tmp_path_factory.mktemp("quick") / "report.json"
    subprocess.run(
        [
            *(sys.executable, str(SCRIPTS / "bench.py"), "--quick", *TASKS),
            *("--cpus", str(cpus), "--json", str(report)),
        ],
        env=os.environ
        | {
            "LEGATE_DIFFUSE_SYNC_COMPILE": "1",
            "LEGATE_DIFFUSE_THREADS": str(threads),
            "LEGATE_TEST": "1",
        },
        check=True,
        timeout=600,
    )
    records = json.loads(report.read_text())["records"]
    tasks = MACHINES.index(request.param)
    return {one["app"]: one | {"expected": TASKS[one["app"]][tasks]} for one in records}


@pytest.mark.parametrize("app", TASKS)
def test_programs_agree_and_fuse(app: str, records: dict[str, dict[str, Any]]) -> None:
    record = records[app]
    assert record["agree"]
    assert record["error"] < 1e-12
    assert record["tasks_fused"] == record["expected"]
    assert record["tasks_unfused"] > record["tasks_fused"]
    assert record["temporaries_removed_bytes"] > 0
    if app not in LONG:
        assert record["plans_made"] == 0
        assert record["kernels_compiled"] == 0


@pytest.mark.parametrize("app", TASKS)
def test_programs_run_on_numpy(app: str) -> None:
    command = [sys.executable, str(SCRIPTS / "apps" / f"{app}.py")]
    command += ["--package", "numpy", "--size", "100", "--iterations", "2"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["error"] < 1e-12


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nothing",), "no program nothing"),
        (("--cpus", "0"), "'0' is no positive number"),
        (("--size", "huge"), "'huge' is no positive number"),
        (("--json", "/nonexistent/report.json"), "there is no folder for"),
        (("page", "/nonexistent"), "no applications.json in /nonexistent"),
    ],
)
def test_what_is_wrong_is_one_line(arguments: tuple[str, ...], sentence: str) -> None:
    done = bench(*arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / "bench.py"), *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_overhead_is_told_apart(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    subprocess.run(
        [
            *(sys.executable, str(SCRIPTS / "bench.py"), "overhead"),
            *("--repeat", "1", "--chains", "3", "--batches", "3"),
            *("--sysmem", "500", "--json", str(report)),
        ],
        check=True,
        timeout=300,
    )
    for row in json.loads(report.read_text()):
        assert row["unfused_in_all_us"] >= row["unfused_issue_us"] > 0.0
        assert row["fused_in_all_us"] >= row["fused_issue_us"] > 0.0
        assert 0.0 < row["built_us"] < row["unfused_issue_us"]
