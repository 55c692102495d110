# SPDX-License-Identifier: Apache-2.0
"""The index of a point, whatever the layout of the arguments."""

import numpy as np
import pytest
from compiled_kernels import MANY
from hypothesis import given, settings
from hypothesis import strategies as st
from test_codegen_strides import layouts, view
from tiers import examples

from legate_diffuse.kernel import Argument, Builder

FIRST = 10
"""The index that the fixture `run` gives the first point."""


def index_kernel(dtype="int64", broadcast=False):
    """y = 1000 * row + column + x."""
    builder = Builder(
        [
            Argument("int64", reads=True, writes=False, broadcast=broadcast),
            Argument(dtype, reads=False, writes=True),
        ],
        [],
    )
    thousand = builder.constant("int64", 1000)
    row = builder.op("mul", "int64", builder.index(1), thousand)
    place = builder.op("add", "int64", row, builder.index(0))
    total = builder.op("add", "int64", place, builder.load(0))
    if dtype != "int64":
        total = builder.op("cast", dtype, total)
    builder.store(1, total)
    return builder.build()


def expected(x, shape):
    rows, columns = np.indices(shape) + FIRST
    return 1000 * rows + columns + x


shapes = st.tuples(st.integers(1, 5), st.sampled_from([1, 3, 16, 17, 130, 300]))


@settings(max_examples=examples(50, 200), deadline=None)
@given(st.data(), shapes, st.booleans(), st.sampled_from(["int64", "int16", "float64"]))
def test_any_layout(run, data, shape, broadcast, dtype):
    x = view("int64", shape, data.draw(layouts(shape)))
    if broadcast:
        x = x[:, :1]
    y = view(dtype, shape, data.draw(layouts(shape)))
    run(index_kernel(dtype, broadcast), [x, y])
    np.testing.assert_array_equal(y, expected(x, shape).astype(dtype))


@pytest.mark.parametrize("extra", [0, 1])
def test_where_outputs_bypass_the_caches(run, extra):
    """Both where the first element lies on a cache line, and where it does not."""
    builder = Builder([Argument("int64", reads=False, writes=True)], [])
    builder.store(0, builder.index(0))
    y = np.zeros(3021, "int64")[extra:]
    run(builder.build(), [y], unread=MANY)
    np.testing.assert_array_equal(y, np.arange(FIRST, FIRST + y.size))


@pytest.mark.parametrize("shape", [(5, 1), (1, 37), (1, 1), (5, 37)])
def test_reduction_of_indices(run, shape):
    builder = Builder(
        [
            Argument("int64", reads=True, writes=False),
            Argument("int64", False, False, reduces="add"),
        ],
        [],
    )
    product = builder.op("mul", "int64", builder.index(0), builder.load(0))
    builder.reduce(1, product)
    x, result = np.arange(5 * 37).reshape(5, 37), np.ones(shape, "int64")
    axes = tuple(axis for axis in (0, 1) if shape[axis] == 1)
    run(builder.build(), [x, result])
    terms = x * (np.arange(37) + FIRST)
    np.testing.assert_array_equal(result, 1 + terms.sum(axes, keepdims=True))
