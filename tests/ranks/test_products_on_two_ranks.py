# SPDX-License-Identifier: Apache-2.0
"""Two ranks multiply larger matrices by vectors in loops than one process does."""

from __future__ import annotations

from pathlib import Path

import pytest
from two_ranks import missing, run

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

# The matrix has 38 MB; its elements and all sums are whole numbers.
PROGRAM = """
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
import numpy as np
n = 2200
a = np.arange(n * n, dtype=float).reshape(n, n) % 7.0
x = np.arange(n, dtype=float)
matrix, vector = cn.array(a), cn.array(x)
for step in range(4):
    before = legate_diffuse.stats()["tasks_submitted"]
    found = (matrix @ vector - vector) * 0.5
    equal = np.array_equal(np.asarray(found), (a @ x - x) * 0.5)
    tasks = legate_diffuse.stats()["tasks_submitted"] - before
print("tasks", tasks, equal)
"""


def test_products_are_loops(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    for output, _ in run(program, tmp_path):
        assert "tasks 1 True" in output
