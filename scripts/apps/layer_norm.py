# SPDX-License-Identifier: Apache-2.0
"""Layer normalisation over the rows of a matrix.

Reference: J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer Normalization" (2016),
arXiv 1607.06450.
"""

from __future__ import annotations

from typing import Any

from harness import Program, State, run

FEATURES = 1024
EPSILON = 1.0e-5


def setup(np: Any, size: int, dtype: str) -> State:
    """Make the features of size items, and a gain and a bias for each feature."""
    index = np.arange(size * FEATURES).reshape(size, FEATURES)
    place = np.arange(FEATURES)
    return {
        "x": (4.0 * ((index * 0.6180339887498949) % 1.0) + 1.0).astype(dtype),
        "gain": (0.5 + (place * 0.4142135623730951) % 1.0).astype(dtype),
        "bias": ((place * 0.3027756377319946) % 1.0).astype(dtype),
    }


def step(np: Any, state: State) -> None:
    """Normalise each row."""
    x = state["x"]
    mean = np.mean(x, axis=1, keepdims=True)
    variance = np.var(x, axis=1, keepdims=True)
    normal = (x - mean) / np.sqrt(variance + EPSILON)
    state["y"] = state["gain"] * normal + state["bias"]


def results(state: State) -> dict[str, Any]:
    """Return the normalised features."""
    return {"y": state["y"]}


def error(np: Any, state: State) -> float:
    """Return how far a row's mean is from 0, or its deviation from 1."""
    normal = (state["y"] - state["bias"]) / state["gain"]
    square = np.mean(normal * normal, axis=1)
    expected = np.var(state["x"], axis=1)
    expected = expected / (expected + EPSILON)
    mean_off = float(np.max(np.abs(np.mean(normal, axis=1))))
    return max(mean_off, float(np.max(np.abs(square - expected))))


if __name__ == "__main__":
    run(Program("layer_norm", 10_000, setup, step, results, error, independent=True))
