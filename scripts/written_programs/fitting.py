# SPDX-License-Identifier: Apache-2.0
"""Statistics, learning and finance."""

from __future__ import annotations

from typing import Any

from written_programs.program import Field

PROGRAMS = Field("fitting")


@PROGRAMS.program(1000, 1_000_000)
def line_through_points(np: Any, n: int) -> tuple[Any, ...]:
    """Least squares with numbers that the program reads."""
    x = np.linspace(0.0, 1.0, n)
    y = 3.0 * x + 1.0 + 0.1 * np.sin(50.0 * x)
    mx, my = float(x.mean()), float(y.mean())
    slope = float(((x - mx) * (y - my)).sum()) / float(((x - mx) ** 2).sum())
    rest = y - (my + slope * (x - mx))
    return (np.array([slope, my - slope * mx, float((rest * rest).sum())]),)


@PROGRAMS.program(100, 100_000)
def logistic_regression(np: Any, n: int) -> tuple[Any, ...]:
    """Gradient descent on ten features."""
    t = np.linspace(0.0, 20.0, n)
    x = np.sin(t[:, None] * np.arange(1.0, 11.0))
    y = (x[:, 0] + 0.5 * x[:, 1] > 0.0).astype("float64")
    w = np.zeros(10)
    for _ in range(10):
        p = 1.0 / (1.0 + np.exp(-x.dot(w)))
        w -= 0.1 * x.T.dot(p - y) / n
    return (w,)


@PROGRAMS.program(300, 300_000)
def k_means(np: Any, n: int) -> tuple[Any, ...]:
    """Three centres in the plane."""
    t = np.linspace(0.0, 40.0, n)
    x, y = np.sin(t) * t, np.cos(1.3 * t)
    cx, cy = [-10.0, 0.0, 10.0], [0.0, 0.1, 0.2]
    for _ in range(5):
        d = [(x - a) ** 2 + (y - b) ** 2 for a, b in zip(cx, cy, strict=True)]
        nearest = np.minimum(np.minimum(d[0], d[1]), d[2])
        for k in range(3):
            own = d[k] == nearest
            count = max(float(own.sum()), 1.0)
            cx[k] = float(np.where(own, x, 0.0).sum()) / count
            cy[k] = float(np.where(own, y, 0.0).sum()) / count
    return np.array(cx), np.array(cy)


@PROGRAMS.program(32, 512)
def neural_network(np: Any, n: int) -> tuple[Any, ...]:
    """Two layers, forwards and backwards."""
    t = np.linspace(-1.0, 1.0, n)
    x = np.sin(3.0 * t[:, None] * np.arange(1.0, 9.0))
    y = t[:, None] ** 2
    a = 0.1 * np.cos(np.arange(8.0)[:, None] * np.arange(1.0, n + 1.0))
    b = 0.1 * np.ones((n, 1))
    for _ in range(5):
        hidden = np.maximum(x.dot(a), 0.0)
        error = hidden.dot(b) - y
        back = error.dot(b.T) * (hidden > 0.0)
        b = b - 0.01 * hidden.T.dot(error) / n
        a = a - 0.01 * x.T.dot(back) / n
    return a, b


@PROGRAMS.program(1000, 500_000)
def option_prices(np: Any, n: int) -> tuple[Any, ...]:
    """Binomial trees of many options side by side."""
    price = np.linspace(50.0, 150.0, n)
    up, steps = 1.02, 8
    values = [
        np.maximum(price * up ** (2 * k - steps) - 100.0, 0.0) for k in range(steps + 1)
    ]
    for step in range(steps, 0, -1):
        values = [0.499 * (values[k] + values[k + 1]) for k in range(step)]
    return (values[0],)


@PROGRAMS.program(1000, 1_000_000)
def normalised_data(np: Any, n: int) -> tuple[Any, ...]:
    """Rows become standard scores, and their soft maximum."""
    x = np.sin(np.arange(float(n // 10 * 10))).reshape((n // 10, 10))
    x = x - x.mean(axis=1)[:, None]
    x = x / (np.sqrt((x * x).mean(axis=1))[:, None] + 1e-8)
    e = np.exp(x - x.max(axis=1)[:, None])
    return (e / e.sum(axis=1)[:, None],)
