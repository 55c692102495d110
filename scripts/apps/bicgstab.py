# SPDX-License-Identifier: Apache-2.0
"""BiCGSTAB for Poisson's equation, as a stencil or a sparse matrix.

Reference: H. A. van der Vorst, "Bi-CGSTAB: A Fast and Smoothly Converging
Variant of Bi-CG for the Solution of Nonsymmetric Linear Systems", SIAM J. Sci.
Stat. Comput. 13 (1992).
"""

from __future__ import annotations

from typing import Any

from harness import Parameter, Program, State, run
from poisson import OPERATOR, energy_error, residual_gap, system

# Roundings grow by orders of magnitude in each ten iterations, so that results of
# long solves could not be compared.
SOLVE = Parameter("solve", 10, "start over after this many iterations")


def setup(np: Any, size: int, dtype: str, operator: str, solve: int) -> State:
    """Make the problem."""
    apply, right, solution = system(np, size, dtype, operator)
    return {
        "operator": apply,
        "right": right,
        "solution": solution,
        "solve": solve,
        "count": 0,
    }


def start(np: Any, state: State) -> None:
    """Begin a solve from 0, with the first residual as the shadow residual."""
    right = state["right"]
    state["x"] = np.zeros_like(right)
    state["r"] = right.copy()
    state["p"] = right.copy()
    state["rho"] = np.sum(right * right)


def step(np: Any, state: State) -> None:
    """Run one iteration."""
    if state["count"] % state["solve"] == 0:
        start(np, state)
    x, r, p, shadow = state["x"], state["r"], state["p"], state["right"]
    operator = state["operator"]
    v = operator(p)
    alpha = state["rho"] / np.sum(shadow * v)
    s = r - alpha * v
    t = operator(s)
    omega = np.sum(t * s) / np.sum(t * t)
    x += alpha * p + omega * s
    r = s - omega * t
    rho = np.sum(shadow * r)
    beta = (rho / state["rho"]) * (alpha / omega)
    p = r + beta * (p - omega * v)
    state["r"], state["p"], state["rho"] = r, p, rho
    state["count"] += 1


def results(state: State) -> dict[str, Any]:
    """Return the solution."""
    return {"x": state["x"]}


def error(np: Any, state: State) -> float:
    """Return how wrong the residual is, or how much farther off x is than 0."""
    operator, x = state["operator"], state["x"]
    gap = residual_gap(np, operator, state["right"], x, state["r"])
    return max(gap, energy_error(np, operator, x, state["solution"]) - 1.0)


if __name__ == "__main__":
    run(Program("bicgstab", 2_000, setup, step, results, error, (OPERATOR, SOLVE)))
