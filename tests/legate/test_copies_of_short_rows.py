# SPDX-License-Identifier: Apache-2.0
"""Copies in which dimensions are short, or go on in equal steps in memory."""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

PROGRAM = """
from itertools import permutations
SHAPES = ((40, 1), (1, 40), (300, 2), (2, 300), (7, 40, 3), (40, 3, 7), (3, 7, 1, 40))
INDICES = (
    (), (slice(1, None), ...), (..., slice(0, 1)), (slice(-2, None), ...),
    (slice(1, -1), slice(0, 2)),
)
def results(n):
    for shape in SHAPES:
        size = int(np.prod(shape))
        whole = (n.arange(size) * 37 % 101).astype(DTYPE).reshape(shape)
        for index in INDICES:
            part = whole[index]
            for axes in permutations(range(len(shape))):
                shown = part.transpose(axes)
                yield shown.copy()
                yield shown.reshape(-1)
                made = n.zeros(shown.shape, dtype=DTYPE)
                made[:] = shown
                yield made
                back = n.zeros(shape, dtype=DTYPE)
                back[index].transpose(axes)[:] = shown
                yield back
for one, other in zip(results(cn), results(np), strict=True):
    assert one.dtype == other.dtype and one.shape == other.shape
    assert np.array_equal(one, other)
"""


@pytest.mark.parametrize(
    "dtype", ["bool", "int16", "float32", "float64", "complex64", "complex128"]
)
def test_every_element_arrives(dtype: str) -> None:
    run_here(f"DTYPE = {dtype!r}\n" + PROGRAM, fuses=False)


def test_many_rows_are_joined_and_moved() -> None:
    run_here("""
def program(n):
    rows = n.arange(9000.0).reshape(3000, 3)
    columns = rows.T.copy()
    found = [n.concatenate((rows, rows[:, :1]), axis=1), columns.T.copy()]
    found += [n.stack((rows[:, 0], rows[:, 2]), axis=1), n.hstack((rows[:, 1:], rows))]
    rows[:, :2] = found[2]
    rows[5:, 2:] = columns.T[5:, 1:2]
    return [*found, rows]
agree(program)
""")
