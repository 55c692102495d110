# SPDX-License-Identifier: Apache-2.0
"""Two ranks share tasks that read at a distance, also over arrays of few rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from two_ranks import missing, run

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

# Legate 26.1 would leave 300 rows on one point.
PROGRAM = """
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
from legate.core import get_legate_runtime
x = cn.arange(300.0 * 300.0).reshape(300, 300)
for step in range(20):
    y = cn.zeros_like(x)
    y[1:-1, 1:-1] = (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) * 0.25
    x = y
    get_legate_runtime().issue_execution_fence()
print(float(x.sum()) > 0.0)
"""


def test_both_ranks_run_a_part_of_every_task(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    arguments = "-level legate.partitioner=1"
    (first, _), (second, _) = run(program, tmp_path, LEGION_DEFAULT_ARGS=arguments)
    ends = ("dense }", "(sequential)")
    solutions = [line for line in first.splitlines() if line.endswith(ends)]
    fused = [line for line in solutions if "multiply" in line]
    assert len(fused) > 10
    assert not [line for line in fused if "(sequential)" in line]
    assert "True" in first
    assert "True" in second
