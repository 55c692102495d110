# SPDX-License-Identifier: Apache-2.0
"""Logistic regression by gradient descent on the mean cross-entropy.

The observed frequencies are those of a known model without noise, so that its
weights are the optimum.

Reference: T. Hastie, R. Tibshirani and J. Friedman, "The Elements of Statistical
Learning", 2nd edition (Springer 2009), section 4.4; for the descent, Y. Nesterov,
"Introductory Lectures on Convex Optimization" (Kluwer 2004), section 2.1.5.
"""

from __future__ import annotations

from typing import Any

from harness import Program, State, run

FEATURES = 16
# The curvature is at most a quarter of the mean of x.x, here FEATURES / 12.
RATE = 48.0 / FEATURES


def setup(np: Any, size: int, dtype: str) -> State:
    """Make features between -1/2 and 1/2, and the frequencies of the model."""
    index = np.arange(size * FEATURES).reshape(size, FEATURES)
    features = ((index * 0.6180339887498949) % 1.0 - 0.5).astype(dtype)
    place = np.arange(FEATURES)
    truth = (4.0 * ((place * 0.4142135623730951) % 1.0) - 2.0).astype(dtype)
    return {
        "features": features,
        "observed": sigmoid(np, features @ truth),
        "weights": np.zeros(FEATURES, dtype=dtype),
        "truth": truth,
    }


def sigmoid(np: Any, x: Any) -> Any:
    """Return the logistic function."""
    return 1.0 / (1.0 + np.exp(-x))


def step(np: Any, state: State) -> None:
    """Go down along the gradient."""
    features, observed = state["features"], state["observed"]
    state["before"] = weights = state["weights"]
    expected = sigmoid(np, features @ weights)
    gradient = features.T @ (expected - observed) / len(observed)
    state["weights"] = weights - RATE * gradient


def results(state: State) -> dict[str, Any]:
    """Return the weights."""
    return {"weights": state["weights"]}


def error(np: Any, state: State) -> float:
    """Return how far the last step is from one by another formula, or led astray.

    1 / (1 + exp(-x)) is (1 + tanh(x / 2)) / 2. With steps no longer than the inverse
    of the largest curvature, each one comes closer to the optimum.
    """
    features, truth, before = state["features"], state["truth"], state["before"]
    expected = 0.5 + 0.5 * np.tanh(0.5 * (features @ before))
    gradient = features.T @ (expected - state["observed"]) / features.shape[0]
    off = float(np.max(np.abs(state["weights"] - (before - RATE * gradient))))
    distance, distance_before = (
        float(np.sqrt(np.sum((weights - truth) ** 2)))
        for weights in (state["weights"], before)
    )
    return max(off, distance - distance_before)


if __name__ == "__main__":
    run(Program("logistic_regression", 1_000_000, setup, step, results, error))
