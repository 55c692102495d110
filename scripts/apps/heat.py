# SPDX-License-Identifier: Apache-2.0
"""Heat conduction in a cube with cold faces: the heat equation in three dimensions.

Forward in time and central in space, with a seven-point stencil. The start is
the slowest mode, sin(pi x) sin(pi y) sin(pi z), which keeps its form and fades
by a known factor in each step.

Reference: R. J. LeVeque, "Finite Difference Methods for Ordinary and Partial
Differential Equations" (SIAM 2007), chapter 9.
"""

from __future__ import annotations

import math
from typing import Any

from harness import Program, State, run

RATE = 0.125  # dt / h^2 for a diffusivity of 1; stable up to 1/6


def setup(np: Any, size: int, dtype: str) -> State:
    """Make a cube of size x size x size inner points."""
    side = size + 2
    index = np.arange(side**3).reshape(side, side, side)
    layer = np.floor(index / side**2)
    row = np.floor(index / side) - layer * side
    column = index - (layer * side + row) * side
    width = math.pi / (side - 1)
    mode = np.sin(layer * width) * np.sin(row * width) * np.sin(column * width)
    start = np.zeros((side, side, side), dtype=dtype)
    start[1:-1, 1:-1, 1:-1] = mode[1:-1, 1:-1, 1:-1]
    factor = 1.0 - 12.0 * RATE * math.sin(0.5 * width) ** 2
    return {"u": start.copy(), "start": start, "factor": factor, "count": 0}


def step(np: Any, state: State) -> None:
    """Take one step in time."""
    u = state["u"]
    u[1:-1, 1:-1, 1:-1] += RATE * (
        u[:-2, 1:-1, 1:-1]
        + u[2:, 1:-1, 1:-1]
        + u[1:-1, :-2, 1:-1]
        + u[1:-1, 2:, 1:-1]
        + u[1:-1, 1:-1, :-2]
        + u[1:-1, 1:-1, 2:]
        - 6.0 * u[1:-1, 1:-1, 1:-1]
    )
    state["count"] += 1


def results(state: State) -> dict[str, Any]:
    """Return the temperature."""
    return {"u": state["u"]}


def error(np: Any, state: State) -> float:
    """Return how far the temperature is from the faded mode."""
    expected = state["factor"] ** state["count"] * state["start"]
    return float(np.max(np.abs(state["u"] - expected)))


if __name__ == "__main__":
    run(Program("heat", 250, setup, step, results, error))
