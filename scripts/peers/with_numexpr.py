# SPDX-License-Identifier: Apache-2.0
"""The programs with numexpr: one expression for each array that is kept."""

from __future__ import annotations

from typing import Any

import numexpr
import numpy as np
import peer
from black_scholes import RISK_FREE, VOLATILITY
from harness import State
from update import ALPHA

K = "1.0 / (1.0 + 0.2316419 * abs({d}))"
TAIL = """0.39894228040143267794 * exp(-0.5 * {d} * {d}) * ({k} * (0.319381530 + {k} * (
    -0.356563782 + {k} * (1.781477937 + {k} * (-1.821255978 + {k} * 1.330274429)))))"""


def cumulative_normal(d: str) -> str:
    """Return the expression of the distribution function of an expression."""
    # numexpr computes equal parts of an expression once
    tail = f"({TAIL.format(d=d, k=f'({K.format(d=d)})')})".replace("\n", " ")
    return f"where({d} > 0, 1.0 - {tail}, {tail})"


def black_scholes(state: State) -> None:
    names = {key: state[key] for key in ("spot", "strike", "expiry")}
    names |= {"rate": RISK_FREE, "volatility": VOLATILITY}

    def evaluate(text: str) -> Any:
        return numexpr.evaluate(text, names)

    names["d1"] = evaluate(
        "(log(spot / strike) + (rate + 0.5 * volatility * volatility) * expiry)"
        " / (volatility * sqrt(expiry))"
    )
    names["cnd1"] = evaluate(cumulative_normal("d1"))
    names["cnd2"] = evaluate(cumulative_normal("(d1 - volatility * sqrt(expiry))"))
    names["discounted"] = evaluate("strike * exp(-rate * expiry)")
    state["call"] = evaluate("spot * cnd1 - discounted * cnd2")
    state["put"] = evaluate("discounted * (1.0 - cnd2) - spot * (1.0 - cnd1)")


def chain(state: State) -> None:
    y = "((x * (1.0 - x) * 3.5 + 0.25) / 1.25)"
    text = f"sqrt({y} * {y} - {y} + 1.0) * x"
    state["x"] = numexpr.evaluate(text, {"x": state["start"]})


def stencil(state: State) -> None:
    grid = state["grid"]
    center = grid[1:-1, 1:-1]
    names = {
        "center": center,
        "north": grid[0:-2, 1:-1],
        "east": grid[1:-1, 2:],
        "west": grid[1:-1, 0:-2],
        "south": grid[2:, 1:-1],
    }
    text = "0.2 * (center + north + east + west + south)"
    work = numexpr.evaluate(text, names)
    numexpr.evaluate("work", {"work": work}, out=center)


def update(state: State) -> None:
    alpha = state["alpha"] = -state.get("alpha", -ALPHA)
    x, r = state["x"], state["r"]
    numexpr.evaluate("x + a * p", {"x": x, "a": alpha, "p": state["p"]}, out=x)
    numexpr.evaluate("r - a * q", {"r": r, "a": alpha, "q": state["q"]}, out=r)
    # numexpr's own sum runs on one thread
    state["rr"] = np.dot(r, r)


if __name__ == "__main__":
    peer.run(lambda name, _: globals()[name])
