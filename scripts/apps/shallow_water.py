# SPDX-License-Identifier: Apache-2.0
"""Waves on shallow water: a hump that runs apart and drifts, in a periodic square.

Finite volumes over a flat bottom. Cell values become linear by slopes with a
generalised minmod limiter (MUSCL), faces get the central-upwind flux, and time
goes on by Heun's method with a step that the fastest wave limits.

Model: A. Kurganov and G. Petrova, "A second-order well-balanced positivity
preserving central-upwind scheme for the Saint-Venant system", Commun. Math.
Sci. 5 (2007), without bottom and dry land; as in P.-Y. Chuang and L. A. Barba's
TorchSWE.
"""

from __future__ import annotations

from typing import Any

from harness import Program, State, run

GRAVITY = 9.81
LIMITER = 1.3  # 1: most diffusive, 2: least
COURANT = 0.25
GHOSTS = 2


def setup(np: Any, size: int, dtype: str) -> State:
    """Make depth and momentum of size x size cells, with a frame of ghost cells."""
    side = size + 2 * GHOSTS
    index = np.arange(side * side).reshape(side, side)
    row = np.floor(index / side)
    y = (row - GHOSTS + 0.5) / size - 0.5
    x = (index - row * side - GHOSTS + 0.5) / size - 0.5
    depth = 1.0 + 0.2 * np.exp(-100.0 * (x * x + y * y))
    water = [q.astype(dtype) for q in (depth, 0.5 * depth, 0.25 * depth)]
    for q in water:
        fill_ghosts(q)
    return {
        "water": water,
        "width": 1.0 / size,
        "totals": [float(np.sum(inside(q))) for q in water],
    }


def inside(q: Any) -> Any:
    """Return the cells without ghosts."""
    return q[2:-2, 2:-2]


def fill_ghosts(q: Any) -> None:
    """Copy the cells of the opposite side."""
    q[:2, :] = q[-4:-2, :]
    q[-2:, :] = q[2:4, :]
    q[:, :2] = q[:, -4:-2]
    q[:, -2:] = q[:, 2:4]


def faces(np: Any, west: Any, here: Any, east: Any) -> tuple[Any, Any]:
    """Return the values on the lower and the upper face of each cell."""
    backward = LIMITER * (here - west)
    central = 0.5 * (east - west)
    forward = LIMITER * (east - here)
    least = np.minimum(np.minimum(backward, central), forward)
    most = np.maximum(np.maximum(backward, central), forward)
    slope = np.maximum(least, 0.0) + np.minimum(most, 0.0)
    return here - 0.5 * slope, here + 0.5 * slope


def flux(np: Any, before: list[Any], after: list[Any]) -> tuple[list[Any], Any]:
    """Return the flux through faces, and their fastest waves.

    ``before`` and ``after`` are depth, and momentum along and across the flow,
    on both sides of the faces.
    """
    sides = []
    for depth, along, across in (before, after):
        velocity = along / depth
        physical = (
            along,
            along * velocity + 0.5 * GRAVITY * depth * depth,
            across * velocity,
        )
        sides.append((velocity, np.sqrt(GRAVITY * depth), physical))
    (u0, c0, flux0), (u1, c1, flux1) = sides
    fastest = np.maximum(np.maximum(u0 + c0, u1 + c1), 0.0)
    slowest = np.minimum(np.minimum(u0 - c0, u1 - c1), 0.0)
    spread = fastest - slowest
    through = [
        (fastest * f0 - slowest * f1 + fastest * slowest * (q1 - q0)) / spread
        for f0, f1, q0, q1 in zip(flux0, flux1, before, after, strict=True)
    ]
    return through, np.maximum(fastest, -slowest)


def change(np: Any, water: list[Any], width: float) -> tuple[list[Any], Any]:
    """Return what flows into each cell, and the fastest wave."""
    h, hu, hv = water
    left, right = zip(
        *(faces(np, q[2:-2, :-2], q[2:-2, 1:-1], q[2:-2, 2:]) for q in (h, hu, hv)),
        strict=True,
    )
    east_flux, east_speed = flux(
        np, [q[:, :-1] for q in right], [q[:, 1:] for q in left]
    )
    low, high = zip(
        *(faces(np, q[:-2, 2:-2], q[1:-1, 2:-2], q[2:, 2:-2]) for q in (h, hv, hu)),
        strict=True,
    )
    north_flux, north_speed = flux(np, [q[:-1] for q in high], [q[1:] for q in low])
    # the flux along y has its momenta the other way round
    north_flux = [north_flux[0], north_flux[2], north_flux[1]]
    rates = [
        (x[:, :-1] - x[:, 1:] + y[:-1] - y[1:]) / width
        for x, y in zip(east_flux, north_flux, strict=True)
    ]
    return rates, np.maximum(np.max(east_speed), np.max(north_speed))


def step(np: Any, state: State) -> None:
    """Take one step in time, as long as the fastest wave lets it be."""
    water, width = state["water"], state["width"]
    rates, speed = change(np, water, width)
    dt = COURANT * width / speed
    ahead = [q.copy() for q in water]
    for q, rate in zip(ahead, rates, strict=True):
        q[2:-2, 2:-2] += dt * rate
        fill_ghosts(q)
    rates, _ = change(np, ahead, width)
    for q, predicted, rate in zip(water, ahead, rates, strict=True):
        q[2:-2, 2:-2] = 0.5 * (inside(q) + inside(predicted) + dt * rate)
        fill_ghosts(q)


def results(state: State) -> dict[str, Any]:
    """Return depth and momentum."""
    return dict(zip(("h", "hu", "hv"), state["water"], strict=True))


def error(np: Any, state: State) -> float:
    """Return how far volume and momentum have moved from their start."""
    volume = state["totals"][0]
    return max(
        abs(float(np.sum(inside(q))) - total) / volume
        for q, total in zip(state["water"], state["totals"], strict=True)
    )


if __name__ == "__main__":
    run(Program("shallow_water", 1_000, setup, step, results, error))
