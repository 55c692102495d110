# SPDX-License-Identifier: Apache-2.0
"""``bench.py numpy``: results agree, and programs on small arrays need no task."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from application_runs import SCRIPTS
from measurement import FUSED, NUMPY, run_package
from numpy_comparison import PROGRAMS, SIDE, agrees
from tiers import examples


def test_programs_agree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # tests of other folders, which the same process collects, let Legate hold all
    monkeypatch.delenv("LEGATE_DIFFUSE_SMALL_BYTES", raising=False)
    command = [sys.executable, str(SCRIPTS / "bench.py"), "numpy", "--size", "small"]
    command += ["--repeat", "1", "--seconds", "0", "--results", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((tmp_path / "numpy.json").read_text())["results"]
    page = (tmp_path / "numpy.md").read_text()
    assert all(f"| {one['name']} | {one['field']} |" in page for one in results)
    assert len(results) >= 30
    assert len({one["field"] for one in results}) >= 6
    assert all(one["agrees"] for one in results)
    # small arrays need none
    assert {one["name"]: one["tasks"] for one in results if one["tasks"]} == {}


def test_programs_agree_whose_operations_are_tasks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LEGATE_DIFFUSE_SMALL_BYTES", "0")
    programs = [*PROGRAMS][:: examples(2, 1)]
    outputs = {side: str(tmp_path / f"{side}.npz") for side in (NUMPY, FUSED)}
    for side, output in outputs.items():
        arguments = ["small", *programs, "--seconds", "0", "--output", output]
        last = run_package(side, SIDE, arguments, cpus=1, sysmem=1000)
    assert all(last["tasks"].values())
    with np.load(outputs[NUMPY]) as expected, np.load(outputs[FUSED]) as found:
        assert [name for name in programs if not agrees(name, expected, found)] == []


def test_unknown_programs_are_refused() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "bench.py"), "numpy", "weather"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "no program weather; choose from heat_in_a_rod" in done.stderr
