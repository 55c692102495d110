# SPDX-License-Identifier: Apache-2.0
"""Tasks whose launch domain the library gives, over partitions of arrays.

Solutions and eigenvalues of several matrices, and matrices that turn out to be
singular, are tasks of this kind.
"""

from __future__ import annotations

import pytest
from test_small_arrays import run_here


def test_what_they_have_used_is_as_before() -> None:
    run_here("""
def solve(n, A, b):
    try:
        return n.linalg.solve(A, b)
    except n.linalg.LinAlgError:
        return "singular"
def program(n):
    A, b = n.zeros((4, 4)), n.ones(4)
    found = [solve(n, A, b)]
    A += n.eye(4) * 2.0
    found += [(A * 2.0).tolist(), solve(n, A, b).tolist(), A.sum() == 8.0]
    stack = n.arange(48.0).reshape(3, 4, 4) + n.eye(4) * 50.0
    sides = n.ones((3, 4, 2))
    for _ in range(2):
        sides *= 2.0
        found.append(n.round(n.linalg.solve(stack, sides), 12).tolist())
        stack[1] += n.eye(4)
    return found
agree(program)
A, b = cn.zeros((4, 4)), cn.ones(4)
assert solve(cn, A, b) == "singular"
for _ in range(2):
    before = window.counters.tasks_submitted
    C = A + 1.0
    A[2] = C[1] * b
    assert float(A.sum()) == 4.0 and C.tolist() == [[1.0] * 4] * 4
    A[2] = 0.0
assert window.counters.tasks_submitted == before
""")


@pytest.mark.parametrize("what", ["input", "output"])
def test_what_is_no_store_is_refused(what: str) -> None:
    run_here(
        f"""
from legate.core import get_legate_runtime
core = get_legate_runtime().core_library
task = get_legate_runtime().create_manual_task(core, 1, (2,))
try:
    task.add_{what}([1, 2])
except TypeError:
    pass
else:
    raise AssertionError
x = cn.ones(4).__legate_data_interface__["data"]
(array,) = x.values()
for tiles in ((0,), (2, 2)):
    try:
        array.data.partition_by_tiling(tiles)
    except (ValueError, RuntimeError, IndexError) as error:
        pass
    else:
        raise AssertionError(tiles)
""",
        fuses=False,
    )
