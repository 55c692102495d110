# SPDX-License-Identifier: Apache-2.0
"""Random programs whose points need what others have, on several processors.

``test_tiles.py`` runs this file on several machines.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import cupynumeric as cn
import numpy as np
import pytest
from comparison import counts, same, unfused
from tiers import examples

from legate_diffuse.launch import state

PROGRAMS = int(os.environ.get("PROGRAMS") or examples(20, 60))
# else arrays that are smaller than points need would be in one piece
vars(state)["TINY"] = int(os.environ.get("TINY", "0"))
# fewer rows than points, tiles smaller than what points need beside them, extents that
# no number of points divides
SHAPES = ((3,), (5,), (17,), (64,), (3, 4), (5, 33), (19, 7), (16, 16), (4, 5, 7))
Arrays = dict[str, Any]
# what else a program returns
SUMS = "sums"
Statement = Callable[[Any, Arrays], None]


def inner(rank: int) -> tuple[slice, ...]:
    return (slice(1, -1),) * rank


def beside(rank: int, dim: int, distance: int) -> tuple[slice, ...]:
    """Return the inner part, moved along a dimension."""
    part = list(inner(rank))
    part[dim] = slice(1 + distance, -1 + distance or None)
    return tuple(part)


def edge(rank: int, dim: int, end: int) -> tuple[Any, ...]:
    return (*(slice(None),) * dim, end, *(slice(None),) * (rank - dim - 1))


def statement(
    rng: random.Random, rank: int, names: list[str], *, changes: bool
) -> Statement:
    """Draw a statement that changes, or makes, one array, or sums."""
    target, a, b = (rng.choice(names) for _ in range(3))
    dim, other = rng.randrange(rank), rng.randrange(rank)
    one, two = rng.choice((-1, 1)), rng.choice((-1, 1))
    factor = rng.choice((0.25, 0.5, -0.5))
    middle = inner(rank)

    def sweep(n: Any, x: Arrays) -> None:
        old = x[a]
        work = old[beside(rank, dim, one)] + old[beside(rank, other, two)]
        x[target][middle] = factor * work

    def in_place(n: Any, x: Arrays) -> None:
        x[target][middle] += factor * x[a][beside(rank, dim, one)]

    def shifted(n: Any, x: Arrays) -> None:
        x[target][beside(rank, dim, one)] = x[a][middle] - x[b][middle]

    def point_wise(n: Any, x: Arrays) -> None:
        x[target] = factor * x[a] + x[b]

    def from_zero(n: Any, x: Arrays) -> None:
        new = n.zeros_like(x[a])
        new[middle] = x[a][middle] * x[b][beside(rank, dim, one)]
        x[target] = new

    def at_edge(n: Any, x: Arrays) -> None:
        x[target][edge(rank, dim, 0)] = x[a][edge(rank, dim, 1)]
        x[target][edge(rank, dim, -1)] = factor

    def around(n: Any, x: Arrays) -> None:
        # what is computed on the way may be too small to be divided
        ends = x[a][edge(rank, dim, 0)] + x[b][edge(rank, dim, -1)]
        x[target][edge(rank, dim, 0)] = factor * (ends - 1.0)
        x[target][edge(rank, dim, -1)] = ends * factor

    def wrapped(n: Any, x: Arrays) -> None:
        x[target][edge(rank, dim, 0)] = x[target][edge(rank, dim, -2)]
        x[target][edge(rank, dim, -1)] = x[target][edge(rank, dim, 1)]

    def ahead(n: Any, x: Arrays) -> None:
        # what one task has made another one changes and reads beside, and nobody after
        new = x[a] * factor
        new -= n.max(n.abs(new))
        x[target][middle] = new[beside(rank, dim, one)] + new[beside(rank, other, two)]

    # which of two zeros is the larger one depends on the order of points
    def by_row(n: Any, x: Arrays) -> None:
        largest = n.max(x[a], axis=-1, keepdims=True) + 0.0
        x[target] = x[b] - largest

    def from_sum(n: Any, x: Arrays) -> None:
        x[target] = x[b] * n.max(n.abs(x[a]))

    def from_rows(n: Any, x: Arrays) -> None:
        largest = n.rint(n.max(x[a], axis=-1)) + 0.0
        x[target] = x[b] * factor
        x[target] += n.sum(largest)

    def by_column(n: Any, x: Arrays) -> None:
        largest = n.max(x[a], axis=0) + 0.0
        x[target] = x[b] * factor + largest

    def copied(n: Any, x: Arrays) -> None:
        x[target] = x[a].copy()

    def summed(n: Any, x: Arrays) -> None:
        # what is summed is beside tiles, and no array is written
        first = x[a][beside(rank, dim, one)] - factor * x[b][middle]
        second = first[1:] * first[:-1]
        third = second[2:] - second[:-2]
        x[SUMS] += [n.sum(n.rint(third)), n.sum(n.rint(first))]

    def summed_beside(n: Any, x: Arrays) -> None:
        # what is written is smaller than what is summed
        first = x[a][beside(rank, dim, one)] - factor * x[b][middle]
        x[SUMS].append(n.sum(n.rint(first)))
        x[SUMS].append(first[1:] + first[:-1])

    if not changes:
        return summed
    kinds = [sweep, sweep, in_place, shifted, point_wise, from_zero, at_edge, around]
    kinds += [by_row, from_sum, from_rows, by_column, copied, summed, summed_beside]
    kinds += [wrapped, ahead]
    return rng.choice(kinds)


def run(package: Any, seed: int) -> list[np.ndarray]:
    rng = random.Random(seed)
    shape = rng.choice(SHAPES)
    generator = np.random.default_rng(seed)
    names = ["u", "v", "w"][: rng.randint(1, 3)]
    # whole numbers, and halves of them: there is no rounding for a while
    x = {name: package.array(generator.integers(-8, 8, shape) * 1.0) for name in names}
    # nobody else holds the memory
    x = {name: array * 1.0 for name, array in x.items()}
    x[SUMS] = []
    changes = rng.random() > 0.1
    body = [
        statement(rng, len(shape), names, changes=changes)
        for _ in range(rng.randint(2, 6))
    ]
    for _ in range(rng.randint(1, 3)):
        for each in body:
            each(package, x)
        # what goes on growing would overflow
        for name in names if changes else ():
            x[name] = package.minimum(package.maximum(x[name], -16.0), 16.0)
    found = [*(x[name] for name in names), *x[SUMS]]
    return [np.asarray(array).copy() for array in found]


@pytest.mark.parametrize("first", range(0, PROGRAMS, 20))
def test_random_sweeps_agree(first: int) -> None:
    for seed in range(first, first + 20):
        expected = run(np, seed)
        fused = run(cn, seed)
        with unfused():
            as_submitted = run(cn, seed)
        for array, original, right in zip(fused, as_submitted, expected, strict=True):
            same(array, original, f"seed {seed}")
            np.testing.assert_allclose(original, right, rtol=1e-12, atol=1e-12)


def jacobi(package: Any, grid: Any) -> None:
    work = grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]
    grid[1:-1, 1:-1] = 0.25 * work


@pytest.mark.parametrize("side", [4, 7, 30])
def test_sweeps_are_one_task_and_move_to_another_store(side: int) -> None:
    values = np.random.default_rng(side).random((side, side))
    grids = {}
    for package in (np, cn):
        grid = package.array(values) * 2.0
        view = grid[1:, 1:]
        if package is cn:
            counts(lambda grid=grid: jacobi(cn, grid))
            done = counts(lambda grid=grid: jacobi(cn, grid))
            assert done["tasks_submitted"] == 1
        else:
            jacobi(np, grid)
            jacobi(np, grid)
        # views of it show what has come
        grids[package] = np.asarray(grid), np.asarray(view)
    for found, right in zip(grids[cn], grids[np], strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-14)


def test_hints_end_no_window() -> None:
    values = np.random.default_rng(0).random((9, 9))
    grids = [package.array(values) * 2.0 for package in (np, cn)]

    def hinted() -> None:
        for _ in range(2):
            grids[1].stencil_hint((2, 2), (2, 2))
            jacobi(cn, grids[1])

    counts(hinted)
    assert counts(hinted)["tasks_submitted"] == 1
    for _ in range(4):
        jacobi(np, grids[0])
    np.testing.assert_allclose(np.asarray(grids[1]), grids[0], rtol=1e-14)


def test_what_the_application_holds_does_not_move() -> None:
    values = np.random.default_rng(0).random((9, 9))
    grid = cn.array(values) * 1.0
    held = np.asarray(grid.__array__())
    jacobi(cn, grid)
    expected = values * 1.0
    jacobi(np, expected)
    np.testing.assert_allclose(np.asarray(grid), expected, rtol=1e-14)
    del held


def softmax(package: Any, scores: Any) -> Any:
    weights = package.exp(scores - package.max(scores, axis=1, keepdims=True))
    return weights / package.sum(weights, axis=1, keepdims=True)


@pytest.mark.parametrize("shape", [(2, 40), (7, 3), (33, 10)])
def test_sums_of_rows_end_no_task(shape: tuple[int, int]) -> None:
    values = np.random.default_rng(0).random(shape)
    scores = cn.array(values) * 1.0
    counts(lambda: softmax(cn, scores))
    results = []
    done = counts(lambda: results.append(softmax(cn, scores)))
    assert done["tasks_submitted"] == 1
    np.testing.assert_allclose(np.asarray(results[0]), softmax(np, values), rtol=1e-13)


def add_largest_of_columns(package: Any, cube: Any, plane: Any) -> None:
    # no points divide its rows
    half = len(plane) // 2
    plane[:half] = plane[half:]
    largest = package.max(plane, axis=0)
    plane += largest
    cube += largest


@pytest.mark.parametrize("rows", [6, 20, 400])
def test_points_have_all_of_a_result_along_what_they_do_not_divide(rows: int) -> None:
    generator = np.random.default_rng(rows)
    values = (
        generator.integers(-8, 8, (3, 40, 33)),
        generator.integers(-8, 8, (rows, 33)),
    )
    cube, plane = (cn.array(each) * 1.0 for each in values)
    right = [each * 1.0 for each in values]
    for _ in range(2):
        done = counts(lambda: add_largest_of_columns(cn, cube, plane))
        add_largest_of_columns(np, *right)
    assert done["tasks_submitted"] - done["fills_submitted"] == 1
    for found, expected in zip((cube, plane), right, strict=True):
        np.testing.assert_array_equal(np.asarray(found), expected)


def sum_and_sweep(package: Any, x: Any, y: Any) -> Any:
    doubled = x * 2
    total = package.sum(doubled)
    y[1:-1] = doubled[:-2] + doubled[2:]
    return total


def test_sums_hold_what_two_points_compute_once() -> None:
    x, y = (cn.arange(64.0) * 1.0 for _ in range(2))
    assert float(sum_and_sweep(cn, x, y)) == 64 * 63
    right = np.arange(64.0)
    sum_and_sweep(np, np.arange(64.0), right)
    np.testing.assert_array_equal(np.asarray(y), right)
