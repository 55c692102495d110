# SPDX-License-Identifier: Apache-2.0
"""Arrays that wait are joined in the window in which they wait."""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

MADE = """
begun = {n: n.arange(90000.0).reshape(300, 300) % 11 for n in (np, cn)}
lines = {n: n.arange(40000.0) % 13 for n in (np, cn)}
def made(n):
    A, x = begun[n], lines[n]
    return A * 0.5, A.T + 1.0, (A[:40] - 3.0), A[:, 7:9] * A[:, :2], x * 0.5, x + 1.0
"""
JOINED = (
    "n.stack([a, b])",
    "n.stack((a, b, a), axis=-1)",
    "n.stack([a, b], 1)",
    "n.concatenate([a, c, b])",
    "n.concatenate((a, d), axis=1)",
    "n.concatenate((c[:0], a, c), 0)",
    "n.vstack([a, c])",
    "n.vstack([v, w])",
    "n.hstack([d, a, d])",
    "n.hstack([v, w])",
    "n.column_stack([a, d])",
    "n.column_stack([v, w])",
    "n.dstack([a, b])",
    "n.dstack([n.stack([a, b], -1), n.stack([b, a], axis=2)])",
    "n.array([a, b])",
    "n.array((a, a + b, b))",
)
# what does not fit, or has to be converted, is the original's affair
OTHERS = (
    "n.stack([a, c])",
    "n.concatenate([a, d])",
    "n.concatenate([a, e])",
    "n.concatenate([a, b], axis=2)",
    "n.vstack([a, d])",
    "n.stack([a, b], axis=5)",
    "n.concatenate([a, b.astype('float32')])",
    "n.concatenate([a, (b * 2).astype(int)], axis=1)",
    "n.vstack([a, e])",
    "n.concatenate([])",
    "n.stack([a, np.ones((300, 300))])",
    "n.stack([a * 1j, b])",
    "n.concatenate([a, b], axis=None)",
)


@pytest.mark.parametrize("statement", JOINED)
def test_what_waits_is_joined_where_it_is_computed(statement: str) -> None:
    run_here(
        MADE
        + f"""
def program(n):
    a, b, c, d, v, w = made(n)
    joined = {statement} * 2.0
    return [joined, (joined + 1.0).sum()]
def run():
    float(program(cn)[1])
run(), run()
found = counts(run)
# all of it ran as one launch, and nothing that was joined is left
assert found["groups"] == 1, found
assert found["temporaries_removed"] > 2, found
assert found["failures"] == found["tasks_submitted"] == 0, found
agree(program)
"""
    )


@pytest.mark.parametrize("statement", OTHERS)
def test_what_does_not_fit_is_told_as_before(statement: str) -> None:
    run_here(
        MADE
        + f"""
def program(n):
    a, b, c, d, v, w = made(n)
    e = n.arange(300.0)
    try:
        return [{statement}, a, e]
    except Exception as error:
        return [type(error).__name__]
for _ in range(2):
    assert len(program(cn)) == len(program(np))
    if len(program(np)) > 1:
        agree(program)
"""
    )


def test_what_is_joined_keeps_its_values() -> None:
    """What the parts become later is no affair of the array that was made of them."""
    run_here(
        MADE
        + """
def program(n):
    a, b, *_ = made(n)
    joined = n.stack([a, b])
    a *= 3.0
    b[:] = a
    again = n.concatenate([joined[0] + a, joined[1]])
    joined[1] = 7.0
    return [joined, again, a, b]
for _ in range(3):
    agree(program)
"""
    )
