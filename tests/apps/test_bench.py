# SPDX-License-Identifier: Apache-2.0
"""The benchmark programs at small sizes: results agree, task counts are exact."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"

# Options, and tasks per iteration on one processor and on two. Fills are no tasks.
PROGRAMS = {
    "black_scholes": ("--size 100", 1, 1),
    "chain": ("--size 100", 1, 1),
    # on two processors the grid is written after all of it was read
    "stencil": ("--size 100", 1, 2),
    "update": ("--size 100", 1, 1),
    # the matrix-vector product is a task of its own
    "jacobi": ("--size 100", 2, 2),
    # on two processors: operator, p q, x and r with r r, p
    "cg": ("--size 40", 1, 4),
    "bicgstab": ("--size 40", 1, 7),
    "heat": ("--size 12", 1, 2),
    "softmax": ("--size 20", 1, 3),
    "channel_flow": ("--size 21", 19, 203),
}


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("app", PROGRAMS)
def test_programs_agree_and_fuse(app: str, cpus: int, tmp_path: Path) -> None:
    options, *tasks = PROGRAMS[app]
    report = tmp_path / "report.json"
    subprocess.run(
        [
            *(sys.executable, str(SCRIPTS / "bench.py"), app, *options.split()),
            *("--cpus", str(cpus), "--sysmem", "500"),
            *("--repeat", "1", "--iterations", "2", "--json", str(report)),
        ],
        env=os.environ | {"LEGATE_DIFFUSE_SYNC_COMPILE": "1", "LEGATE_TEST": "1"},
        check=True,
        timeout=300,
    )
    (record,) = json.loads(report.read_text())
    assert record["agree"]
    assert record["tasks_fused"] == tasks[cpus - 1]
    assert record["tasks_unfused"] > record["tasks_fused"]
    assert record["temporaries_removed_bytes"] > 0
    # from the third iteration on
    assert record["plans_made"] == 0
    assert record["kernels_compiled"] == 0


@pytest.mark.parametrize("app", PROGRAMS)
def test_programs_run_on_numpy(app: str) -> None:
    command = [sys.executable, str(SCRIPTS / "apps" / f"{app}.py")]
    command += ["--package", "numpy", "--size", "100", "--iterations", "2"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["error"] < 1e-12


def test_an_unknown_program_is_one_line() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "bench.py"), "nothing"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "no program nothing" in done.stderr
    assert "Traceback" not in done.stderr


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
