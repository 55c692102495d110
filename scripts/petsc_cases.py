# SPDX-License-Identifier: Apache-2.0
"""The systems that scripts/compare_petsc.py solves, and what it finds out of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

FUSED = "fused"


@dataclass(frozen=True)
class Method:
    """A solver: its iterations per solve, and what it takes to compare two of them.

    ``roundings`` says by how many of them, relative to the largest value, two
    solutions may differ.
    """

    iterations: int
    roundings: int
    forms: tuple[str, ...] = ("aij", "stencil")
    options: tuple[str, ...] = ()


METHODS = {
    "cg": Method(50, 2**28),
    "bicgstab": Method(10, 2**20),
    "multigrid": Method(10, 2**10, options=("--coarsest", "3")),
    "jacobi": Method(10, 64, forms=("dense",)),
}


@dataclass(frozen=True)
class Case:
    """One system, solved by one method on a number of processors."""

    method: str
    size: int
    ranks: int


@dataclass(frozen=True)
class Side:
    """What was measured of one program; times in milliseconds per iteration."""

    median_ms: float
    fastest_ms: float
    slowest_ms: float
    residual: float


@dataclass(frozen=True)
class Record:
    """What was measured of one case, by side."""

    method: str
    size: int
    unknowns: int
    ranks: int
    iterations: int
    sides: dict[str, Side]
    largest_difference: float
    agree: bool
    load_average: float


def restarts(case: Case) -> bool:
    """Return whether the program solves from 0 again and again."""
    return case.method != "jacobi"


def residual(case: Case, x: Any) -> float:
    """Return the residual's 2-norm, relative to the right-hand side's."""
    if case.method == "jacobi":
        return _dense_residual(case.size, x)
    side = case.size + 2
    u = np.zeros((side, side))
    u[1:-1, 1:-1] = x.reshape(case.size, case.size)
    bend = (at := np.arange(side) / (side - 1)) * (1.0 - at)
    right = 2.0 * (bend[1:-1, None] + bend[None, 1:-1]) / (side - 1) ** 2
    times = 4.0 * u[1:-1, 1:-1]
    times -= u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    return float(np.linalg.norm(right - times) / np.linalg.norm(right))


def _dense_residual(size: int, x: Any) -> float:
    """Return the same for the system of scripts/apps/jacobi.py, some rows at a time."""
    index = np.arange(size)
    diagonal = 2.0 + (index * 0.4142135623730951) % 1.0
    solution = 1.0 + (index * 0.3027756377319946) % 1.0
    squares = np.zeros(2)
    for rows in np.array_split(index, math.ceil(size / 256)):
        matrix = (((rows[:, None] * size + index) * 0.6180339887498949) % 1.0) / size
        matrix[np.arange(len(rows)), rows] = diagonal[rows]
        right = matrix @ solution
        squares += np.sum((right - matrix @ x) ** 2), np.sum(right**2)
    return float(np.sqrt(squares[0] / squares[1]))
