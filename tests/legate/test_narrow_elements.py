# SPDX-License-Identifier: Apache-2.0
"""Operations on many narrow integers and truth values, which run as they come."""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

# An array of as many doubles would wait; one of 300,000 is too large to run at once.
SIZES = 40000, 200000, 300000
STATEMENTS = (
    "a | b",
    "~a",
    "a ^ (k > 3)",
    "k + k",
    "k // 3 - w",
    "w * w",
    "w % 7",
    "n.where(a, w, -w)",
    "n.minimum(h, 9) << 2",
    "h + w",
    "a.any()",
    "w.sum()",
    "k.max()",
    "a.sum()",
    "(x > 0.5) & a",
    "a * x",
    "n.array_equal(a, b)",
    "n.array_equal(x + 1.0, x + 1.0)",
    "n.array_equal(x, x * 1.5)",
    "n.array_equal(k, w)",
    "n.array_equal(x[1:], x)",
    "n.array_equal(x * n.nan, x * n.nan)",
)
BEGIN = """
def made(n):
    x = n.arange({size}.0) % 17 / 11
    k = (n.arange({size}) % 251).astype(n.uint8)
    w = (n.arange({size}) % 1003).astype(n.int32)
    return x > 0.3, x < 1.0, k, w, w.astype(n.int16), x
"""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_results_are_those_of_unfused_programs(statement: str, size: int) -> None:
    run_here(
        BEGIN.format(size=size)
        + f"""
def program(n):
    a, b, k, w, h, x = made(n)
    c, j = a.copy(), k.copy()
    c[1:] |= b[:-1]
    j[2:] += j[:-2]
    j[a] = 5
    return [{statement}, c, j, n.array_equal(c, a), c.sum(), (w[3:] > 8).sum()]
for _ in range(3):
    agree(program)
""",
    )


def test_they_do_not_wait() -> None:
    run_here(
        BEGIN.format(size=40000)
        + """
a, b, k, w, h, x = made(cn)
window.flush("test")
def run():
    c = a | b
    c[1:] &= ~a[:-1]
    return c, k + k, (k > 3).any()
run()
found = counts(run)
assert found["groups"] == found["ran_in_process"] >= 4, found
assert found["plan_hits"] == found["plans_made"] == 0, found
"""
    )


@pytest.mark.parametrize(
    "number",
    [
        "(k * 2.0).sum()",
        "(k * 1j).sum()",
        "(k > 3).sum()",
        "(x > 0.5).all()",
        "(x + 1.0)[7]",
        "(x + 1.0)[4:5]",
        "x.astype('float32').max()",
    ],
)
def test_items_of_what_waits_are_numbers(number: str) -> None:
    run_here(
        BEGIN.format(size=60000)
        + f"""
def program(n):
    a, b, k, w, h, x = made(n)
    item = ({number}).item()
    return [item, type(item).__name__]
for _ in range(2):
    agree(program)
    assert program(cn)[1] == program(np)[1]
"""
    )
