# SPDX-License-Identifier: Apache-2.0
"""Images, and automata on grids."""

from __future__ import annotations

from typing import Any

from written_programs.program import Field

PROGRAMS = Field("images")


def _image(np: Any, n: int) -> Any:
    t = np.linspace(0.0, 10.0, n)
    return 0.5 + 0.5 * np.sin(t)[:, None] * np.cos(1.7 * t)


@PROGRAMS.program(32, 1000)
def sobel(np: Any, n: int) -> tuple[Any, ...]:
    """Edges, and those above a threshold."""
    p = _image(np, n)
    right, left = p[:, 2:], p[:, :-2]
    across = right[2:] + 2.0 * right[1:-1] + right[:-2]
    across = across - left[2:] - 2.0 * left[1:-1] - left[:-2]
    down = p[2:, 2:] + 2.0 * p[2:, 1:-1] + p[2:, :-2]
    down = down - p[:-2, 2:] - 2.0 * p[:-2, 1:-1] - p[:-2, :-2]
    size = np.sqrt(across * across + down * down)
    return size, (size > 0.1).sum()


@PROGRAMS.program(32, 1000)
def game_of_life(np: Any, n: int) -> tuple[Any, ...]:
    """Neighbours by rolls, rules by logic."""
    alive = _image(np, n) > 0.6
    for _ in range(5):
        count = np.zeros((n, n), dtype="int64")
        for down in (-1, 0, 1):
            for across in (-1, 0, 1):
                if down or across:
                    count += np.roll(np.roll(alive, down, 0), across, 1)
        alive = (count == 3) | (alive & (count == 2))
    return (alive,)


@PROGRAMS.program(32, 500)
def mandelbrot_by_masks(np: Any, n: int) -> tuple[Any, ...]:
    """Only points that have not escaped go on."""
    x, y = np.linspace(-2.0, 0.5, n), np.linspace(-1.2, 1.2, n)
    a, b = x + np.zeros((n, 1)), y[:, None] + np.zeros((1, n))
    u, v, steps = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for _ in range(15):
        inside = u * u + v * v < 4.0
        u, v = (
            np.where(inside, u * u - v * v + a, u),
            np.where(inside, 2.0 * u * v + b, v),
        )
        steps[inside] += 1.0
    return (steps,)


@PROGRAMS.program(32, 1000)
def gray_scott(np: Any, n: int) -> tuple[Any, ...]:
    """Two substances that react and spread."""
    u, v = np.ones((n, n)), 0.25 * _image(np, n)
    for _ in range(5):
        lu = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        lv = v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - 4 * v[1:-1, 1:-1]
        uu, vv = u[1:-1, 1:-1], v[1:-1, 1:-1]
        reaction = uu * vv * vv
        uu += 0.16 * lu - reaction + 0.06 * (1.0 - uu)
        vv += 0.08 * lv + reaction - 0.122 * vv
    return u, v


@PROGRAMS.program(32, 1000)
def total_variation(np: Any, n: int) -> tuple[Any, ...]:
    """Denoising by gradient descent."""
    noisy = _image(np, n)
    p = noisy.copy()
    for _ in range(5):
        dx, dy = np.zeros((n, n)), np.zeros((n, n))
        dx[:, :-1] = p[:, 1:] - p[:, :-1]
        dy[:-1] = p[1:] - p[:-1]
        size = np.sqrt(dx * dx + dy * dy + 1e-2)
        dx, dy = dx / size, dy / size
        slope = -dx - dy
        slope[:, 1:] += dx[:, :-1]
        slope[1:] += dy[:-1]
        p = p - 0.01 * (slope + 2.0 * (p - noisy))
    return (p,)
