# SPDX-License-Identifier: Apache-2.0
"""The benchmark programs at small sizes: results agree, task counts are exact."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from application_runs import (
    APPLICATIONS,
    DIVIDED,
    SCRIPTS,
    SPARSE,
    Mode,
    Runs,
    difference,
)
from tiers import some

# CPUs, and threads that share loops: with one of several CPUs arrays are partitioned.
MACHINES = ((1, 1), (2, 2), (2, 1))
# Tasks per iteration on each of them. Fills are no tasks.
TASKS = {
    "black_scholes": (1, 1, 1),
    "chain": (1, 1, 1),
    # a task for two iterations
    "stencil": (0.5, 0.5, 0.5),
    "update": (0.5, 0.5, 0.5),
    # small matrix-vector products are fused, large ones are tasks of their own
    "jacobi": (0.5, 0.5, 1),
    # partitioned: p, operator and p q; x and r with r r; and p where the program waits
    "cg": (0.5, 0.5, 2.5),
    "bicgstab": (0.5, 0.5, 3.5),
    "multigrid": (13, 13, 17),
    "channel_flow": (1, 1, 1),
    "shallow_water": (1, 1, 6),
    "heat": (0.5, 0.5, 0.5),
    "softmax": (1, 1, 1),
    "layer_norm": (1, 1, 1),
    "kmeans": (6.5, 25.5, 28),
    "logistic_regression": (0.5, 0.5, 2),
    "lstm": (3, 25, 26),
    "nbody": (0.5, 0.5, 2.5),
    "mandelbrot": (1, 1, 1),
}
# Their windows are cut from many operations, and come again later than others.
LONG = ("multigrid", "channel_flow", "shallow_water")


@pytest.mark.parametrize("app", TASKS)
@pytest.mark.parametrize(
    ("cpus", "threads"), MACHINES, ids=["one CPU", "threads", "partitioned"]
)
def test_programs_agree_and_fuse(
    app: str, cpus: int, threads: int, runs: Callable[[Mode], Runs]
) -> None:
    unfused, fused = runs(Mode(cpus))[app], runs(Mode(cpus, threads))[app]
    rounding = float(np.finfo(np.float64).eps)
    known = APPLICATIONS[app]
    assert difference(unfused, fused) <= known.roundings * rounding
    assert max(one.record["error"] for one in (unfused, fused)) < 1e-12
    counts = fused.record["statistics_per_iteration"]
    tasks = counts["tasks_submitted"] - counts["fills_submitted"]
    assert tasks == TASKS[app][MACHINES.index((cpus, threads))]
    assert counts["tasks_seen"] - counts["fills_seen"] > tasks
    assert counts["temporaries_removed_bytes"] > 0
    if app not in LONG:
        assert counts["plans_made"] == 0
        assert counts["kernels_compiled"] == 0


@pytest.mark.parametrize("app", DIVIDED)
@pytest.mark.parametrize("cpus", some([3, 4], 2))
def test_more_points_run_as_many_tasks(
    app: str, cpus: int, runs: Callable[[Mode], Runs]
) -> None:
    unfused, fused = runs(Mode(cpus))[app], runs(Mode(cpus, 1))[app]
    rounding = float(np.finfo(np.float64).eps)
    assert difference(unfused, fused) <= APPLICATIONS[app].roundings * rounding
    counts = fused.record["statistics_per_iteration"]
    tasks = counts["tasks_submitted"] - counts["fills_submitted"]
    assert tasks == TASKS[app][MACHINES.index((2, 1))]


@pytest.mark.parametrize(("app", "tasks"), [("cg", 2), ("bicgstab", 3)])
@pytest.mark.parametrize("cpus", some([2, 3, 4], 3))
def test_iterations_of_solvers_on_points_run_so_many_tasks(
    cpus: int, app: str, tasks: int, runs: Callable[[Mode], Runs]
) -> None:
    counts = runs(Mode(cpus, 1, iterations=40))[app].record["statistics_per_iteration"]
    found = counts["tasks_submitted"] - counts["fills_submitted"]
    # one more where the program waits, as nothing follows that it might join
    assert round(40 * found) == 40 * tasks + 1


@pytest.mark.parametrize("cpus", some([2, 3, 4], 3))
def test_coarse_grids_are_in_one_piece(cpus: int, runs: Callable[[Mode], Runs]) -> None:
    mode = Mode(cpus, small_apart=True)
    unfused, fused = (runs(replace(mode, threads=n))["multigrid"] for n in (None, 1))
    rounding = float(np.finfo(np.float64).eps)
    known = APPLICATIONS["multigrid"].roundings
    assert difference(unfused, fused) <= known * rounding
    counts = fused.record["statistics_per_iteration"]
    assert counts["tasks_submitted"] - counts["fills_submitted"] == 33


def test_every_program_has_a_number_of_tasks() -> None:
    assert TASKS.keys() == APPLICATIONS.keys() - SPARSE.keys()


def test_the_script_measures_all_sides(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    # small arrays stand for large ones
    in_legate = {"LEGATE_DIFFUSE_SMALL_BYTES": "0"}
    done = bench("--quick", "chain", "cg", "--json", str(report), **in_legate)
    assert done.returncode == 0, done.stderr
    records = json.loads(report.read_text())["records"]
    assert [record["app"] for record in records] == ["chain", "cg"]
    for record in records:
        assert record["agree"]
        assert record["error"] < 1e-12
        assert record["tasks_unfused"] > record["tasks_fused"] > 0
        assert record["temporaries_removed_bytes"] > 0
        unfused, fused, numpy = (
            record[f"{side}_ms"] for side in ("unfused", "fused", "numpy")
        )
        assert record["ratio"] == unfused / fused
        assert record["numpy_ratio"] == numpy / fused


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


def bench(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / "bench.py"), *arguments]
    return subprocess.run(
        command,
        env=os.environ | environment,
        check=False,
        capture_output=True,
        text=True,
    )


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
