# SPDX-License-Identifier: Apache-2.0
"""Sums of a matrix along each axis and over all, each a task of its own."""

from __future__ import annotations

from typing import Any

from harness import Program, State, run


def setup(np: Any, size: int, dtype: str) -> State:
    """Make a square matrix."""
    index = np.arange(size * size).reshape(size, size)
    return {"x": ((index * 0.6180339887498949) % 1.0).astype(dtype), "turn": 0}


def step(np: Any, state: State) -> None:
    """Sum along one axis, then the other, then over all."""
    axis = (0, 1, None)[state["turn"] % 3]
    state["turn"] += 1
    state[f"sum{axis}"] = np.sum(state["x"], axis=axis)


def results(state: State) -> dict[str, Any]:
    """Return the sums along the axes."""
    return {name: state[name] for name in ("sum0", "sum1")}


def error(np: Any, state: State) -> float:
    """Return how far the sums are from one another, relative to all."""
    total = float(np.sum(state["sum0"]))
    return abs(float(np.sum(state["sum1"])) - total) / total


if __name__ == "__main__":
    run(Program("sums", 4_000, setup, step, results, error, independent=True))
