# SPDX-License-Identifier: Apache-2.0
"""Reductions of any layout, against NumPy."""

import functools
import math
import operator

import numpy as np
from compiled_kernels import MANY
from every import every
from hypothesis import given, settings
from hypothesis import strategies as st
from test_codegen_strides import layouts, view
from tiers import examples

from legate_diffuse.codegen import Compiler
from legate_diffuse.codegen.cache import ObjectCache
from legate_diffuse.codegen.reduction import POINTS_PER_CALL
from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.kernel.dtypes import COMPLEX, FLOATS, INTEGERS
from legate_diffuse.kernel.reductions import REDUCTIONS, identity

UFUNC = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.logical_and,
    "or": np.logical_or,
}
EVERY = [(name, dtype) for name, dtypes in REDUCTIONS.items() for dtype in dtypes]
LENGTHS = [1, 2, 7, 8, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 1000]


def reduction_kernel(name, dtype, broadcast=True):
    builder = Builder(
        [
            Argument(dtype, reads=True, writes=False),
            Argument(dtype, False, False, broadcast, reduces=name),
        ],
        [],
    )
    builder.reduce(1, builder.load(0))
    return builder.build()


def values(name, dtype, shape, seed=0):
    """Values of which sums and products are exact, in any order."""
    random = np.random.default_rng(seed)
    if dtype == "bool":
        rare = random.integers(0, 200, shape) == 0
        return ~rare if name == "and" else rare
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        numbers = random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        return numbers | np.dtype(dtype).type(name == "mul")
    if name == "mul":
        factors = [1.0, -1.0] if dtype == "float16" else [0.5, 2.0, -1.0]
        if dtype in COMPLEX:
            factors = [0.5j, 2.0j, -1.0, 1.0j]
        return random.choice(factors, shape).astype(dtype)
    limit = 2 if dtype == "float16" else 1000
    numbers = random.integers(-limit, limit, shape)
    if dtype not in COMPLEX:
        return numbers.astype(dtype)
    return (numbers + 1j * random.integers(-1000, 1000, shape)).astype(dtype)


def reduced(name, start, x):
    """NumPy's reduction in the type of `start`, along its axes of length 1."""
    axes = tuple(
        axis
        for axis, (given, full) in enumerate(zip(start.shape, x.shape, strict=True))
        if given == 1 and full != 1
    )
    total = UFUNC[name].reduce(x, axis=axes, dtype=start.dtype, keepdims=True)
    return UFUNC[name](start, total).astype(start.dtype)


@every(("name", "dtype"), EVERY)
def test_reduces_to_a_scalar(run, name, dtype):
    kernel = reduction_kernel(name, dtype)
    for length in LENGTHS:
        x = values(name, dtype, (length,), seed=length)
        start = values(name, dtype, (1,), seed=1)
        result = start.copy()
        run(kernel, [x, result])
        np.testing.assert_array_equal(result, reduced(name, start, x))


@every(("name", "dtype"), EVERY)
@every("shape", [(5, 1), (1, 37), (1, 1), (5, 37)])
def test_reduces_along_either_axis(run, name, dtype, shape):
    x = values(name, dtype, (5, 37))
    start = values(name, dtype, shape, seed=1)
    result = start.copy()
    run(reduction_kernel(name, dtype, broadcast=False), [x, result])
    np.testing.assert_array_equal(result, reduced(name, start, x))


shapes = st.tuples(st.integers(1, 5), st.sampled_from([1, 3, 16, 17, 130, 300]))
SOME = [("add", "float64"), ("max", "int8"), ("add", "complex64"), ("or", "bool")]


@settings(max_examples=examples(50, 200), deadline=None)
@given(st.data(), st.sampled_from(SOME), shapes, st.booleans())
def test_reduces_in_any_layout(run, data, which, shape, broadcast):
    """A wrong hint costs time, but is correct."""
    name, dtype = which
    x = view(dtype, shape, data.draw(layouts(shape)))
    kept = data.draw(st.tuples(st.booleans(), st.booleans()))
    small = tuple(n if keep else 1 for n, keep in zip(shape, kept, strict=True))
    result = view(dtype, small, data.draw(layouts(small)))
    expected = reduced(name, result.copy(), x)
    run(reduction_kernel(name, dtype, broadcast), [x, result])
    np.testing.assert_array_equal(result, expected)


@every("shape", [(0, 5), (5, 0), (0, 0)])
@every("broadcast", [False, True])
def test_no_points_leave_the_element(run, shape, broadcast):
    result = np.array([[3.0]])
    run(reduction_kernel("add", "float64", broadcast), [np.ones(shape), result])
    assert result[0, 0] == 3.0


def sequential(name, start, x):
    """What Legion's operators give, point after point."""
    better = operator.lt if name == "min" else operator.gt
    step = lambda old, new: new if better(new, old) else old  # noqa: E731
    return functools.reduce(step, x, start)


@every("name", ["min", "max"])
@every("dtype", FLOATS)
@every(
    "numbers",
    [
        [math.nan],
        [1.0, math.nan, -2.0],
        [math.nan, 5.0],
        [math.inf, math.nan],
        [-math.inf, math.nan],
        [math.inf, -math.inf],
    ],
)
@every("repeats", [1, 40, 300])
@every("broadcast", [False, True])
def test_extrema_of_nan_and_infinities(run, name, dtype, numbers, repeats, broadcast):
    """Whether the element is a scalar or one of a row."""
    x = np.array(numbers * repeats, dtype)[:, None]
    kernel = reduction_kernel(name, dtype, broadcast)
    for start in (identity(name, dtype), 0.0, math.nan):
        result = np.full((1, 1 if broadcast else 3), start, dtype)
        run(kernel, [np.repeat(x, 3, axis=1), result])
        first = identity(name, dtype)
        expected = sequential(name, start, [sequential(name, first, x[:, 0])])
        np.testing.assert_array_equal(result, np.full_like(result, expected))


def test_a_starting_infinity_gives_way_to_the_identity(run):
    """As in upstream's tasks, whichever way the loop runs."""
    x = np.full((4, 40), -math.inf)
    for shape in ((1, 1), (4, 1), (1, 40)):
        result = np.full(shape, -math.inf)
        run(reduction_kernel("max", "float64", broadcast=False), [x, result])
        assert np.all(result == np.finfo("float64").min)


@every("dtype", FLOATS)
@every("length", [100, 5000, POINTS_PER_CALL * 5 + 77])
@every("scale", [1.0, 1e6])
def test_sums_are_at_least_as_good_as_sequential_ones(run, dtype, length, scale):
    random = np.random.default_rng(length)
    x = (random.random(length) * scale + random.random()).astype(dtype)
    result = np.zeros(1, dtype)
    run(reduction_kernel("add", dtype), [x, result])
    exact = math.fsum(x.astype("float64"))
    ulp = float(np.spacing(np.array(exact, dtype)))
    one_by_one = abs(float(np.cumsum(x, dtype=dtype)[-1]) - exact)
    assert abs(float(result[0]) - exact) <= max(one_by_one, 2 * ulp)


def test_long_sums_do_not_lose_digits(run):
    """One after the other, the sum stops growing at 2 ** 24."""
    x = np.ones(2**25, "float32")
    result = np.zeros(1, "float32")
    run(reduction_kernel("add", "float32"), [x, result])
    assert result[0] == 2**25


def test_sums_of_half_precision_are_rounded_once(run):
    """One after the other, the sum stops growing at 2 ** 11."""
    x = np.ones(10000, "float16")
    for shape in ((1,), (1, 1)):
        result = np.zeros(shape, "float16")
        run(reduction_kernel("add", "float16"), [x, result])
        assert result.item() == 10000


def test_the_same_call_gives_the_same_bits(run):
    x = np.random.default_rng(0).standard_normal(70001)
    results = []
    for _ in range(3):
        result = np.zeros(1)
        run(reduction_kernel("add", "float64"), [x, result])
        results.append(result.tobytes())
    assert len(set(results)) == 1


def statistics_kernel():
    """y = 2 * x; sum, count of positive ones, greatest and sum of each column."""
    builder = Builder(
        [
            Argument("float64", reads=True, writes=False),
            Argument("float64", reads=False, writes=True),
            Argument("float64", False, False, broadcast=True, reduces="add"),
            Argument("uint64", False, False, broadcast=True, reduces="add"),
            Argument("float64", False, False, broadcast=True, reduces="max"),
            Argument("float64", False, False, reduces="add"),
            Argument("bool", False, False, broadcast=True, reduces="and"),
        ],
        ["float64"],
    )
    x = builder.load(0)
    y = builder.op("mul", "float64", builder.scalar(0), x)
    positive = builder.op("gt", "bool", x, builder.constant("float64", 0.0))
    builder.store(1, y)
    builder.reduce(2, y)
    builder.reduce(3, builder.op("cast", "uint64", positive))
    builder.reduce(4, x)
    builder.reduce(5, x)
    builder.reduce(6, positive)
    return builder.build()


def check_statistics(run, shape, columns, offset=0, unread=None):
    random = np.random.default_rng(1)
    x = np.round(random.standard_normal(shape), 2) * 128
    memory = np.zeros(x.size + 64)
    start = -memory.ctypes.data % 64 // 8 + offset
    y = memory[start : start + x.size].reshape(shape)
    small = (1, shape[1]) if columns else (shape[0], 1)
    outputs = [np.zeros((1, 1)), np.zeros((1, 1), "uint64"), np.full((1, 1), -1e300)]
    outputs += [np.zeros(small), np.ones((1, 1), bool)]
    kernel = statistics_kernel()
    run(kernel, [x, y, *outputs], [2.0], unread=unread)
    np.testing.assert_array_equal(y, 2 * x)
    total, count, greatest, sums, every = outputs
    np.testing.assert_allclose(total[0, 0], math.fsum(2 * x.ravel()), atol=1e-8)
    assert count[0, 0] == np.sum(x > 0)
    assert greatest[0, 0] == x.max()
    np.testing.assert_allclose(
        sums, x.sum(axis=0 if columns else 1, keepdims=True), atol=1e-8
    )
    assert every[0, 0] == np.all(x > 0)
    outside = memory.copy()
    outside[start : start + x.size] = 0
    assert not outside.any()


@every("shape", [(1, 1), (3, 5), (40, 16), (7, 1000), (2, 40000)])
@every("columns", [False, True])
def test_several_reductions_and_an_output(run, shape, columns):
    check_statistics(run, shape, columns)


@every("shape", [(1, 40000), (3, 5), (7, 1000), (2, 33)])
@every("columns", [False, True])
@every("offset", [0, 3])
def test_reduces_beside_outputs_past_the_caches(run, shape, columns, offset):
    check_statistics(run, shape, columns, offset, MANY)


@every("shape", [(1, 1), (3, 5), (7, 150)])
def test_reduces_along_both_axes_at_once(run, shape):
    arguments = [Argument("float64", reads=True, writes=False)]
    arguments += [Argument("float64", False, False, reduces="add")] * 2
    builder = Builder(arguments, [])
    builder.reduce(1, builder.load(0))
    builder.reduce(2, builder.load(0))
    x = values("add", "float64", shape)
    columns, rows = np.zeros((1, shape[1])), np.zeros((shape[0], 1))
    run(builder.build(), [x, columns, rows])
    np.testing.assert_array_equal(columns, x.sum(axis=0, keepdims=True))
    np.testing.assert_array_equal(rows, x.sum(axis=1, keepdims=True))


def test_reduces_a_value_that_is_the_same_at_all_points(run):
    arguments = [
        Argument("int64", False, False, broadcast, "add") for broadcast in (1, 0)
    ]
    builder = Builder(arguments, ["int64"])
    builder.reduce(0, builder.scalar(0))
    builder.reduce(1, builder.constant("int64", 1))
    total, counts = np.zeros((1, 1), "int64"), np.zeros((3, 100), "int64")
    run(builder.build(), [total, counts], [5])
    assert total[0, 0] == 1500
    assert np.all(counts == 1)


def test_a_reduction_comes_back_from_disk(call, tmp_path):
    kernel = reduction_kernel("max", "int32", broadcast=False)
    for hits in (0, 1):
        compiler = Compiler(cache=ObjectCache(tmp_path))
        result = np.zeros((1, 1), "int32")
        x = np.arange(100, dtype="int32")[None, :]
        call(compiler.compile(kernel), kernel, [x, result])
        assert result[0, 0] == 99
        assert compiler.disk_hits == hits


def test_broadcast_hints_and_operators_are_part_of_the_key(tmp_path):
    compiler = Compiler(cache=ObjectCache(tmp_path))
    kernels = [
        reduction_kernel(name, "float64", broadcast)
        for name in ("add", "mul")
        for broadcast in (False, True)
    ]
    assert len({compiler.compile(kernel).name for kernel in kernels}) == 4
