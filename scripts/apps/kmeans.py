# SPDX-License-Identifier: Apache-2.0
"""k-means clustering: Lloyd's algorithm on points around known centres.

Each iteration gives every point to the nearest centre, and moves the centres to
the means of their points. The clusters lie so far apart, and the iteration
starts so close to them, that the means are known.

Reference: S. P. Lloyd, "Least Squares Quantization in PCM", IEEE Trans. Inf.
Theory 28 (1982).
"""

from __future__ import annotations

from typing import Any

from harness import Program, State, run

CLUSTERS = 8
FEATURES = 4
SPREAD = 0.5  # half the width of a cluster; centres are 2 apart on each axis
# Fractional parts of multiples of square roots of primes: no two columns alike.
STEPS = (0.4142135623730951, 0.7320508075688772, 0.23606797749979, 0.6457513110645906)


def setup(np: Any, size: int, dtype: str) -> State:
    """Make the points in turn for each cluster, and start beside the centres."""
    index = np.arange(size)
    cluster = index % CLUSTERS
    points = np.zeros((size, FEATURES), dtype=dtype)
    for feature, step in enumerate(STEPS):
        offset = SPREAD * (2.0 * ((index * step) % 1.0) - 1.0)
        points[:, feature] = 2.0 * ((cluster + feature) % CLUSTERS) + offset
    places = np.arange(CLUSTERS)
    centers = np.zeros((CLUSTERS, FEATURES), dtype=dtype)
    for feature in range(FEATURES):
        centers[:, feature] = 2.0 * ((places + feature) % CLUSTERS) + 0.25
    means = np.zeros((CLUSTERS, FEATURES))
    for k in range(CLUSTERS):
        own = (cluster == k).astype("float64")
        means[k] = np.sum(own[:, None] * points, axis=0) / np.sum(own)
    return {"points": points, "centers": centers, "means": means}


def step(np: Any, state: State) -> None:
    """Assign the points, and move the centres."""
    points, centers = state["points"], state["centers"]
    distances = np.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=2)
    labels = np.argmin(distances, axis=1)
    members = (labels[:, None] == np.arange(CLUSTERS)).astype(points.dtype)
    state["centers"] = (members.T @ points) / np.sum(members, axis=0)[:, None]


def results(state: State) -> dict[str, Any]:
    """Return the centres."""
    return {"centers": state["centers"]}


def error(np: Any, state: State) -> float:
    """Return how far the centres are from the means of the clusters."""
    off = np.max(np.abs(state["centers"] - state["means"]))
    return float(off) / (2.0 * CLUSTERS)


if __name__ == "__main__":
    run(Program("kmeans", 1_000_000, setup, step, results, error))
