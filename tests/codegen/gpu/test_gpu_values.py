# SPDX-License-Identifier: Apache-2.0
"""Values that GPUs give, and CPUs do not; indices, scalars, neighbours and layouts."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from batches import Batch
from every import every
from launches import aligned

from legate_diffuse.codegen.gpu.parameters import Layout
from legate_diffuse.kernel import Argument, Builder, Kernel
from legate_diffuse.kernel.dtypes import FLOATS, INTEGERS

CASTS = [(source, target) for source in FLOATS for target in INTEGERS]


@functools.cache
def cast_kernel(source: str, target: str) -> Kernel:
    builder = Builder(
        [Argument(source, True, False), Argument(target, False, True)], []
    )
    builder.store(1, builder.op("cast", target, builder.load(0)))
    return builder.build()


@functools.cache
def division_kernel(name: str, dtype: str) -> Kernel:
    arguments = [Argument(dtype, True, False)] * 2 + [Argument(dtype, False, True)]
    builder = Builder(arguments, [])
    builder.store(2, builder.op(name, dtype, builder.load(0), builder.load(1)))
    return builder.build()


@functools.cache
def index_kernel() -> Kernel:
    """Return 100 i + j + s, where s is a scalar, and what broadcasts along the rows."""
    builder = Builder(
        [
            Argument("int64", False, True),
            Argument("int64", True, False, broadcast=True),
        ],
        ["int64"],
    )
    hundred = builder.constant("int64", 100)
    row = builder.op("mul", "int64", builder.index(1), hundred)
    total = builder.op("add", "int64", row, builder.index(0))
    total = builder.op("add", "int64", total, builder.scalar(0))
    builder.store(0, builder.op("add", "int64", total, builder.load(1)))
    return builder.build()


@functools.cache
def stencil_kernel() -> Kernel:
    """Return the mean of four neighbours."""
    read = Argument("float64", True, False, prefetch=True)
    builder = Builder([*[read] * 4, Argument("float64", False, True)], [])
    total = builder.load(0)
    for number in (1, 2, 3):
        total = builder.op("add", "float64", total, builder.load(number))
    quarter = builder.constant("float64", 0.25)
    builder.store(4, builder.op("mul", "float64", total, quarter))
    return builder.build()


@functools.cache
def mixed_kernel() -> Kernel:
    """Return the product of complex numbers where a mask is set, in place."""
    builder = Builder(
        [
            Argument("complex64", True, True),
            Argument("bool", True, False),
            Argument("float16", False, True),
        ],
        ["complex64"],
    )
    x = builder.load(0)
    made = builder.op("complex_mul", "complex64", x, builder.scalar(0))
    parts = []
    for part in ("real", "imag"):
        one, other = (builder.op(part, "float32", v) for v in (made, x))
        parts.append(builder.op("select", "float32", builder.load(1), one, other))
    builder.store(0, builder.op("complex", "complex64", *parts))
    builder.store(2, builder.op("cast", "float16", parts[0]))
    return builder.build()


def all_kernels() -> list[Kernel]:
    kernels = [cast_kernel(*each) for each in CASTS]
    for name in ("quotient", "remainder"):
        kernels += [division_kernel(name, dtype) for dtype in INTEGERS]
    return [*kernels, index_kernel(), stencil_kernel(), mixed_kernel()]


@pytest.fixture(scope="module")
def batch() -> Batch:
    return Batch(all_kernels())


def placed(values: np.ndarray, offset: int = 0) -> np.ndarray:
    made = aligned(values.shape, values.dtype.name, offset)
    made[...] = values
    return made


def converted(x: float, source: str, target: str) -> int:
    """Return what PTX's ``cvt.rzi`` gives, and nvcc makes of it."""
    limits = np.iinfo(target)
    if limits.bits < 32:
        wide = "int32" if limits.min else "uint32"
        return int(np.array(converted(x, source, wide)).astype(target))
    if math.isnan(x):
        if source == "float64" or limits.bits == 64:
            return limits.min or 1 << limits.bits - 1
        return 0
    if math.isinf(x):
        return limits.max if x > 0 else limits.min
    return max(limits.min, min(limits.max, int(x)))


@every(("source", "target"), CASTS)
def test_floats_become_the_nearest_integers(batch, source, target) -> None:
    numbers = [0.0, 0.9, 1.5, 127.5, 200.0, 300.7, 40000.3, 2.0**31, 2.0**32 + 512]
    numbers += [2.0**62, 2.0**63, 1.5 * 2.0**63, 2.0**64, 1e30, math.inf, math.nan]
    x = placed(np.array([*numbers, *(-each for each in numbers)], source))
    result = placed(np.zeros(x.shape, target))
    batch.run(cast_kernel(source, target), [x, result])
    assert result.tolist() == [converted(float(each), source, target) for each in x]


@every("name", ["quotient", "remainder"])
@every("dtype", INTEGERS)
def test_division_by_zero_gives_zero(batch, name, dtype) -> None:
    x = placed(np.array([0, 1, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype))
    result = placed(np.full(x.shape, 77, dtype))
    batch.run(division_kernel(name, dtype), [x, placed(np.zeros_like(x)), result])
    assert not result.any()


@every("shape", [(1, 1), (3, 5), (7, 300), (300, 2), (2, 3, 4, 9)])
@every("inner", [0, 1])
@every("layout", [None, Layout.STRIDED])
@every("chunk", [None, 5])
def test_indices_and_scalars(batch, shape, inner, layout, chunk) -> None:
    added = np.arange(shape[-2])[:, None]
    result = placed(np.zeros(shape, "int64"))
    chosen = Layout.STRIDED if inner != len(shape) - 1 else layout
    options = {"inner": inner, "layout": chosen, "chunk": chunk}
    batch.run(index_kernel(), [result, placed(added)], [1000], **options)
    i, j = (np.arange(10, 10 + n) for n in shape[-2:])
    expected = 100 * i[:, None] + j + 1000 + added
    np.testing.assert_array_equal(result, np.broadcast_to(expected, shape))


@every("shape", [(3, 3), (20, 67), (70, 5)])
@every("layout", ["rows", "columns", "reversed"])
@every("chunk", [None, 3])
def test_neighbours(batch, shape, layout, chunk) -> None:
    x = placed(np.random.default_rng(0).standard_normal(shape))
    result = placed(np.zeros(shape))
    if layout == "columns":
        x, result = x.T, result.T
    elif layout == "reversed":
        x, result = x[::-1, ::-1], result[::-1, ::-1]
    sides = [x[:-2, 1:-1], x[2:, 1:-1], x[1:-1, :-2], x[1:-1, 2:]]
    batch.run(stencil_kernel(), [*sides, result[1:-1, 1:-1]], chunk=chunk)
    expected = (sides[0] + sides[1] + sides[2] + sides[3]) * 0.25
    np.testing.assert_array_equal(result[1:-1, 1:-1], expected)
    border = result.copy()
    border[1:-1, 1:-1] = 0
    assert not border.any()


@every("n", [1, 2, 3, 8, 1001])
@every("layout", [None, Layout.STRIDED])
def test_types_of_several_sizes(batch, n, layout) -> None:
    random = np.random.default_rng(n)
    numbers = random.integers(-9, 9, n) + 1j * random.integers(-9, 9, n)
    x = placed(numbers.astype("complex64"))
    mask = placed(random.integers(0, 2, n) == 1)
    half = placed(np.zeros(n, "float16"))
    expected = np.where(mask, x * (2 - 1j), x)
    batch.run(mixed_kernel(), [x, mask, half], [2 - 1j], layout=layout)
    np.testing.assert_array_equal(x, expected)
    np.testing.assert_array_equal(half, expected.real.astype("float16"))
