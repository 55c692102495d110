# SPDX-License-Identifier: Apache-2.0
"""Gravitation between bodies, each pair of them summed up, in leapfrog steps.

The force is softened at short distances, as in collisionless systems.

Reference: S. J. Aarseth, "Gravitational N-Body Simulations" (Cambridge 2003),
chapter 2; the softening is H. C. Plummer's (1911).
"""

from __future__ import annotations

from typing import Any

from harness import Program, State, run

SOFTENING = 0.1
TIME_STEP = 1.0e-3


def setup(np: Any, size: int, dtype: str) -> State:
    """Make size bodies in a cube, at rest but for a common turn about its axis."""
    index = np.arange(size)
    x, y, z = (
        (2.0 * ((index * step) % 1.0) - 1.0).astype(dtype)
        for step in (0.4142135623730951, 0.7320508075688772, 0.23606797749979)
    )
    mass = ((0.5 + (index * 0.6180339887498949) % 1.0) / size).astype(dtype)
    state = {
        "mass": mass,
        "places": [x, y, z],
        "speeds": [-0.5 * y, 0.5 * x, 0.0 * z],
    }
    state["pulls"] = accelerations(np, mass, state["places"])
    state["momenta"] = momenta(np, state)
    state["energy"] = energy(np, state)
    return state


def distances(places: list[Any]) -> list[Any]:
    """Return how far each body (column) is from each other one (row), by axis.

    The sources are copies: cuPyNumeric 26.6 on several CPUs now and then takes a wrong
    tile of an array that an operation reads both along rows and along columns.
    """
    sources = [place.copy() for place in places]
    return [
        source[None, :] - place[:, None]
        for source, place in zip(sources, places, strict=True)
    ]


def accelerations(np: Any, mass: Any, places: list[Any]) -> list[Any]:
    """Return the sum of all other bodies' attraction along each axis."""
    apart = distances(places)
    squares = sum(one**2 for one in apart) + SOFTENING**2
    weights = mass * squares**-1.5
    return [np.sum(weights * one, axis=1) for one in apart]


def step(np: Any, state: State) -> None:
    """Kick, drift and kick."""
    half = 0.5 * TIME_STEP
    speeds = [
        v + half * a for v, a in zip(state["speeds"], state["pulls"], strict=True)
    ]
    state["places"] = [
        x + TIME_STEP * v for x, v in zip(state["places"], speeds, strict=True)
    ]
    state["pulls"] = accelerations(np, state["mass"], state["places"])
    state["speeds"] = [
        v + half * a for v, a in zip(speeds, state["pulls"], strict=True)
    ]


def momenta(np: Any, state: State) -> list[float]:
    """Return the total momentum along each axis."""
    return [float(np.sum(state["mass"] * v)) for v in state["speeds"]]


def energy(np: Any, state: State) -> tuple[float, float]:
    """Return kinetic and potential energy, a body's own among the latter."""
    mass, apart = state["mass"], distances(state["places"])
    distance = np.sqrt(sum(one**2 for one in apart) + SOFTENING**2)
    kinetic = sum(float(np.sum(mass * v**2)) for v in state["speeds"])
    bound = float(np.sum(mass * np.sum(mass / distance, axis=1)))
    return 0.5 * kinetic, -0.5 * bound


def results(state: State) -> dict[str, Any]:
    """Return places and speeds."""
    return {
        f"{name}_{axis}": values
        for name in ("places", "speeds")
        for axis, values in zip("xyz", state[name], strict=True)
    }


def error(np: Any, state: State) -> float:
    """Return how far momentum has moved from its start, and energy beyond its bound.

    Forces come in pairs, so momentum moves by rounding only. A leapfrog step's error
    in energy is of third order in the step.
    """
    kinetic, potential = energy(np, state)
    before = sum(state["energy"])
    lost = abs(kinetic + potential - before) / abs(state["energy"][1])
    moved = max(
        abs(now - then)
        for now, then in zip(momenta(np, state), state["momenta"], strict=True)
    )
    return max(moved, lost - 10.0 * TIME_STEP**2)


if __name__ == "__main__":
    run(Program("nbody", 2_000, setup, step, results, error))
