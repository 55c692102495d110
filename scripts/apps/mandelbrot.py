# SPDX-License-Identifier: Apache-2.0
"""The Mandelbrot set: how many steps z -> z^2 + c stays within 2 of 0.

Reference: B. Mandelbrot, "Fractal Aspects of the Iteration of z -> lambda z (1 - z)
for Complex lambda and z", Ann. N. Y. Acad. Sci. 357 (1980); the cardioid and the
disk in it are A. Douady's and J. H. Hubbard's (1984).
"""

from __future__ import annotations

from typing import Any

from harness import Parameter, Program, State, run

LIMIT = Parameter("limit", 20, "steps at most")


def setup(np: Any, size: int, dtype: str, limit: int) -> State:
    """Make size x size points of the plane, from -2.25 - 1.5 i to 0.75 + 1.5 i."""
    index = np.arange(size * size).reshape(size, size)
    row = np.floor(index / size)
    width = 3.0 / size
    real = width * (index - row * size + 0.5) - 2.25
    imaginary = width * (row + 0.5) - 1.5
    kind = "complex64" if dtype == "float32" else "complex128"
    return {"c": (real + 1.0j * imaginary).astype(kind), "limit": limit}


def step(np: Any, state: State) -> None:
    """Count the steps of all points."""
    c = state["c"]
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=c.real.dtype)
    for _ in range(state["limit"]):
        stays = np.abs(z) <= 2.0
        z = np.where(stays, z * z + c, z)
        count += stays
    state["count"] = count


def results(state: State) -> dict[str, Any]:
    """Return the counts."""
    return {"count": state["count"]}


def error(np: Any, state: State) -> float:
    """Return which part of the points is known better.

    Points in the main cardioid and in the disk beside it never leave; points farther
    than 2 from 0 leave in the first step.
    """
    c, count = state["c"], state["count"]
    x, y = c.real, c.imag
    square = (x - 0.25) ** 2 + y * y
    margin = 1.0 - 1.0e-3
    cardioid = square * (square + x - 0.25) < margin * 0.25 * y * y
    disk = (x + 1.0) ** 2 + y * y < margin / 16.0
    beyond = np.abs(c) > 2.0 / margin
    wrong = ((cardioid | disk) & (count < state["limit"])) | (beyond & (count > 1.0))
    return float(np.sum(wrong)) / (c.shape[0] * c.shape[1])


if __name__ == "__main__":
    run(
        Program(
            "mandelbrot", 2_000, setup, step, results, error, (LIMIT,), independent=True
        )
    )
