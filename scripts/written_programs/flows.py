# SPDX-License-Identifier: Apache-2.0
"""Partial differential equations on grids."""

from __future__ import annotations

from typing import Any

from written_programs.program import Field

PROGRAMS = Field("flows")


@PROGRAMS.program(1000, 1_000_000)
def heat_in_a_rod(np: Any, n: int) -> tuple[Any, ...]:
    """u_t = u_xx, explicit."""
    u = np.sin(np.linspace(0.0, 3.0, n))
    for _ in range(20):
        u[1:-1] += 0.25 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return (u,)


@PROGRAMS.program(32, 1000)
def laplace_until_steady(np: Any, n: int) -> tuple[Any, ...]:
    """Jacobi's iteration, which asks each time whether it is done."""
    u = np.zeros((n, n))
    u[0] = 1.0
    for _ in range(20):
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        change = float(abs(v - u).max())
        u = v
        if change < 1e-6:
            break
    return (u,)


@PROGRAMS.program(1000, 1_000_000)
def burgers_upwind(np: Any, n: int) -> tuple[Any, ...]:
    """u_t + (u^2/2)_x = 0 with periodic ends, by rolls."""
    u = 1.5 + np.sin(np.linspace(0.0, 6.283185307179586, n))
    for _ in range(20):
        flux = 0.5 * u * u
        u = u - 0.2 * (flux - np.roll(flux, 1))
    return (u,)


@PROGRAMS.program(1000, 1_000_000)
def waves_on_a_string(np: Any, n: int) -> tuple[Any, ...]:
    """u_tt = u_xx, leapfrog."""
    x = np.linspace(0.0, 1.0, n)
    before = np.exp(-100.0 * (x - 0.5) ** 2)
    now = before.copy()
    for _ in range(20):
        after = np.zeros(n)
        after[1:-1] = (
            2.0 * now[1:-1]
            - before[1:-1]
            + 0.5 * (now[2:] - 2.0 * now[1:-1] + now[:-2])
        )
        before, now = now, after
    return (now,)


@PROGRAMS.program(1000, 1_000_000)
def shock_tube(np: Any, n: int) -> tuple[Any, ...]:
    """Euler's equations in one dimension, Lax and Friedrichs, with a time step."""
    x = np.linspace(0.0, 1.0, n)
    density = np.where(x < 0.5, 1.0, 0.125)
    momentum = np.zeros(n)
    energy = np.where(x < 0.5, 2.5, 0.25)
    for _ in range(10):
        speed = momentum / density
        pressure = 0.4 * (energy - 0.5 * momentum * speed)
        fastest = float((abs(speed) + np.sqrt(1.4 * pressure / density)).max())
        step = 0.4 / fastest
        for state, flux in (
            (density, momentum),
            (momentum, momentum * speed + pressure),
            (energy, (energy + pressure) * speed),
        ):
            new = 0.5 * (state[2:] + state[:-2]) - 0.5 * step * (flux[2:] - flux[:-2])
            state[1:-1] = new
    return density, momentum, energy


@PROGRAMS.program(24, 600)
def lattice_boltzmann(np: Any, n: int) -> tuple[Any, ...]:
    """D2Q9 with periodic ends: stream by rolls, then relax."""
    ways = [
        (0, 0),
        (1, 0),
        (0, 1),
        (-1, 0),
        (0, -1),
        (1, 1),
        (-1, 1),
        (-1, -1),
        (1, -1),
    ]
    weights = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4
    y = np.linspace(0.0, 6.283185307179586, n)
    u0 = 0.05 * np.sin(y)[:, None] * np.ones((1, n))
    f = [w * (1.0 + 3.0 * cx * u0) for (cx, _), w in zip(ways, weights, strict=True)]
    rho = u = v = u0
    for _ in range(3):
        f = [
            np.roll(np.roll(g, cx, 1), cy, 0)
            for g, (cx, cy) in zip(f, ways, strict=True)
        ]
        rho = sum(f[1:], f[0])
        u = (f[1] - f[3] + f[5] - f[6] - f[7] + f[8]) / rho
        v = (f[2] - f[4] + f[5] + f[6] - f[7] - f[8]) / rho
        square = 1.5 * (u * u + v * v)
        for k, ((cx, cy), w) in enumerate(zip(ways, weights, strict=True)):
            along = 3.0 * (cx * u + cy * v)
            f[k] = f[k] + 0.6 * (
                w * rho * (1.0 + along + 0.5 * along**2 - square) - f[k]
            )
    return rho, u, v
