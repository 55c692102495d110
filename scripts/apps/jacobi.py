# SPDX-License-Identifier: Apache-2.0
"""Jacobi's method for a dense, diagonally dominant system of equations.

Reference: Y. Saad, "Iterative Methods for Sparse Linear Systems", 2nd edition
(SIAM 2003), section 4.1: with A = D + R, the next x is D^-1 (b - R x).
"""

from __future__ import annotations

from typing import Any

from harness import Program, State, run


def setup(np: Any, size: int, dtype: str) -> State:
    """Make a matrix whose rows sum to less than half of its diagonal."""
    index = np.arange(size * size).reshape(size, size)
    distance = index - np.floor(index / size) * (size + 1)
    weights = ((index * 0.6180339887498949) % 1.0) / size
    rest = np.where(distance == 0, 0.0, weights).astype(dtype)
    diagonal = 2.0 + (np.arange(size, dtype=dtype) * 0.4142135623730951) % 1.0
    solution = 1.0 + (np.arange(size, dtype=dtype) * 0.3027756377319946) % 1.0
    return {
        "rest": rest,
        "diagonal": diagonal,
        "right": rest @ solution + diagonal * solution,
        "solution": solution,
        "x": np.zeros(size, dtype=dtype),
        "count": 0,
    }


def step(np: Any, state: State) -> None:
    """Solve each equation for its own unknown."""
    rest, diagonal, right = state["rest"], state["diagonal"], state["right"]
    state["x"] = (right - rest @ state["x"]) / diagonal
    state["count"] += 1


def results(state: State) -> dict[str, Any]:
    """Return the solution."""
    return {"x": state["x"]}


def error(np: Any, state: State) -> float:
    """Return how much farther off the solution is than the method's bound.

    An iteration shrinks the largest error by the largest row sum of D^-1 R.
    """
    factor = float(np.max(np.sum(state["rest"], axis=1) / state["diagonal"]))
    start = float(np.max(state["solution"]))
    distance = float(np.max(np.abs(state["x"] - state["solution"])))
    return max(0.0, distance / start - factor ** state["count"])


if __name__ == "__main__":
    run(Program("jacobi", 4_000, setup, step, results, error))
