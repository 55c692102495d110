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


# The vectors are smaller than what Legate divides, and cuPyNumeric has them on the host
# until a task needs them.
ITERATION = """
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
import numpy as np
n = 1200
a = np.arange(n * n, dtype=float).reshape(n, n) % 7.0
matrix = cn.array(a)
right, diagonal = cn.arange(float(n)) % 5.0, cn.ones(n) * 2.0
x, expected = cn.zeros(n), np.zeros(n)
for step in range(3):
    before = legate_diffuse.stats()["tasks_submitted"]
    for iteration in range(5):
        x = (right - (matrix @ x) % 3.0) / diagonal
        expected = (np.arange(float(n)) % 5.0 - (a @ expected) % 3.0) / 2.0
    equal = np.array_equal(np.asarray(x), expected)
    tasks = legate_diffuse.stats()["tasks_submitted"] - before
print("tasks", tasks, equal)
"""


def test_ranks_share_an_iteration_on_small_vectors(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(ITERATION)
    arguments = "-level legate.partitioner=1"
    ranks = run(program, tmp_path, LEGION_DEFAULT_ARGS=arguments)
    for output, _ in ranks:
        # five products, the first sums' zeros, and what the last window leaves
        assert "tasks 7 True" in output
    ends = ("dense }", "(sequential)")
    solutions = [line for line in ranks[0][0].splitlines() if line.endswith(ends)]
    products = [line for line in solutions if "matvecmul mod" in line]
    assert len(products) > 10
    assert not [line for line in products if "(sequential)" in line]
