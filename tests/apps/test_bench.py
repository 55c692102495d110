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

# Tasks per iteration, unfused and fused, on one processor.
TASKS = {
    "black_scholes": (64, 1),
    "chain": (10, 1),
    "stencil": (6, 2),
    # one task for both updates; the dot product and its initial fill
    "update": (6, 3),
}


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("app", TASKS)
def test_programs_agree_and_fuse(app: str, cpus: int, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    subprocess.run(
        [
            *(sys.executable, str(SCRIPTS / "bench.py"), app),
            *("--size", "100", "--cpus", str(cpus), "--sysmem", "500"),
            *("--repeat", "1", "--iterations", "2", "--json", str(report)),
        ],
        env=os.environ | {"LEGATE_DIFFUSE_SYNC_COMPILE": "1", "LEGATE_TEST": "1"},
        check=True,
        timeout=300,
    )
    (record,) = json.loads(report.read_text())
    assert record["agree"]
    assert (record["tasks_unfused"], record["tasks_fused"]) == TASKS[app]
    # the kernels are there after the first iteration
    assert record["temporaries_removed_bytes"] > 0


@pytest.mark.parametrize("app", TASKS)
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
