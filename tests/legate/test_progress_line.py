# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal shows that it compiles."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from process import LEGATE_OPTIONS

PROGRAM = """\
import legate_diffuse.observe.progress
legate_diffuse.observe.progress.PATIENCE = 0.0
import cupynumeric as cn
print(float((cn.arange(10.0) * 3.0).sum()))
"""


def test_compiling_shows_on_a_terminal(tmp_path: Path) -> None:
    own, others = pty.openpty()
    names = {
        "LEGATE_CONFIG": " ".join(LEGATE_OPTIONS),
        "LEGATE_DIFFUSE": "1",
        "LEGATE_DIFFUSE_SYNC_COMPILE": "1",
        "LEGATE_DIFFUSE_CACHE_DIR": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | names,
        stdout=subprocess.PIPE,
        stderr=others,
        timeout=120,
        check=True,
    )
    os.close(others)
    shown = os.read(own, 100_000)
    os.close(own)
    assert done.stdout.splitlines()[-1] == b"135.0"
    assert b"legate_diffuse: compiling kernel 1, " in shown
