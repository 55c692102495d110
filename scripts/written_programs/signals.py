# SPDX-License-Identifier: Apache-2.0
"""Signals and series."""

from __future__ import annotations

from typing import Any

from written_programs.program import Field

PROGRAMS = Field("signals")


def _signal(np: Any, n: int) -> Any:
    t = np.linspace(0.0, 100.0, n)
    return np.sin(t) + 0.3 * np.sin(7.3 * t)


@PROGRAMS.program(1000, 1_000_000)
def moving_average(np: Any, n: int) -> tuple[Any, ...]:
    """A window of nine values, by slices."""
    x = _signal(np, n)
    total = np.zeros(n - 8)
    for k in range(9):
        total += x[k : n - 8 + k]
    return (total / 9.0,)


@PROGRAMS.program(1000, 1_000_000)
def convolution(np: Any, n: int) -> tuple[Any, ...]:
    """A kernel of fifteen weights, whose elements are read one by one."""
    x = _signal(np, n)
    kernel = np.exp(-(np.linspace(-2.0, 2.0, 15) ** 2))
    kernel = kernel / kernel.sum()
    y = np.zeros(n - 14)
    for k in range(15):
        y += kernel[k] * x[k : n - 14 + k]
    return (y,)


@PROGRAMS.program(1000, 1_000_000)
def clipping_and_energy(np: Any, n: int) -> tuple[Any, ...]:
    """Statistics of a limited signal, read one by one."""
    x = _signal(np, n)
    mean = float(x.mean())
    spread = float(np.sqrt(((x - mean) ** 2).mean()))
    x = np.where(abs(x - mean) > spread, mean + spread * np.sign(x - mean), x)
    return x, np.array([mean, spread, float((x * x).sum()), float(x.max())])


@PROGRAMS.program(64, 1024)
def fourier_by_matrix(np: Any, n: int) -> tuple[Any, ...]:
    """The discrete Fourier transform from its definition."""
    k = np.arange(n, dtype="float64")
    angle = (-6.283185307179586 / n) * k[:, None] * k
    x = _signal(np, n)
    return (np.cos(angle) * x).sum(axis=1), (np.sin(angle) * x).sum(axis=1)


@PROGRAMS.program(1024, 1_048_576)
def haar_wavelet(np: Any, n: int) -> tuple[Any, ...]:
    """Halves of halves, by strided slices."""
    x = _signal(np, n)
    out = np.zeros(n)
    while n > 8:
        n //= 2
        pairs = x.reshape((n, 2))
        out[n : 2 * n] = (pairs[:, 0] - pairs[:, 1]) * 0.7071067811865476
        x = (pairs[:, 0] + pairs[:, 1]) * 0.7071067811865476
    out[:n] = x
    return (out,)
