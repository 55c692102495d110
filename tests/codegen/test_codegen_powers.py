# SPDX-License-Identifier: Apache-2.0
"""Powers whose exponents make them products, roots and reciprocals, as in NumPy."""

import numpy as np
import pytest

from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.kernel.dtypes import FLOATS
from legate_diffuse.maths.libm import MathMode

SIMPLER = {2.0: np.square, 0.5: np.sqrt, -1.0: np.reciprocal}
EXPONENTS = [-1.0, 0.0, 0.5, 1.0, 2.0]


def kernel_of(name, dtype, uniform):
    """x ** y, with one exponent for all elements, or one for each."""
    builder = Builder(
        [
            Argument(dtype, reads=False, writes=True),
            *[Argument(dtype, reads=True, writes=False)] * (2 - uniform),
        ],
        [dtype] * uniform,
    )
    y = builder.scalar(0) if uniform else builder.load(2)
    builder.store(0, builder.op(name, dtype, builder.load(1), y))
    return builder.build()


@pytest.fixture
def power(run):
    def compute(x, y, mode=MathMode.VECTOR, name="power"):
        found = np.empty_like(x)
        uniform = np.ndim(y) == 0
        arrays, scalars = ([found, x], [y]) if uniform else ([found, x, y], [])
        run(kernel_of(name, x.dtype.name, uniform), arrays, scalars, mode)
        return found

    return compute


def numbers(dtype, size=20_000):
    random = np.random.default_rng(0)
    itemsize = np.dtype(dtype).itemsize
    anything = random.integers(0, 256, size * itemsize, np.uint8).view(dtype)
    # pow and NumPy differ for signalling NaN
    anything[np.isnan(anything)] = np.nan
    info = np.finfo(dtype)
    special = np.array([0, 1, np.inf, np.nan, info.max, info.tiny, 3], dtype)
    one = (1 + random.random(size)).astype(dtype)
    return np.concatenate([special, -special, anything, one])


def assert_same_bits(one, other):
    assert np.array_equal(np.isnan(one), np.isnan(other))
    kind = f"u{one.itemsize}"
    known = ~np.isnan(one)
    assert np.array_equal(one.view(kind)[known], other.view(kind)[known])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_one_exponent_gives_numpys_bits(power, dtype, exponent):
    x = numbers(dtype)
    assert_same_bits(power(x, exponent), x**exponent)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("exponent", [-2.0, -0.5, 1.5, 2.5, 3.0, np.nan])
def test_other_exponents_give_those_of_pow(power, dtype, exponent):
    x = numbers(dtype)
    assert_same_bits(power(x, exponent), power(x, exponent, MathMode.LIBM, "pow"))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_libm_keeps_pow(power, dtype, exponent):
    x = numbers(dtype)
    found = power(x, exponent, MathMode.LIBM)
    assert_same_bits(found, power(x, exponent, MathMode.LIBM, "pow"))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_result_depends_on_its_own_operands_only(power, dtype):
    """Whatever exponents its neighbours have, and whether they share it."""
    x = numbers(dtype)
    random = np.random.default_rng(1)
    for exponents in (EXPONENTS, [2.0, 3.0], [0.5, -0.5], [*EXPONENTS, 1.5, -3.0]):
        y = random.choice(np.array(exponents, dtype), x.size)
        found = power(x, y)
        expected = power(x, y, MathMode.LIBM, "pow")
        for exponent, simpler in SIMPLER.items():
            same = y == exponent
            expected[same] = simpler(x[same])
        assert_same_bits(found, expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_powers_of_one_number(run, dtype):
    """Where both operands are the same at all points, they are computed once."""
    builder = Builder([Argument(dtype, reads=False, writes=True)], [dtype, dtype])
    value = builder.op("power", dtype, builder.scalar(0), builder.scalar(1))
    builder.store(0, value)
    found = np.empty(37, dtype)
    for exponent in (*EXPONENTS, 3.0):
        run(builder.build(), [found], [3.0, exponent], MathMode.VECTOR)
        expected = np.full(37, 3, dtype) ** dtype_of(exponent, dtype)
        assert_same_bits(found, expected)


def dtype_of(value, dtype):
    return np.dtype(dtype).type(value)


@pytest.mark.parametrize("exponent", [-1.0, 0.0, 1.0, 2.0, 3.0, [2.0, 3.0, 2.0]])
def test_powers_of_integers_have_the_bits_of_pow(power, exponent):
    """As far as floats have their squares, and beyond."""
    random = np.random.default_rng(2)
    most = 94906265
    near = most + np.arange(-700, 700)
    small, large = (random.integers(-end, end, 5000) for end in (most, 2**40))
    for integers in (small, large, np.concatenate([near, -near, small, large])):
        x = integers.astype("float64")
        y = np.resize(exponent, x.size) if np.ndim(exponent) else exponent
        found = power(x, y, name="integer_power")
        assert_same_bits(found, power(x, y, MathMode.LIBM, "pow"))
