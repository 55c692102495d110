# SPDX-License-Identifier: Apache-2.0
"""Loops over arrays with short axes: joined, reordered, packed (JoinedRow).

Values are small integers, so that sums do not depend on their order.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from comparison import differential
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tiers import examples

DTYPES = ["float64", "float32", "int32", "int8", "bool", "complex128", "float16"]
EXTENTS = st.sampled_from([1, 2, 3, 4, 5, 8, 15, 17, 131])
SHAPES = (
    st.lists(EXTENTS, min_size=2, max_size=4)
    .map(tuple)
    .filter(lambda shape: prod(shape) <= 40_000)
)


def values(n: Any, shape: tuple[int, ...], dtype: str, salt: int) -> Any:
    numbers = (np.arange(prod(shape)) * (2 * salt + 3) + salt) % 7 - (dtype != "bool")
    return n.array(numbers.astype(dtype).reshape(shape))


def operand(
    n: Any, shape: tuple[int, ...], dtype: str, salt: int, how: tuple[str, ...]
) -> Any:
    """Return an array that broadcasts to a shape: along some axes it repeats.

    Or it is a part of a larger one, which may lie in memory the other way round.
    """
    own = tuple(1 if h == "repeats" else e for e, h in zip(shape, how, strict=True))
    larger = tuple(e + 2 * (h == "part") for e, h in zip(own, how, strict=True))
    part = tuple(slice(1, -1) if h == "part" else slice(None) for h in how)
    if salt % 2:
        return values(n, larger[::-1], dtype, salt).T[part]
    return values(n, larger, dtype, salt)[part]


HOW = st.sampled_from(["plain", "plain", "repeats", "part"])


@settings(max_examples=examples(60, 1000), deadline=None)
@given(st.data(), SHAPES, st.sampled_from(DTYPES))
def test_elements(data: st.DataObject, shape: tuple[int, ...], dtype: str) -> None:
    hows = [data.draw(st.tuples(*[HOW] * len(shape))) for _ in range(3)]
    salts = data.draw(st.tuples(*[st.integers(0, 3)] * 3))
    flips = data.draw(st.booleans())

    def program(n: Any) -> Any:
        a, b, c = (
            operand(n, shape, dtype, salt, how)
            for salt, how in zip(salts, hows, strict=True)
        )
        target = n.zeros(shape[::-1], dtype=dtype).T if flips else n.zeros(shape, dtype)
        target[...] = a * b + c
        target[...] = target + a
        return target, a * b - c if dtype != "bool" else a & b | c

    differential(program, originals=None)


@settings(max_examples=examples(60, 1000), deadline=None)
@given(st.data(), SHAPES, st.sampled_from(DTYPES[:4]), st.sampled_from(["sum", "max"]))
def test_reductions(
    data: st.DataObject, shape: tuple[int, ...], dtype: str, name: str
) -> None:
    axes = data.draw(
        st.sets(st.integers(0, len(shape) - 1), min_size=1).map(sorted).map(tuple)
    )
    hows = [data.draw(st.tuples(*[HOW] * len(shape))) for _ in range(2)]
    salts = data.draw(st.tuples(*[st.integers(0, 3)] * 2))
    assume(dtype != "int8" or name == "max")

    def program(n: Any) -> Any:
        a, b = (
            operand(n, shape, dtype, salt, how)
            for salt, how in zip(salts, hows, strict=True)
        )
        whole = a * b
        result = n.zeros(shape, dtype) + whole
        for axis in reversed(axes):
            result = getattr(result, name)(axis=axis)
        product = (a - b) * (a + n.zeros(shape, dtype))
        # no -0.0: which zero is the maximum depends on the order
        first = getattr(product + n.zeros(shape, dtype), name)(axis=axes[0])
        return result, first, first * 2

    differential(program, originals=None)


@pytest.mark.parametrize("shape", [(9000, 3), (3, 9000), (700, 3, 4), (50, 2, 2, 40)])
def test_places_along_short_axes(shape: tuple[int, ...]) -> None:
    def program(n: Any) -> Any:
        places = n.arange(shape[-1]) + 10 * n.arange(shape[0]).reshape(
            -1, *[1] * (len(shape) - 1)
        )
        x = n.ones(shape) * places
        return x, x.T + 1, n.where(x > 3, x, -x).sum(axis=-1), x.sum(axis=0)

    differential(program, originals=None)
