# SPDX-License-Identifier: Apache-2.0
"""Loops over single elements, and tables that are filled row by row."""

from __future__ import annotations

from typing import Any

from written_programs.program import Field

PROGRAMS = Field("recurrences")


@PROGRAMS.program(200, 2000)
def filtered_series(np: Any, n: int) -> tuple[Any, ...]:
    """Each element depends on the one before."""
    b = np.sin(np.arange(float(n)))
    x = np.zeros(n)
    for i in range(1, n):
        x[i] = x[i - 1] * 0.9 + b[i]
    return (x,)


@PROGRAMS.program(100, 1000)
def tridiagonal(np: Any, n: int) -> tuple[Any, ...]:
    """Thomas' algorithm."""
    c, d = np.zeros(n), np.ones(n)
    c[0] = -0.25
    d[0] = d[0] / 4.0
    for i in range(1, n):
        m = 1.0 / (4.0 + c[i - 1])
        c[i] = -m
        d[i] = (d[i] + d[i - 1]) * m
    for i in range(n - 2, -1, -1):
        d[i] = d[i] - c[i] * d[i + 1]
    return (d,)


@PROGRAMS.program(100, 20_000)
def edit_distance_row(np: Any, n: int) -> tuple[Any, ...]:
    """A table's rows, each from the one before."""
    first = np.arange(n) % 7
    row = np.arange(float(n + 1))
    for i in range(25):
        change = row[:-1] + (first != i % 5)
        new = np.minimum(change, row[1:] + 1.0)
        row[1:] = new
        row[0] = i + 1.0
    return (row,)


@PROGRAMS.program(1000, 1_000_000)
def newton_for_all(np: Any, n: int) -> tuple[Any, ...]:
    """Cube roots, until the worst one is good."""
    a = np.linspace(1.0, 100.0, n)
    x = a.copy()
    while True:
        step = (x * x * x - a) / (3.0 * x * x)
        x = x - step
        if not (abs(step) > 1e-12 * x).any():
            return (x,)


@PROGRAMS.program(500, 100_000)
def knapsack(np: Any, n: int) -> tuple[Any, ...]:
    """The best value for each weight, one thing after the other."""
    best = np.zeros(n)
    for k in range(20):
        weight = 3 + 2 * k
        best[weight:] = np.maximum(best[weight:], best[:-weight] + (k % 5 + 1.5))
    return (best,)


@PROGRAMS.program(500, 500)
def golden_section(np: Any, n: int) -> tuple[Any, ...]:
    """A minimum along a line, decided step by step."""
    x = np.linspace(0.0, 1.0, n)
    low, high = 0.0, 3.0
    for _ in range(25):
        a, b = (
            high - 0.618033988749895 * (high - low),
            low + 0.618033988749895 * (high - low),
        )
        if float(((x - a) ** 2 + a).sum()) < float(((x - b) ** 2 + b).sum()):
            high = b
        else:
            low = a
    return (np.array([low, high]),)
