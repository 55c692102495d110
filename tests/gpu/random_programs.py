# SPDX-License-Identifier: Apache-2.0
"""Runs random programs in this process: a program for ``on_fake_gpus.py``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CHECKS = TESTS / "legate" / "numpy_programs_agree.py"

if __name__ == "__main__":
    sys.path += [str(TESTS), str(CHECKS.parent)]
    # -s: what was printed is not lost if the process ends
    options = ["-s", "-q", "--timeout=0", f"--rootdir={TESTS.parent}"]
    status = pytest.main([*options, "-p", "no:cacheprovider", str(CHECKS)])
    assert status == 0
