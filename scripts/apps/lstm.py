# SPDX-License-Identifier: Apache-2.0
"""A step of a long short-term memory network, over a batch of sequences.

Reference: S. Hochreiter and J. Schmidhuber, "Long Short-Term Memory", Neural
Computation 9 (1997), with the forget gate of F. A. Gers, J. Schmidhuber and F.
Cummins, "Learning to Forget", Neural Computation 12 (2000).
"""

from __future__ import annotations

from typing import Any

from harness import Program, State, run

INPUTS = 32
HIDDEN = 64


def setup(np: Any, size: int, dtype: str) -> State:
    """Make the inputs of size sequences, and the weights of the four gates."""

    def spread(rows: int, columns: int, step: float, width: float) -> Any:
        index = np.arange(rows * columns).reshape(rows, columns)
        return (width * (2.0 * ((index * step) % 1.0) - 1.0)).astype(dtype)

    return {
        "x": spread(size, INPUTS, 0.6180339887498949, 1.0),
        "from_x": spread(INPUTS, 4 * HIDDEN, 0.4142135623730951, INPUTS**-0.5),
        "from_h": spread(HIDDEN, 4 * HIDDEN, 0.3027756377319946, HIDDEN**-0.5),
        "bias": spread(1, 4 * HIDDEN, 0.7320508075688772, 0.1),
        "h": np.zeros((size, HIDDEN), dtype=dtype),
        "c": np.zeros((size, HIDDEN), dtype=dtype),
    }


def sigmoid(np: Any, x: Any) -> Any:
    """Return the logistic function."""
    return 1.0 / (1.0 + np.exp(-x))


def gates(state: State, h: Any) -> list[Any]:
    """Return the activations of input, forget and output gate, and of the cell."""
    a = state["x"] @ state["from_x"] + h @ state["from_h"] + state["bias"]
    return [a[:, k * HIDDEN : (k + 1) * HIDDEN] for k in range(4)]


def step(np: Any, state: State) -> None:
    """Take the same inputs in once more."""
    state["before"] = state["h"], state["c"]
    enter, forget, leave, cell = gates(state, state["h"])
    kept = sigmoid(np, forget) * state["c"]
    state["c"] = kept + sigmoid(np, enter) * np.tanh(cell)
    state["h"] = sigmoid(np, leave) * np.tanh(state["c"])


def results(state: State) -> dict[str, Any]:
    """Return the output and the cell's state."""
    return {"h": state["h"], "c": state["c"]}


def error(np: Any, state: State) -> float:
    """Return how far the last step is from one by other formulas.

    1 / (1 + exp(-x)) is (1 + tanh(x / 2)) / 2, and tanh(x) is 1 - 2 / (exp(2 x) + 1).
    """
    h, c = state["before"]
    enter, forget, leave, cell = gates(state, h)
    enter, forget, leave = (
        0.5 + 0.5 * np.tanh(0.5 * gate) for gate in (enter, forget, leave)
    )
    c = forget * c + enter * (1.0 - 2.0 / (np.exp(2.0 * cell) + 1.0))
    h = leave * (1.0 - 2.0 / (np.exp(2.0 * c) + 1.0))
    off_c = float(np.max(np.abs(c - state["c"])))
    return max(off_c, float(np.max(np.abs(h - state["h"]))))


if __name__ == "__main__":
    run(Program("lstm", 20_000, setup, step, results, error))
