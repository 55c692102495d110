# SPDX-License-Identifier: Apache-2.0
"""``bench.py assembled`` at a small size: all sides have the same residual."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tiers import some

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.mark.parametrize("solver", some(["multigrid", "cg", "bicgstab"], 3))
def test_sides_agree(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # small arrays stand for large ones
    monkeypatch.setenv("LEGATE_DIFFUSE_SMALL_BYTES", "0")
    options = (
        "--solver",
        solver,
        "--size",
        "200",
        "--iterations",
        "6",
        "--repeat",
        "1",
    )
    command = (sys.executable, str(SCRIPTS / "bench.py"), "assembled", *options)
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "differ" not in done.stdout
    sides = ["unfused", "fused", "SciPy", *(["C"] if shutil.which("cc") else [])]
    for side in sides:
        assert f"| {side} |" in done.stdout
    if solver == "multigrid":
        (tasks,) = re.findall(r"\| fused .* (\S+) \|$", done.stdout, re.MULTILINE)
        # 200, 100, 50, 25, 12, 6 and 3 points on a side
        levels = 7
        assert float(tasks) <= levels
