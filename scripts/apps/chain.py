# SPDX-License-Identifier: Apache-2.0
"""Ten element-wise operations in a row: a logistic map and a smooth bend.

The values stay in [0, 1] however often the chain is applied.
"""

from __future__ import annotations

from typing import Any

from harness import Program, State, run


def setup(np: Any, size: int, dtype: str) -> State:
    """Make values between 0 and 1."""
    x = (np.arange(size, dtype=dtype) * 0.6180339887498949) % 1.0
    return {"x": x, "start": x}


def step(np: Any, state: State) -> None:
    """Apply the chain to the same start values."""
    x = state["start"]
    y = x * (1.0 - x)
    y = y * 3.5
    y = (y + 0.25) / 1.25
    y = y * y - y + 1.0
    y = np.sqrt(y)
    state["x"] = y * x


def results(state: State) -> dict[str, Any]:
    """Return the values."""
    return {"x": state["x"]}


def error(np: Any, state: State) -> float:
    """Return how far the values leave [0, 1]."""
    x = state["x"]
    return max(0.0, -float(np.min(x)), float(np.max(x)) - 1.0)


if __name__ == "__main__":
    run(Program("chain", 20_000_000, setup, step, results, error, independent=True))
