# SPDX-License-Identifier: Apache-2.0
"""The programs fused by hand into parallel loops, compiled by Numba."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

import numba
import numpy as np
import peer
from black_scholes import RISK_FREE, VOLATILITY
from harness import State
from update import ALPHA

parallel = numba.njit(parallel=True, error_model="numpy", cache=True)
inline = numba.njit(inline="always", error_model="numpy")


@inline
def _cumulative_normal(d: float) -> float:
    k = 1.0 / (1.0 + 0.2316419 * abs(d))
    tail = (
        0.39894228040143267794
        * exp(-0.5 * d * d)
        * (
            k
            * (
                0.319381530
                + k
                * (
                    -0.356563782
                    + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))
                )
            )
        )
    )
    return 1.0 - tail if d > 0 else tail


@parallel
def _black_scholes(spot: Any, strike: Any, expiry: Any) -> Any:
    call = np.empty_like(spot)
    put = np.empty_like(spot)
    for i in numba.prange(spot.size):
        root = sqrt(expiry[i])
        d1 = (
            log(spot[i] / strike[i])
            + (RISK_FREE + 0.5 * VOLATILITY * VOLATILITY) * expiry[i]
        ) / (VOLATILITY * root)
        d2 = d1 - VOLATILITY * root
        cnd1 = _cumulative_normal(d1)
        cnd2 = _cumulative_normal(d2)
        discounted = strike[i] * exp(-RISK_FREE * expiry[i])
        call[i] = spot[i] * cnd1 - discounted * cnd2
        put[i] = discounted * (1.0 - cnd2) - spot[i] * (1.0 - cnd1)
    return call, put


@parallel
def _chain(start: Any) -> Any:
    made = np.empty_like(start)
    for i in numba.prange(start.size):
        x = start[i]
        y = x * (1.0 - x)
        y = y * 3.5
        y = (y + 0.25) / 1.25
        y = y * y - y + 1.0
        made[i] = sqrt(y) * x
    return made


@parallel
def _stencil(grid: Any) -> None:
    rows, columns = grid.shape[0] - 2, grid.shape[1] - 2
    work = np.empty((rows, columns), grid.dtype)
    for i in numba.prange(rows):
        for j in range(columns):
            work[i, j] = 0.2 * (
                grid[i + 1, j + 1]
                + grid[i, j + 1]
                + grid[i + 1, j + 2]
                + grid[i + 1, j]
                + grid[i + 2, j + 1]
            )
    for i in numba.prange(rows):
        for j in range(columns):
            grid[i + 1, j + 1] = work[i, j]


@parallel
def _update(alpha: float, x: Any, r: Any, p: Any, q: Any) -> float:
    rr = 0.0
    for i in numba.prange(x.size):
        x[i] += alpha * p[i]
        new = r[i] - alpha * q[i]
        r[i] = new
        rr += new * new
    return rr


def black_scholes(state: State) -> None:
    found = _black_scholes(state["spot"], state["strike"], state["expiry"])
    state["call"], state["put"] = found


def chain(state: State) -> None:
    state["x"] = _chain(state["start"])


def stencil(state: State) -> None:
    _stencil(state["grid"])


def update(state: State) -> None:
    alpha = state["alpha"] = -state.get("alpha", -ALPHA)
    state["rr"] = _update(alpha, state["x"], state["r"], state["p"], state["q"])


if __name__ == "__main__":
    peer.run(lambda name, _: globals()[name])
