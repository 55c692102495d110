# SPDX-License-Identifier: Apache-2.0
"""Black-Scholes prices of European call and put options.

Model: F. Black and M. Scholes, "The Pricing of Options and Corporate
Liabilities", Journal of Political Economy 81 (1973). The cumulative normal
distribution is formula 26.2.17 of Abramowitz and Stegun (error below 7.5e-8).
"""

from __future__ import annotations

from typing import Any

from harness import Program, State, run

RISK_FREE = 0.02
VOLATILITY = 0.30


def setup(np: Any, size: int, dtype: str) -> State:
    """Make spot prices, strike prices and times to expiry."""
    index = np.arange(size, dtype=dtype)
    golden = (index * 0.6180339887498949) % 1.0
    silver = (index * 0.4142135623730951) % 1.0
    bronze = (index * 0.3027756377319946) % 1.0
    return {
        "spot": 5.0 + 25.0 * golden,
        "strike": 1.0 + 99.0 * silver,
        "expiry": 0.25 + 9.75 * bronze,
    }


def cumulative_normal(np: Any, d: Any) -> Any:
    """Return the standard normal distribution function at ``d``."""
    k = 1.0 / (1.0 + 0.2316419 * np.abs(d))
    tail = (
        0.39894228040143267794
        * np.exp(-0.5 * d * d)
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
    return np.where(d > 0, 1.0 - tail, tail)


def step(np: Any, state: State) -> None:
    """Price all options."""
    spot, strike, expiry = state["spot"], state["strike"], state["expiry"]
    root = np.sqrt(expiry)
    d1 = (
        np.log(spot / strike) + (RISK_FREE + 0.5 * VOLATILITY * VOLATILITY) * expiry
    ) / (VOLATILITY * root)
    d2 = d1 - VOLATILITY * root
    cnd1 = cumulative_normal(np, d1)
    cnd2 = cumulative_normal(np, d2)
    discounted = strike * np.exp(-RISK_FREE * expiry)
    state["call"] = spot * cnd1 - discounted * cnd2
    state["put"] = discounted * (1.0 - cnd2) - spot * (1.0 - cnd1)


def results(state: State) -> dict[str, Any]:
    """Return the prices."""
    return {"call": state["call"], "put": state["put"]}


def error(np: Any, state: State) -> float:
    """Return how far the prices are from put-call parity."""
    forward = state["spot"] - state["strike"] * np.exp(-RISK_FREE * state["expiry"])
    return float(np.max(np.abs(state["call"] - state["put"] - forward))) / 100.0


if __name__ == "__main__":
    run(
        Program(
            "black_scholes", 10_000_000, setup, step, results, error, independent=True
        )
    )
