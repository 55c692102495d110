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

from typing import Any


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


def residual_gap(np: Any, right: Any, x: Any, r: Any) -> float:
    """Return how far ``r`` is from the residual of ``x``, relative to its terms."""
    gap = right - laplacian(np, x) - r
    terms = np.max(np.abs(right)) + 8.0 * np.max(np.abs(x))
    return float(np.max(np.abs(gap)) / terms)


def energy_error(np: Any, x: Any, solution: Any) -> float:
    """Return the error of ``x`` in the operator's norm, relative to that of 0."""
    off = x - solution
    energy = float(np.sum(off * laplacian(np, off)))
    return float(energy / float(np.sum(solution * laplacian(np, solution)))) ** 0.5
