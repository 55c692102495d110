# SPDX-License-Identifier: Apache-2.0
"""The vector part of a conjugate gradient iteration: axpy, axpy, dot.

Reference: M. Hestenes and E. Stiefel, "Methods of Conjugate Gradients for
Solving Linear Systems", J. Res. NBS 49 (1952), here with A = 2 I, so that
``r + 2 x`` never changes.
"""

from __future__ import annotations

from typing import Any

from harness import Program, State, run

ALPHA = 0.0625


def setup(np: Any, size: int, dtype: str) -> State:
    """Make the vectors of the iteration."""
    p = (np.arange(size, dtype=dtype) * 0.6180339887498949) % 1.0
    return {
        "x": np.zeros(size, dtype=dtype),
        "r": p * 2.0,
        "p": p,
        "q": p * 2.0,
        "rr": 0.0,
    }


def step(np: Any, state: State) -> None:
    """Step along the search direction, and back again in the next iteration."""
    alpha = state["alpha"] = -state.get("alpha", -ALPHA)
    state["x"] += alpha * state["p"]
    state["r"] -= alpha * state["q"]
    state["rr"] = np.dot(state["r"], state["r"])


def results(state: State) -> dict[str, Any]:
    """Return the solution, the residual and its square."""
    return {"x": state["x"], "r": state["r"], "rr": state["rr"]}


def error(np: Any, state: State) -> float:
    """Return how far ``r + 2 x`` has moved from its start."""
    moved = state["r"] + 2.0 * state["x"] - 2.0 * state["p"]
    return float(np.max(np.abs(moved)))


if __name__ == "__main__":
    run(Program("update", 20_000_000, setup, step, results, error))
