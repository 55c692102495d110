# SPDX-License-Identifier: Apache-2.0
"""Five-point stencil on a square grid, written with slices and copied back.

Averaging each point with its neighbours is a Jacobi sweep with the identity
mixed in for the Laplace equation: a function that solves it stays as it is.
"""

from __future__ import annotations

from typing import Any

from harness import Program, State, run


def setup(np: Any, size: int, dtype: str) -> State:
    """Make a grid of size x size inner points, a saddle with a ripple on it."""
    side = size + 2
    index = np.arange(side * side, dtype=dtype).reshape(side, side)
    row = np.floor(index / side)
    x = 2.0 * row / (side - 1) - 1.0
    y = 2.0 * (index - row * side) / (side - 1) - 1.0
    saddle = x * y
    grid = saddle + 0.0
    grid[1:-1, 1:-1] += 1.0e-4
    return {"grid": grid, "saddle": saddle}


def step(np: Any, state: State) -> None:
    """Replace each inner point by the mean of itself and its neighbours."""
    grid = state["grid"]
    center = grid[1:-1, 1:-1]
    north = grid[0:-2, 1:-1]
    east = grid[1:-1, 2:]
    west = grid[1:-1, 0:-2]
    south = grid[2:, 1:-1]
    average = center + north + east + west + south
    work = 0.2 * average
    center[:] = work


def results(state: State) -> dict[str, Any]:
    """Return the grid."""
    return {"grid": state["grid"]}


def error(np: Any, state: State) -> float:
    """Return by how much the ripple has grown (it can only fade)."""
    ripple = float(np.max(np.abs(state["grid"] - state["saddle"])))
    return max(0.0, ripple - 1.0e-4)


if __name__ == "__main__":
    run(Program("stencil", 4_000, setup, step, results, error))
