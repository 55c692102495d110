# SPDX-License-Identifier: Apache-2.0
"""The check for machines with a GPU (``scripts/gpu``) runs start to end.

Its GPU is the CPU: see ``fake_gpus.py``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_gpus import HERE, environment

CHECK = HERE.parents[1] / "scripts" / "gpu"
COMMON = ["--package", "cupynumeric", "--batches", "1", "--iterations", "2"]
CASES = {
    "black_scholes": ["black_scholes", "--size", "100", *COMMON],
    "softmax": ["softmax", "--size", "5", *COMMON],
}
STEPS = ["device", "compile", "programs", "times"]
# They repeat tests of tests/codegen/gpu.
REPEATING = ["operations", "tests"]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("prepared")
    sys.path.append(str(CHECK))
    try:
        import prepare
    finally:
        sys.path.remove(str(CHECK))
    prepare.make(folder, CASES, {})
    return folder


def results(prepared: Path, out: Path, steps: list[str], **more: str) -> dict[str, Any]:
    variables = environment(LEGATE_DIFFUSE="0", **more) | {
        "OUT": str(out),
        "PYTHON": sys.executable,
        "TMPDIR": str(out),
    }
    check = prepared / "scripts" / "gpu" / "check"
    command = [str(check), "--quick", "--jobs=2", f"--only={','.join(steps)}"]
    done = subprocess.run(
        command, env=os.environ | variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((out / "check.json").read_text())
    return found


def passed(prepared: Path, out: Path, steps: list[str]) -> dict[str, Any]:
    found = results(prepared, out, steps)
    verdicts = {name: one["verdict"] for name, one in found.items()}
    assert verdicts == dict.fromkeys(steps, "passed"), found
    return found


@pytest.mark.thorough
def test_steps_that_repeat_tests_pass(prepared, tmp_path) -> None:
    found = passed(prepared, tmp_path, REPEATING)
    operations = found["operations"]["found"]
    assert operations["right"] > 30 and not operations["wrong"]


def test_steps_pass(prepared, tmp_path) -> None:
    found = passed(prepared, tmp_path, STEPS)
    assert found["programs"]["found"]["summary"].startswith("4 programs, ")
    rows = found["times"]["found"]["rows"]
    assert {row["case"] for row in rows} == set(CASES)
    # three arrays are read and two written
    prices = next(row for row in rows if row["case"] == "black_scholes")
    assert prices["bytes"] == 5 * 8 * 100


def test_a_step_that_fails_says_why_and_stops_no_other(prepared, tmp_path) -> None:
    steps = ["programs", "device"]
    found = results(prepared, tmp_path, steps, FAKE_CUDA_FAIL="launch:1-")
    assert found["programs"]["verdict"] == "FAILED"
    assert found["device"]["verdict"] == "passed"
    failure = found["programs"]["found"]["failures"][0]
    assert "cuLaunchKernel" in failure["error"]
    assert failure["kernels"] and failure["arguments"]
