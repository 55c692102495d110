# SPDX-License-Identifier: Apache-2.0
"""A multigrid V-cycle on assembled matrices, for ``bench.py assembled``.

Levels halve a grid until it has few points on a side. Corrections are interpolated
bilinearly and residuals go down by the transpose, a quarter of it; the matrices of
coarser levels are products of these with the finer one (Galerkin). A step of weighted
Jacobi smooths before and after the correction, and is all on the coarsest level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

WEIGHT = 0.8
COARSEST = 3
# Puts the product of a matrix with the first argument into the second one.
Product = Callable[[Any, Any], Any]
# Where rows begin, the columns and the values.
Compressed = tuple[Any, Any, Any]


@dataclass(frozen=True)
class Level:
    """The matrices of a level, and those to the coarser one and from it."""

    matrix: Compressed
    down: Compressed | None
    up: Compressed | None
    weights: Any


def levels_of(matrix: Compressed, size: int) -> list[Level]:
    """Return all levels, the finest first."""
    from scipy.sparse import csr_array

    fine = csr_array((matrix[2], matrix[1], matrix[0]))
    found = []
    while size > COARSEST:
        up = _interpolation(size)
        down = csr_array(0.25 * up.T)
        parts = (_parts(each) for each in (fine, down, up))
        found.append(Level(*parts, WEIGHT / fine.diagonal()))
        fine, size = down @ fine @ up, size // 2
    found.append(Level(_parts(fine), None, None, WEIGHT / fine.diagonal()))
    return found


def _interpolation(size: int) -> Any:
    from scipy.sparse import csr_array, kron

    points = np.arange(size // 2)
    rows = [2 * points, 2 * points + 1, 2 * points + 2]
    weights = np.repeat([0.5, 1.0, 0.5], len(points))
    line = (weights, (np.concatenate(rows), np.tile(points, 3)))
    along = csr_array(line, shape=(2 * len(points) + 1, len(points)))[:size]
    return csr_array(kron(along, along))


def _parts(matrix: Any) -> Compressed:
    matrix.sort_indices()
    return (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(np.float64),
    )


def write(target: Any, *matrices: Compressed) -> None:
    """Write matrices as the programs in C read them."""
    for begins, columns, values in matrices:
        np.array([len(begins) - 1, len(values)]).tofile(target)
        np.stack([begins[:-1], begins[1:] - 1], axis=1).tofile(target)
        columns.tofile(target)
        values.tofile(target)


def write_levels(target: Any, levels: list[Level]) -> None:
    """Write all levels as the program in C reads them."""
    np.array([len(levels)]).tofile(target)
    for level in levels:
        matrices = (level.matrix, level.down, level.up)
        write(target, *(each for each in matrices if each is not None))


def solver(
    package: Any,
    levels: list[Level],
    product_of: Callable[[Compressed, int], Product],
    x: Any,
    r: Any,
) -> Callable[[Any], Any]:
    """Return an iteration, which goes on from x and returns the square of the residual.

    The right-hand side is 1 everywhere. ``product_of`` takes a matrix and how many
    columns it has.
    """
    counts = [len(level.weights) for level in levels]
    weights = [package.array(level.weights) for level in levels]
    of = [product_of(level.matrix, n) for level, n in zip(levels, counts, strict=True)]
    down = [
        product_of(level.down, n)
        for level, n in zip(levels, counts, strict=True)
        if level.down is not None
    ]
    up = [
        product_of(level.up, n)
        for level, n in zip(levels, counts[1:], strict=False)
        if level.up is not None
    ]

    def multiply(product: Product, x: Any, count: int) -> Any:
        found = package.empty(count)
        product(x, found)
        return found

    def cycle(n: int, r: Any) -> Any:
        x = weights[n] * r
        if n == len(levels) - 1:
            return x
        residual = r - multiply(of[n], x, counts[n])
        correction = cycle(n + 1, multiply(down[n], residual, counts[n + 1]))
        x = x + multiply(up[n], correction, counts[n])
        return x + weights[n] * (r - multiply(of[n], x, counts[n]))

    def step(_: Any) -> Any:
        x[:] += cycle(0, r)
        r[:] = 1.0 - multiply(of[0], x, counts[0])
        return package.dot(r, r)

    return step
