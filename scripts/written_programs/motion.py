# SPDX-License-Identifier: Apache-2.0
"""Bodies and particles that move."""

from __future__ import annotations

from typing import Any

from written_programs.program import Field

PROGRAMS = Field("motion")


@PROGRAMS.program(32, 1000)
def gravity(np: Any, n: int) -> tuple[Any, ...]:
    """All pairs attract each other."""
    t = np.linspace(0.0, 6.0, n)
    x, y, vx, vy = np.cos(t) * t, np.sin(t) * t, -np.sin(t), np.cos(t)
    for _ in range(5):
        dx, dy = x[None, :] - x[:, None], y[None, :] - y[:, None]
        inverse = (dx * dx + dy * dy + 0.01) ** -1.5
        vx += 0.001 * (dx * inverse).sum(axis=1)
        vy += 0.001 * (dy * inverse).sum(axis=1)
        x += 0.001 * vx
        y += 0.001 * vy
    return x, y


@PROGRAMS.program(1000, 1_000_000)
def particles_in_a_box(np: Any, n: int) -> tuple[Any, ...]:
    """They fall, and bounce off the walls: masked changes of their speeds."""
    x, v = np.linspace(0.1, 0.9, n), np.linspace(-2.0, 2.0, n)
    for _ in range(10):
        v -= 0.0981
        x += 0.01 * v
        out = (x < 0.0) | (x > 1.0)
        v[out] = -0.9 * v[out]
        x = np.minimum(np.maximum(x, 0.0), 1.0)
    return x, v


@PROGRAMS.program(2, 2)
def pendulum(np: Any, n: int) -> tuple[Any, ...]:
    """Runge and Kutta for two numbers."""

    def slope(state: Any) -> Any:
        return np.array([float(state[1]), -9.81 * float(np.sin(state[0]))])

    state = np.array([0.5, 0.0])
    for _ in range(25 * n):
        a = slope(state)
        b = slope(state + 0.005 * a)
        c = slope(state + 0.005 * b)
        d = slope(state + 0.01 * c)
        state = state + (0.01 / 6.0) * (a + 2.0 * b + 2.0 * c + d)
    return (state,)


@PROGRAMS.program(1000, 500_000)
def lorenz_ensemble(np: Any, n: int) -> tuple[Any, ...]:
    """Many starts of a chaotic system, Euler."""
    x, y, z = np.linspace(0.9, 1.1, n), np.ones(n), np.full(n, 20.0)
    for _ in range(20):
        dx, dy, dz = 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z
        x, y, z = x + 0.005 * dx, y + 0.005 * dy, z + 0.005 * dz
    return x, y, z


@PROGRAMS.program(1000, 1_000_000)
def springs(np: Any, n: int) -> tuple[Any, ...]:
    """A chain of masses, and its energy."""
    x, v = np.sin(np.linspace(0.0, 30.0, n)), np.zeros(n)
    energies = []
    for _ in range(10):
        force = np.zeros(n)
        stretch = x[1:] - x[:-1]
        force[:-1] += stretch
        force[1:] -= stretch
        v += 0.1 * force
        x += 0.1 * v
        energies.append(float(0.5 * (v * v).sum() + 0.5 * (stretch * stretch).sum()))
    return x, v, np.array(energies)
