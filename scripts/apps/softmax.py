# SPDX-License-Identifier: Apache-2.0
"""Softmax over the rows of a matrix, each shifted by its largest value.

Reference: I. Goodfellow, Y. Bengio and A. Courville, "Deep Learning" (MIT Press
2016), section 4.1.
"""

from __future__ import annotations

from typing import Any

from harness import Program, State, run

CLASSES = 1000


def setup(np: Any, size: int, dtype: str) -> State:
    """Make a row of scores for each of size items."""
    index = np.arange(size * CLASSES).reshape(size, CLASSES)
    scores = 20.0 * ((index * 0.6180339887498949) % 1.0) - 10.0
    return {"scores": scores.astype(dtype)}


def step(np: Any, state: State) -> None:
    """Turn scores into probabilities."""
    scores = state["scores"]
    weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    state["probabilities"] = weights / np.sum(weights, axis=1, keepdims=True)


def results(state: State) -> dict[str, Any]:
    """Return the probabilities."""
    return {"probabilities": state["probabilities"]}


def error(np: Any, state: State) -> float:
    """Return how far a row's probabilities are from 1 together."""
    return float(np.max(np.abs(np.sum(state["probabilities"], axis=1) - 1.0)))


if __name__ == "__main__":
    run(Program("softmax", 10_000, setup, step, results, error, independent=True))
