# SPDX-License-Identifier: Apache-2.0
"""A process of tests that crashes costs one test, and no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CONFTEST = """
from schedule import Files

def pytest_xdist_make_scheduler(config, log):
    return Files(config, log)
"""
PASSES = """
import pytest

@pytest.mark.parametrize("number", range({}))
def test_passes(number):
    pass
"""
CRASHES = """
import os
import signal

def test_crashes():
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_crashed_process_has_left_is_run_by_others(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for number in range(8):
        (tmp_path / f"test_a{number}.py").write_text(PASSES.format(2))
    (tmp_path / "test_b.py").write_text(CRASHES + PASSES.format(4))
    (tmp_path / "test_c.py").write_text(PASSES.format(1))
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\npythonpath = {Path(__file__).parent}\n"
    )

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2", "--no-loadscope-reorder"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert "1 failed, 21 passed" in done.stdout
