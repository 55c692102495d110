# SPDX-License-Identifier: Apache-2.0
"""The model problem of the iterative solvers: Poisson's equation on a square.

-(u_xx + u_yy) = f on the unit square, u = 0 on its edge, with the five-point
stencil. Grids have a frame of zeros around their size x size unknowns, and the
mesh width is multiplied out: 4 u - (its four neighbours) = h^2 f. With
u = x (1 - x) y (1 - y) the stencil makes no error, so u is the exact solution
of the discrete problem too.

Reference: Y. Saad, "Iterative Methods for Sparse Linear Systems", 2nd edition
(SIAM 2003), section 2.2.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from harness import Parameter

Operator = Callable[[Any], Any]

OPERATOR = Parameter(
    "operator",
    "stencil",
    "a stencil on the grid, or a sparse matrix",
    choices=("stencil", "sparse"),
)


def laplacian(np: Any, u: Any) -> Any:
    """Return 4 u less its neighbours; 0 on the frame."""
    result = np.zeros_like(u)
    result[1:-1, 1:-1] = (
        4.0 * u[1:-1, 1:-1] - u[:-2, 1:-1] - u[2:, 1:-1] - u[1:-1, :-2] - u[1:-1, 2:]
    )
    return result


def problem(np: Any, size: int, dtype: str) -> tuple[Any, Any]:
    """Return the right-hand side, and the solution that belongs to it."""
    side = size + 2
    index = np.arange(side * side).reshape(side, side)
    row = np.floor(index / side)
    y = row / (side - 1)
    x = (index - row * side) / (side - 1)
    bend_x, bend_y = x * (1.0 - x), y * (1.0 - y)
    right = np.zeros((side, side), dtype=dtype)
    right[1:-1, 1:-1] = (2.0 * (bend_x + bend_y) / (side - 1) ** 2)[1:-1, 1:-1]
    return right, (bend_x * bend_y).astype(dtype)


def system(np: Any, size: int, dtype: str, operator: str) -> tuple[Operator, Any, Any]:
    """Return the operator, the right-hand side and its solution.

    They are grids with their frame for the stencil, vectors of the unknowns for the
    sparse matrix.
    """
    right, solution = problem(np, size, dtype)
    if operator == "stencil":
        return lambda u: laplacian(np, u), right, solution
    a = matrix(np, size, dtype)
    right, solution = (grid[1:-1, 1:-1].flatten() for grid in (right, solution))
    return lambda u: a @ u, right, solution


def matrix(np: Any, size: int, dtype: str) -> Any:
    """Return the stencil as a sparse matrix, by SciPy or Legate Sparse."""
    package = "scipy.sparse" if np.__name__ == "numpy" else "legate_sparse"
    try:
        sparse = importlib.import_module(package)
    except ModuleNotFoundError:
        sys.exit(
            f"--operator sparse needs {package}, which is not installed"
            " (legate_sparse has no wheel: see conda-env.yml)"
        )
    unknowns = size * size
    # the first unknown of a row of the grid is no neighbour of the row before
    beside = np.where(np.arange(1, unknowns) % size == 0, 0.0, -1.0)
    above = np.full(unknowns - size, -1.0)
    diagonals = [above, beside, np.full(unknowns, 4.0), beside, above]
    offsets = [-size, -1, 0, 1, size]
    return sparse.diags(diagonals, offsets, dtype=np.dtype(dtype)).tocsr()


def residual_gap(np: Any, operator: Operator, right: Any, x: Any, r: Any) -> float:
    """Return how far ``r`` is from the residual of ``x``, relative to its terms."""
    gap = right - operator(x) - r
    terms = np.max(np.abs(right)) + 8.0 * np.max(np.abs(x))
    return float(np.max(np.abs(gap)) / terms)


def energy_error(np: Any, operator: Operator, x: Any, solution: Any) -> float:
    """Return the error of ``x`` in the operator's norm, relative to that of 0."""
    off = x - solution
    energy = float(np.sum(off * operator(off)))
    return float(energy / float(np.sum(solution * operator(solution)))) ** 0.5
