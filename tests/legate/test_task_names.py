# SPDX-License-Identifier: Apache-2.0
"""Legate's profiler shows fused tasks under their operations and lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from process import LEGATE, LEGATE_OPTIONS, run

PROGRAM = """\
import cupynumeric as cn
x = cn.arange(12.0).reshape(3, 4)
y = cn.sqrt(
    2.0 * x
    + 1.0
)
print(float(y.sum()))
"""


@pytest.mark.parametrize(
    "options",
    [LEGATE_OPTIONS, ("--cpus", "2", "--gpus", "0", "--sysmem", "500")],
    ids=["loops over whole arrays", "partitioned"],
)
def test_a_profile_has_the_names_of_fused_tasks(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    program = tmp_path / "app.py"
    program.write_text(PROGRAM)
    partitioned = {"LEGATE_DIFFUSE_THREADS": "1", "LEGATE_TEST": "1"}
    done = run(
        LEGATE,
        "--diffuse",
        "--profile",
        "--logdir",
        str(tmp_path),
        *options,
        str(program),
        **(partitioned if options is not LEGATE_OPTIONS else {}),
    )
    assert done.returncode == 0, done.stderr
    (log,) = tmp_path.glob("legate_*.prof")
    text = log.read_bytes()
    assert b"multiply add sqrt fill sum app.py:3-4,7" in text
    assert b"legate_diffuse::" not in text
