# SPDX-License-Identifier: Apache-2.0
"""Reductions on GPUs, in whatever order threads and blocks run."""

from __future__ import annotations

import functools
from itertools import product

import numpy as np
import pytest
from batches import Batch
from every import every
from launches import aligned
from test_codegen_reductions import EVERY, reduced, reduction_kernel, values
from tiers import examples

from legate_diffuse.kernel import Argument, Builder, Kernel
from legate_diffuse.kernel.dtypes import COMPLEX, FLOATS

SEEDS = (1, 0, 2)[: examples(1, 3)]
SOME = [("add", "float64"), ("max", "int8"), ("mul", "complex64"), ("or", "bool")]
SOME += [("min", "float16"), ("add", "complex128"), ("add", "int32")]


def operator_of(case: tuple[str, str]) -> str:
    return case[0]


def in_memory(array: np.ndarray, offset: int = 0) -> np.ndarray:
    made = aligned(array.shape, array.dtype.name, offset)
    made[...] = array
    return made


@functools.cache
def sums() -> Kernel:
    """x.sum(), x.sum(0), x.sum(1) and x.max(), while x is changed."""
    builder = Builder(
        [
            Argument("float64", reads=True, writes=True),
            *[Argument("float64", False, False, reduces="add")] * 3,
            Argument("float64", False, False, reduces="max"),
        ],
        [],
    )
    x = builder.load(0)
    for argument in range(1, 5):
        builder.reduce(argument, x)
    builder.store(0, builder.op("add", "float64", x, x))
    return builder.build()


@pytest.fixture(scope="module")
def batch() -> Batch:
    kernels = [reduction_kernel(*each, broadcast=False) for each in EVERY]
    return Batch([*kernels, sums()])


@every(("operator", "dtype"), EVERY, by=operator_of)
@every("offset", [False, True])
def test_all_points(batch, operator, dtype, offset) -> None:
    kernel = reduction_kernel(operator, dtype, broadcast=False)
    for shape in ((1,), (31,), (1000,), (3, 2001), (700, 5)):
        x = in_memory(values(operator, dtype, shape), np.dtype(dtype).itemsize * offset)
        start = values(operator, dtype, (1,) * len(shape), seed=1)
        for seed in SEEDS:
            result = in_memory(start)
            batch.run(kernel, [x, result], seed=seed)
            np.testing.assert_array_equal(result, reduced(operator, start, x))


@every(("operator", "dtype"), SOME[:: examples(2, 1)], by=operator_of)
@every("inner", [0, 1, 2])
@every(
    "kept",
    [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)],
)
@every("shape", [(3, 5, 70), (40, 37, 2), (2, 700, 3)][: examples(2, 3)])
def test_along_axes(batch, operator, dtype, inner, kept, shape) -> None:
    """Whatever the inner loop is: a block reduces a row, or threads columns."""
    kernel = reduction_kernel(operator, dtype, broadcast=False)
    x = in_memory(values(operator, dtype, shape))
    small = tuple(n if keep else 1 for n, keep in zip(shape, kept, strict=True))
    start = values(operator, dtype, small, seed=1)
    result = in_memory(start)
    batch.run(kernel, [x, result], inner=inner)
    np.testing.assert_array_equal(result, reduced(operator, start, x))


@every(("operator", "dtype"), EVERY[:: examples(2, 1)], by=operator_of)
# more than the threads of a block
@every("shape", [(9, 400), (400, 9)])
@every("kept", [(1, 0), (0, 1)])
@every("inner", [0, 1])
def test_rows_and_columns_of_every_type(
    batch, operator, dtype, shape, kept, inner
) -> None:
    kernel = reduction_kernel(operator, dtype, broadcast=False)
    x = in_memory(values(operator, dtype, shape))
    small = tuple(n if keep else 1 for n, keep in zip(shape, kept, strict=True))
    start = values(operator, dtype, small, seed=1)
    for seed in SEEDS:
        result = in_memory(start)
        batch.run(kernel, [x, result], inner=inner, seed=seed)
        np.testing.assert_array_equal(result, reduced(operator, start, x))


LARGE = list(product([(2, 30000), (9000, 2)], [(1, 0), (0, 1)], [0, 1]))


@every(("shape", "kept", "inner"), LARGE[:: examples(3, 1)])
def test_several_blocks_share_a_row(batch, shape, kept, inner) -> None:
    kernel = reduction_kernel("add", "int64", broadcast=False)
    x = in_memory(values("add", "int64", shape))
    small = tuple(n if keep else 1 for n, keep in zip(shape, kept, strict=True))
    start = values("add", "int64", small, seed=1)
    result = in_memory(start)
    batch.run(kernel, [x, result], inner=inner, seed=3)
    np.testing.assert_array_equal(result, reduced("add", start, x))


@every("shape", [(100, 7), (7, 100), (65, 65)])
def test_several_patterns_in_one_kernel(batch, shape) -> None:
    x = in_memory(values("add", "float64", shape))
    before = x.copy()
    whole, columns, rows = (
        in_memory(np.ones(each)) for each in ((1, 1), (1, shape[1]), (shape[0], 1))
    )
    largest = in_memory(np.full((1, 1), -1e9))
    batch.run(sums(), [x, whole, columns, rows, largest])
    np.testing.assert_array_equal(x, 2 * before)
    for result in (whole, columns, rows):
        expected = reduced("add", np.ones(result.shape), before)
        np.testing.assert_array_equal(result, expected)
    assert largest[0, 0] == before.max()


@every("dtype", [*FLOATS, *COMPLEX])
def test_sums_have_the_same_bits_in_every_run(batch, dtype) -> None:
    kernel = reduction_kernel("add", dtype, broadcast=False)
    random = np.random.default_rng(3)
    for shape, small in (((60000,), (1,)), ((50, 900), (50, 1)), ((900, 50), (1, 50))):
        x = in_memory(random.standard_normal(shape).astype(dtype))
        results = set()
        for seed in range(5):
            result = in_memory(np.zeros(small, dtype))
            batch.run(kernel, [x, result], seed=seed)
            results.add(result.tobytes())
        assert len(results) == 1
        # pairwise, as good as NumPy's
        exact = x.astype(np.result_type(dtype, "float64")).sum(
            axis=None if small == (1,) else small.index(1), keepdims=True
        )
        part = np.finfo(dtype).eps * np.abs(x).sum() * 4
        assert np.abs(result - exact.reshape(small)).max() < part


@every("operator", ["min", "max"])
@every("dtype", FLOATS)
@every(
    "numbers",
    [[np.nan], [1.0, np.nan, -2.0], [np.nan, 5.0], [np.inf, np.nan], [-np.inf, np.inf]],
)
def test_extrema_of_nan_and_infinities(run, batch, operator, dtype, numbers) -> None:
    kernel = reduction_kernel(operator, dtype, broadcast=False)
    for repeats in (1, 40, 300):
        x = in_memory(np.array(numbers * repeats, dtype))
        result, expected = in_memory(np.zeros(1, dtype)), np.zeros(1, dtype)
        batch.run(kernel, [x, result])
        run(kernel, [x, expected])
        np.testing.assert_array_equal(result, expected)
