# SPDX-License-Identifier: Apache-2.0
"""Conjugate gradients for Poisson's equation, as a stencil or a sparse matrix.

Reference: M. Hestenes and E. Stiefel, "Methods of Conjugate Gradients for
Solving Linear Systems", J. Res. NBS 49 (1952).
"""

from __future__ import annotations

import math
from typing import Any

from harness import Parameter, Program, State, run
from poisson import OPERATOR, energy_error, residual_gap, system

TOLERANCE = Parameter(
    "tolerance", 0.0, "read the residual, and start over once it has shrunk to this"
)
SOLVE = Parameter("solve", 0, "start over after this many iterations, if not 0")


def setup(
    np: Any, size: int, dtype: str, operator: str, tolerance: float, solve: int
) -> State:
    """Make the problem."""
    apply, right, solution = system(np, size, dtype, operator)
    return {
        "size": size,
        "operator": apply,
        "right": right,
        "solution": solution,
        "limit": tolerance * float(np.sqrt(np.sum(right * right))),
        "solve": solve,
        "solved": True,
    }


def start(np: Any, state: State) -> None:
    """Begin a solve from 0."""
    right = state["right"]
    state["x"] = np.zeros_like(right)
    state["r"] = right.copy()
    state["p"] = right.copy()
    state["rr"] = np.sum(right * right)
    state["count"] = 0
    state["solved"] = False


def step(np: Any, state: State) -> None:
    """Run one iteration."""
    if state["solved"]:
        start(np, state)
    x, r, p, rr_old = state["x"], state["r"], state["p"], state["rr"]
    q = state["operator"](p)
    alpha = rr_old / np.sum(p * q)
    x += alpha * p
    r -= alpha * q
    rr = np.sum(r * r)
    beta = rr / rr_old
    state["p"] = r + beta * p
    state["rr"] = rr
    state["count"] += 1
    state["solved"] = state["count"] == state["solve"]
    if state["limit"] > 0.0:
        state["solved"] |= float(np.sqrt(rr)) <= state["limit"]


def results(state: State) -> dict[str, Any]:
    """Return the solution."""
    return {"x": state["x"]}


def error(np: Any, state: State) -> float:
    """Return how wrong the residual is, or how far the method's bound is missed.

    After k iterations the error's energy norm has shrunk at least to
    2 ((c - 1) / (c + 1))^k, with c^2 the operator's condition number.
    """
    operator, x = state["operator"], state["x"]
    gap = residual_gap(np, operator, state["right"], x, state["r"])
    c = 1.0 / math.tan(math.pi / (2.0 * (state["size"] + 1)))
    bound = 2.0 * ((c - 1.0) / (c + 1.0)) ** state["count"]
    return max(gap, energy_error(np, operator, x, state["solution"]) - bound)


if __name__ == "__main__":
    parameters = (OPERATOR, TOLERANCE, SOLVE)
    run(Program("cg", 2_000, setup, step, results, error, parameters))
