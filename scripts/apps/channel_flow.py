# SPDX-License-Identifier: Apache-2.0
"""Flow of a viscous fluid between two walls, driven by a constant force.

The incompressible Navier-Stokes equations with finite differences: backward in
the convective terms, central elsewhere, one explicit Euler step in time. The
pressure solves a Poisson equation, by a fixed number of Jacobi sweeps, that
keeps the velocity free of divergence. The channel repeats along x: its first
and its last column are neighbours. The walls at y = 0 and y = 2 hold the fluid,
and let no pressure through.

Model: L. A. Barba and G. F. Forsyth, "CFD Python: the 12 steps to
Navier-Stokes equations", J. Open Source Education 2 (2019), steps 11 and 12.
"""

from __future__ import annotations

import math
from typing import Any

from harness import Parameter, Program, State, run

DENSITY = 1.0
VISCOSITY = 0.1
FORCE = 1.0
LENGTH = 2.0
SWIRL = 0.01
SWEEPS = Parameter("sweeps", 50, "pressure sweeps in a time step")


def setup(np: Any, size: int, dtype: str, sweeps: int) -> State:
    """Make a fluid at rest but for a weak row of eddies."""
    index = np.arange(size * size).reshape(size, size)
    row = np.floor(index / size)
    column = index - row * size
    y = math.pi * row / (size - 1)
    x = 2.0 * math.pi * column / size
    delta = LENGTH / (size - 1)
    inner = np.where((row > 0) & (row < size - 1), SWIRL, 0.0)
    return {
        "sweeps": sweeps,
        "delta": delta,
        "dt": 0.1 * delta**2 / VISCOSITY,
        "u": (inner * np.sin(y) * np.cos(y) * np.cos(x)).astype(dtype),
        "v": (inner * np.sin(y) ** 2 * np.sin(x)).astype(dtype),
        "p": np.ones((size, size), dtype=dtype),
        "count": 0,
    }


def divergence_source(dt: float, delta: float, faces: tuple[Any, ...]) -> Any:
    """Return the pressure's source from the velocity's neighbours.

    ``faces`` are u in the east, west, north and south, and v likewise.
    """
    u_east, u_west, u_north, u_south, v_east, v_west, v_north, v_south = faces
    u_x = (u_east - u_west) / (2 * delta)
    u_y = (u_north - u_south) / (2 * delta)
    v_x = (v_east - v_west) / (2 * delta)
    v_y = (v_north - v_south) / (2 * delta)
    return DENSITY * ((u_x + v_y) / dt - u_x**2 - 2 * u_y * v_x - v_y**2)


def relaxed(
    delta: float, east: Any, west: Any, north: Any, south: Any, source: Any
) -> Any:
    """Return the pressure that fits its neighbours and its source."""
    across = (east + west) * delta**2 + (north + south) * delta**2
    return across / (4 * delta**2) - delta**4 / (4 * delta**2) * source


def moved(dt: float, delta: float, u: Any, v: Any, w: tuple[Any, ...]) -> Any:
    """Return a velocity component after convection and diffusion.

    ``w`` is the component itself and its east, west, north and south.
    """
    here, east, west, north, south = w
    return (
        here
        - u * dt / delta * (here - west)
        - v * dt / delta * (here - south)
        + VISCOSITY
        * (
            dt / delta**2 * (east - 2 * here + west)
            + dt / delta**2 * (north - 2 * here + south)
        )
    )


# Where a node's own value, and its east, west, north and south are, for the
# inner columns, the last and the first.
INNER = (
    (slice(1, -1), slice(1, -1)),
    (slice(1, -1), slice(2, None)),
    (slice(1, -1), slice(0, -2)),
    (slice(2, None), slice(1, -1)),
    (slice(0, -2), slice(1, -1)),
)


def column(here: int, east: int, west: int) -> tuple[Any, ...]:
    """Return the same for one column."""
    middle = slice(1, -1)
    return (
        (middle, here),
        (middle, east),
        (middle, west),
        (slice(2, None), here),
        (slice(0, -2), here),
    )


REGIONS = (INNER, column(-1, 0, -2), column(0, 1, -1))


def pressure(np: Any, state: State) -> None:
    """Sweep over the pressure."""
    u, v, p = state["u"], state["v"], state["p"]
    dt, delta = state["dt"], state["delta"]
    b = np.zeros_like(p)
    for here, *around in REGIONS:
        faces = tuple(w[place] for w in (u, v) for place in around)
        b[here] = divergence_source(dt, delta, faces)
    for _ in range(state["sweeps"]):
        old = p.copy()
        for here, *around in REGIONS:
            p[here] = relaxed(delta, *(old[place] for place in around), b[here])
        p[-1, :] = p[-2, :]
        p[0, :] = p[1, :]


def step(np: Any, state: State) -> None:
    """Take one step in time."""
    dt, delta = state["dt"], state["delta"]
    pressure(np, state)
    u, v, p = state["u"], state["v"], state["p"]
    old_u, old_v = u.copy(), v.copy()
    for region in REGIONS:
        here, east, west, north, south = region
        flow = (dt, delta, old_u[here], old_v[here])
        u[here] = (
            moved(*flow, tuple(old_u[place] for place in region))
            - dt / (2 * DENSITY * delta) * (p[east] - p[west])
            + FORCE * dt
        )
        v[here] = moved(*flow, tuple(old_v[place] for place in region)) - dt / (
            2 * DENSITY * delta
        ) * (p[north] - p[south])
    u[0, :] = 0
    u[-1, :] = 0
    v[0, :] = 0
    v[-1, :] = 0
    state["count"] += 1


def results(state: State) -> dict[str, Any]:
    """Return velocity and pressure."""
    return {name: state[name] for name in ("u", "v", "p")}


def error(np: Any, state: State) -> float:
    """Return how much farther the flow is from its laminar form than at first.

    Without the eddies the velocity u depends on y only, and grows from rest by
    the force and diffusion. The eddies can only fade.
    """
    laminar = np.zeros_like(state["u"])
    rate = VISCOSITY * state["dt"] / state["delta"] ** 2
    for _ in range(state["count"]):
        bend = laminar[2:] - 2 * laminar[1:-1] + laminar[:-2]
        laminar[1:-1] += rate * bend + FORCE * state["dt"]
    off_u = float(np.max(np.abs(state["u"] - laminar)))
    off_v = float(np.max(np.abs(state["v"])))
    return max(0.0, off_u - SWIRL, off_v - SWIRL)


if __name__ == "__main__":
    run(Program("channel_flow", 41, setup, step, results, error, (SWEEPS,)))
