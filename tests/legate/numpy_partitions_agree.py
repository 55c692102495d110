# SPDX-License-Identifier: Apache-2.0
"""Ordinary programs, on several processors: fused, unfused and NumPy agree.

``test_partitioned_programs.py`` runs this file on several machines. Values are whole
numbers, or halves and the like, so that sums have no rounding in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupynumeric as cn
import numpy as np
import pytest
from comparison import counts, same, unfused

from legate_diffuse.launch import state

# else arrays that are smaller than points need would be in one piece
vars(state)["TINY"] = 0
ROUNDS = 3


def whole(n: Any, shape: tuple[int, ...], seed: int) -> Any:
    """Return an array of small whole numbers that nobody else has the memory of."""
    return n.array(np.random.default_rng(seed).integers(-4, 5, shape) * 1.0) * 1.0


def heat_with_walls(n: Any, shape: tuple[int, int]) -> list[Any]:
    """Steps of a plate with a warm, a cold and two insulated edges."""
    u = whole(n, shape, 0)
    for _ in range(ROUNDS):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] = 0.25 * around
        u[0, :], u[-1, :] = 1.0, -1.0
        u[:, 0], u[:, -1] = u[:, 1], u[:, -2]
    return [u]


def waves_around(n: Any, shape: tuple[int, int]) -> list[Any]:
    """Two fields, staggered, on a torus of rows: edges are written one by one."""
    height, flow = whole(n, shape, 1), whole(n, shape, 2)
    for _ in range(ROUNDS):
        flow[1:] -= 0.5 * (height[1:] - height[:-1])
        flow[0] -= 0.5 * (height[0] - height[-1])
        height[:-1] -= 0.5 * (flow[1:] - flow[:-1])
        height[-1] -= 0.5 * (flow[0] - flow[-1])
    return [height, flow, (height * 8.0).sum()]


def normalised_rows(n: Any, shape: tuple[int, int]) -> list[Any]:
    """Sums and extremes along each axis, used along that axis."""
    x = whole(n, shape, 3)
    for _ in range(ROUNDS):
        x = x - x.max(axis=1, keepdims=True)
        x = x + x.min(axis=0)
        x = n.where(x < -9.0, x + 9.0, x)
    return [x, x.sum(axis=0), x.sum(axis=1), x.max(), x.sum(axis=(0, 1))]


def power_iteration(n: Any, shape: tuple[int, int]) -> list[Any]:
    """Products of a matrix and a vector, scaled by the largest element."""
    side = min(shape)
    a, v = whole(n, (side, side), 4), whole(n, (side,), 5)
    for _ in range(ROUNDS):
        w = a.dot(v)
        v = n.rint(w * 4.0 / n.maximum(n.abs(w).max(), 1.0))
    return [v, w, v.dot(w)]


def masks(n: Any, shape: tuple[int, int]) -> list[Any]:
    """Assignments and sums where a condition holds."""
    x, y = whole(n, shape, 6), whole(n, shape, 7)
    for _ in range(ROUNDS):
        positive = (x > 0.0) & (y > -2.0)
        x = n.where(positive, x - y, y * 0.5)
        y[x < -2.0] = 2.0
        y *= positive
    return [x, y, positive, positive.sum()]


def transposed(n: Any, shape: tuple[int, int]) -> list[Any]:
    """Arrays used together with transposes of others."""
    x, y = whole(n, shape, 8), whole(n, shape[::-1], 9)
    for _ in range(ROUNDS):
        x = 0.5 * (x + y.T)
        y = (y - 2.0 * x.T) * 0.5
        x[1:] -= y.T[:-1]
    return [x, y, x.T[1:-1], (x + y.T).sum(axis=0)]


def gathered(n: Any, shape: tuple[int, int]) -> list[Any]:
    """A vector at places that an array has, rows that another one names."""
    x = whole(n, shape, 10)
    rows = n.array(np.random.default_rng(11).integers(0, shape[0], shape[0]))
    columns = n.array(np.random.default_rng(12).integers(0, shape[1], 2 * shape[1]))
    v = x.sum(axis=0)
    for _ in range(ROUNDS):
        w = v[columns]
        v = w[: shape[1]] - 0.5 * w[shape[1] :]
        x = x[rows] + v
    return [x, v, w]


def shifts(n: Any, shape: tuple[int, int]) -> list[Any]:
    """Differences of slices at several distances, in place and to new arrays."""
    x = whole(n, (shape[0] * shape[1],), 13)
    for distance in (1, 2, 5):
        y = x[distance:] - x[:-distance]
        x[distance:] -= 0.5 * y
        x[:-distance] = x[distance:] + y * 0.25
        x[3:-3] *= 0.5
    return [x, y, n.cumsum(x), n.flip(x) + x]


def conjugate_gradients(n: Any, shape: tuple[int, int]) -> list[Any]:
    """Sums that the next statements use; all numbers are rounded to whole ones."""
    x, r = n.zeros(shape), whole(n, shape, 14)
    p = r.copy()
    for _ in range(ROUNDS):
        q = n.zeros_like(p)
        q[1:-1, 1:-1] = 4.0 * p[1:-1, 1:-1] - p[:-2, 1:-1] - p[2:, 1:-1]
        alpha = n.rint((r * r).sum() / n.maximum((p * q).sum(), 1.0))
        x += alpha * p
        r = n.rint((r - alpha * q) / n.maximum(n.abs(r).max(), 1.0))
        p = r + n.sign((r * r).sum()) * p
    return [x, r, p]


def coarse_grids(n: Any, shape: tuple[int, int]) -> list[Any]:
    """Grids of half the rows: sums of pairs, and each row twice."""
    fine = whole(n, (2 * shape[0], shape[1]), 15)
    for _ in range(ROUNDS):
        pairs = fine.reshape(shape[0], 2, shape[1])
        coarse = 0.5 * pairs.sum(axis=1)
        coarse[1:-1] = coarse[:-2] - coarse[2:]
        fine = fine - n.repeat(coarse, 2, axis=0)
        fine = n.clip(fine, -16.0, 16.0)
    return [fine, coarse]


def distances(n: Any, shape: tuple[int, int]) -> list[Any]:
    """Pairs of points by broadcasting, and each one's nearest."""
    points = whole(n, (shape[0], 2), 16)
    for _ in range(ROUNDS):
        apart = points[:, None, :] - points[None, :, :]
        square = (apart * apart).sum(axis=2)
        points = n.rint(points + 0.25 * apart.sum(axis=1) / shape[0])
    return [points, square, square.min(axis=1), square.max()]


def joined(n: Any, shape: tuple[int, int]) -> list[Any]:
    """Arrays put together, rolled, padded by hand and reshaped."""
    x = whole(n, shape, 17)
    for _ in range(ROUNDS):
        y = n.concatenate([x[-1:], x, x[:1]])
        x = 0.5 * (y[:-2] + y[2:]) - n.roll(x, 1, axis=1)
        z = x.ravel().copy()[shape[0] :].reshape(shape[0], shape[1] - 1)
        x[:, 1:] += z
    return [x, y, z]


def block_sums(n: Any, shape: tuple[int, int]) -> list[Any]:
    """Three dimensions: planes, columns and edges of a cube."""
    x = whole(n, (4, *shape), 18)
    for _ in range(ROUNDS):
        mean = x.sum(axis=0) * 0.25
        x -= mean
        x[:, 1:-1] = x[:, :-2] + x[:, 2:]
        x[0], x[-1] = x[1], mean
        x[:, :, 0] = n.clip(x.sum(axis=2), -8.0, 8.0)
        x = n.clip(x, -32.0, 32.0)
    return [x, mean, x.sum(axis=(0, 2))]


def mixed_types(n: Any, shape: tuple[int, int]) -> list[Any]:
    """Integers, single precision and booleans in one loop."""
    x = whole(n, shape, 19).astype("float32")
    k = whole(n, shape, 20).astype("int32")
    for _ in range(ROUNDS):
        odd = k % 2 == 1
        x = n.where(odd, x * 0.5, x + k.astype("float32"))
        k[1:] = k[:-1] // 2 + odd[1:]
        k += x.astype("int32").sum(axis=0).astype("int32") % 3
    return [x, k, odd, k.sum(), k.max(axis=1)]


PROGRAMS: tuple[Callable[[Any, tuple[int, int]], list[Any]], ...] = (
    heat_with_walls,
    waves_around,
    normalised_rows,
    power_iteration,
    masks,
    transposed,
    gathered,
    shifts,
    conjugate_gradients,
    coarse_grids,
    distances,
    joined,
    block_sums,
    mixed_types,
)
SHAPES = ((4, 6), (7, 5), (33, 18))


def arrays(found: list[Any]) -> list[np.ndarray]:
    return [np.asarray(each).copy() for each in found]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_program_agrees(
    program: Callable[..., list[Any]], shape: tuple[int, int]
) -> None:
    expected = arrays(program(np, shape))
    rounds: list[list[np.ndarray]] = []
    # plans are made, proven, and used again
    done = [counts(lambda: rounds.append(arrays(program(cn, shape)))) for _ in "123"]
    assert all(each["groups"] > 0 and not each["failures"] for each in done)
    assert not any(each["plans_refuted"] for each in done)
    # tasks on several points sometimes race in Legate: what they give at most once in
    # three times is no result
    for _ in "123":
        with unfused():
            originals = arrays(program(cn, shape))
        if all(map(np.array_equal, originals, expected)):
            break
    for fused in rounds:
        for number, (found, original, right) in enumerate(
            zip(fused, originals, expected, strict=True)
        ):
            same(found, original, f"result {number} fused and unfused")
            same(found, right, f"result {number} fused and in NumPy")
