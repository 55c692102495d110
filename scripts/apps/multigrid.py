# SPDX-License-Identifier: Apache-2.0
"""Conjugate gradients, preconditioned by a multigrid V-cycle, for Poisson's equation.

Each level has half the points of the finer one on a side, while they can be
halved. Weighted Jacobi sweeps smooth before and after the coarser level's
correction, which is interpolated bilinearly. Residuals go down by injection or
by full weighting.

Reference: W. L. Briggs, V. E. Henson and S. F. McCormick, "A Multigrid
Tutorial", 2nd edition (SIAM 2000), chapters 2 to 4. With injection the V-cycle is
not symmetric, hence the flexible conjugate gradients of Y. Notay, SIAM J. Sci.
Comput. 22 (2000).
"""

from __future__ import annotations

from typing import Any

from harness import Parameter, Program, State, run
from poisson import energy_error, laplacian, problem, residual_gap

WEIGHT = 0.8
SWEEPS = 2
COARSEST_SWEEPS = 16
RESTRICTION = Parameter(
    "restriction", "linear", "to the coarser level", choices=("linear", "injection")
)
COARSEST = Parameter("coarsest", 1, "points on a side that are not halved")
SOLVE = Parameter("solve", 10, "start over after this many iterations")


def setup(
    np: Any, size: int, dtype: str, restriction: str, coarsest: int, solve: int
) -> State:
    """Make the problem; a size of 2^k - 1 can be halved down to one point."""
    right, solution = problem(np, size, dtype)
    return {
        "linear": restriction == "linear",
        "coarsest": coarsest,
        "solve": solve,
        "right": right,
        "solution": solution,
        "count": 0,
    }


def start(np: Any, state: State) -> None:
    """Begin a solve."""
    right = state["right"]
    state["x"] = np.zeros_like(right)
    state["r"] = right.copy()
    state["p"] = cycle(np, right, state["linear"], state["coarsest"])
    state["rz"] = np.sum(right * state["p"])


def smooth(np: Any, u: Any, right: Any, sweeps: int) -> Any:
    """Return ``u`` after weighted Jacobi sweeps."""
    for _ in range(sweeps):
        u = u + WEIGHT / 4.0 * (right - laplacian(np, u))
    return u


def restrict(np: Any, fine: Any, linear: bool) -> Any:
    """Return every second point, or a weighted mean around it."""
    half = fine.shape[0] // 2
    if linear:
        mean = np.zeros_like(fine)
        mean[1:-1, 1:-1] = (
            4.0 * fine[1:-1, 1:-1]
            + 2.0
            * (fine[:-2, 1:-1] + fine[2:, 1:-1] + fine[1:-1, :-2] + fine[1:-1, 2:])
            + (fine[:-2, :-2] + fine[:-2, 2:] + fine[2:, :-2] + fine[2:, 2:])
        ) / 16.0
        fine = mean
    coarse = np.zeros((half + 1, half + 1), dtype=fine.dtype)
    coarse[:-1, :-1] = fine[:-1, :-1].reshape(half, 2, half, 2)[:, 0, :, 0]
    return coarse


def interpolate(np: Any, coarse: Any) -> Any:
    """Return the bilinear interpolation on the finer grid."""
    half = coarse.shape[0] - 1
    here, right = coarse[:-1, :-1], coarse[:-1, 1:]
    below, diagonal = coarse[1:, :-1], coarse[1:, 1:]
    blocks = np.zeros((half, 2, half, 2), dtype=coarse.dtype)
    blocks[:, 0, :, 0] = here
    blocks[:, 0, :, 1] = 0.5 * (here + right)
    blocks[:, 1, :, 0] = 0.5 * (here + below)
    blocks[:, 1, :, 1] = 0.25 * (here + right + below + diagonal)
    fine = np.zeros((2 * half + 1, 2 * half + 1), dtype=coarse.dtype)
    fine[:-1, :-1] = blocks.reshape(2 * half, 2 * half)
    return fine


def cycle(np: Any, right: Any, linear: bool, coarsest: int) -> Any:
    """Return an approximate solution, by one V-cycle from 0."""
    u = np.zeros_like(right)
    unknowns = right.shape[0] - 2
    if unknowns <= coarsest or unknowns % 2 == 0:
        return smooth(np, u, right, COARSEST_SWEEPS)
    u = smooth(np, u, right, SWEEPS)
    residual = right - laplacian(np, u)
    # the operator has the mesh width squared multiplied out: 4 times on the
    # coarser grid
    coarse = cycle(np, 4.0 * restrict(np, residual, linear), linear, coarsest)
    u = u + interpolate(np, coarse)
    return smooth(np, u, right, SWEEPS)


def step(np: Any, state: State) -> None:
    """Run one iteration of conjugate gradients."""
    if state["count"] % state["solve"] == 0:
        start(np, state)
    x, r, p = state["x"], state["r"], state["p"]
    q = laplacian(np, p)
    alpha = state["rz"] / np.sum(p * q)
    x += alpha * p
    r -= alpha * q
    z = cycle(np, r, state["linear"], state["coarsest"])
    # the new residual less the old one is -alpha q
    beta = -alpha * np.sum(q * z) / state["rz"]
    state["p"] = z + beta * p
    state["rz"] = np.sum(r * z)
    state["count"] += 1


def results(state: State) -> dict[str, Any]:
    """Return the solution."""
    return {"x": state["x"]}


def error(np: Any, state: State) -> float:
    """Return how wrong the residual is, or how much farther off x is than 0."""
    x = state["x"]

    def operator(u: Any) -> Any:
        return laplacian(np, u)

    gap = residual_gap(np, operator, state["right"], x, state["r"])
    return max(gap, energy_error(np, operator, x, state["solution"]) - 1.0)


if __name__ == "__main__":
    parameters = (RESTRICTION, COARSEST, SOLVE)
    run(Program("multigrid", 1_023, setup, step, results, error, parameters))
