# SPDX-License-Identifier: Apache-2.0
"""Operations on few elements, in a row, behind others on many.

In a window they are fused, and what the others have made need not be in memory before;
without one they take less time each. Counts of groups say where they ran.
"""

from __future__ import annotations

from test_small_arrays import run_here

PROGRAM = """
def step(n, u):
    old = u.copy()
    u[1:-1, 1:-1] = 0.25 * (old[2:, 1:-1] + old[:-2, 1:-1])
    for k in range(20):
        u[1:-1, k] = 0.5 * old[1:-1, k] + old[:-2, k]
    return u

def rows(n, A, count=200):
    for k in range(1, count):
        A[k] -= A[k - 1] * 0.5
    return A
"""


def test_they_wait_with_large_loops_whose_arrays_they_use() -> None:
    run_here(
        PROGRAM
        + """
def program(n):
    u = n.ones((1200, 1200))
    for _ in range(8):
        u = step(n, u)
    return [u]
program(cn), program(cn)
# 8 times 64 operations
assert counts(lambda: program(cn))["groups"] < 8 * 20
agree(program)
"""
    )


def test_they_run_as_they_come_where_no_large_loop_waits() -> None:
    run_here(
        PROGRAM
        + """
def program(n):
    A = n.ones((1200, 1200)) * 3.0
    return [rows(n, A)]
program(cn), program(cn)
# most of 398 operations
assert counts(lambda: program(cn))["groups"] > 150
agree(program)
"""
    )
