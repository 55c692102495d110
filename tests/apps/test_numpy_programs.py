# SPDX-License-Identifier: Apache-2.0
"""``bench.py numpy``: results agree, and programs on small arrays need no task."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.mark.parametrize("small_bytes", ["393216", "0"])
def test_programs_agree(small_bytes: str, tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPTS / "bench.py"), "numpy", "--size", "small"]
    command += ["--repeat", "1", "--seconds", "0", "--results", str(tmp_path)]
    done = subprocess.run(
        command,
        env=os.environ | {"LEGATE_DIFFUSE_SMALL_BYTES": small_bytes},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((tmp_path / "numpy.json").read_text())["results"]
    page = (tmp_path / "numpy.md").read_text()
    assert all(f"| {one['name']} | {one['field']} |" in page for one in results)
    assert len(results) >= 30
    assert len({one["field"] for one in results}) >= 6
    assert all(one["agrees"] for one in results)
    with_tasks = {one["name"] for one in results if one["tasks"]}
    # small arrays need none
    every = {one["name"] for one in results}
    assert with_tasks == (every if small_bytes == "0" else set())


def test_unknown_programs_are_refused() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "bench.py"), "numpy", "weather"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "no program weather; choose from heat_in_a_rod" in done.stderr
