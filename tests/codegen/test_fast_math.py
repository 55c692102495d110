# SPDX-License-Identifier: Apache-2.0
"""Sums of products are rounded once with fast math, twice without; no more changes."""

from fractions import Fraction

import numpy as np
import pytest

from legate_diffuse.codegen import Compiler
from legate_diffuse.codegen.target import host_target
from legate_diffuse.kernel import Argument, Builder

COUNT = 1003


@pytest.fixture(scope="module")
def fast():
    return Compiler(fast_math=True)


@pytest.fixture(scope="module")
def exact():
    return Compiler()


def operands(dtype, number):
    generator = np.random.default_rng(number)
    return (generator.random(COUNT) + 0.5).astype(dtype)


def kernel(dtypes, compute):
    """A kernel that stores `compute(builder, *values)` of arguments of `dtypes`."""
    arguments = [Argument(dtype, reads=True, writes=False) for dtype in dtypes]
    arguments.append(Argument(dtypes[0], reads=False, writes=True))
    builder = Builder(arguments, [])
    values = [builder.load(number) for number in range(len(dtypes))]
    builder.store(len(dtypes), compute(builder, *values))
    return builder.build()


def result_of(call, compiler, kernel, arrays):
    result = np.empty_like(arrays[0])
    call(compiler.compile(kernel), kernel, [*arrays, result])
    return result


def product_and_sum(dtype):
    return kernel(
        [dtype] * 3,
        lambda emit, a, b, c: emit.op("add", dtype, emit.op("mul", dtype, a, b), c),
    )


def rounded_once(a, b, c):
    triples = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    return np.array(
        [float(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in triples]
    )


@pytest.mark.skipif(not host_target().fma, reason="nothing to contract to")
def test_a_product_is_added_without_rounding_only_with_fast_math(call, fast, exact):
    a, b = operands("float64", 1), operands("float64", 2)
    c = -a * b + operands("float64", 3) * 1e-9
    fused = product_and_sum("float64")
    once = rounded_once(a, b, c)
    assert np.count_nonzero(once != a * b + c) > COUNT // 2
    assert np.array_equal(result_of(call, fast, fused, [a, b, c]), once)
    assert np.array_equal(result_of(call, exact, fused, [a, b, c]), a * b + c)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_constant_factors_are_joined_only_with_fast_math(call, fast, exact, dtype):
    third, seventh = (np.array(1 / n, dtype) for n in (3, 7))

    def scaled(emit, x):
        for factor in (third, seventh):
            x = emit.op("mul", dtype, x, emit.constant(dtype, float(factor)))
        return x

    x = operands(dtype, 1)
    joined = x * (third * seventh)
    assert not np.array_equal(joined, x * third * seventh)
    chain = kernel([dtype], scaled)
    assert np.array_equal(result_of(call, fast, chain, [x]), joined)
    assert np.array_equal(result_of(call, exact, chain, [x]), x * third * seventh)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_polynomial_stays_within_rounding(call, fast, dtype):
    coefficients = [(-1.0) ** n / (n + 1) for n in range(12)]

    def horner(emit, x):
        total = emit.constant(dtype, coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            total = emit.op("mul", dtype, total, x)
            total = emit.op("add", dtype, total, emit.constant(dtype, coefficient))
        return total

    x = operands(dtype, 1) - np.array(0.5, dtype)
    expected = np.polynomial.polynomial.polyval(x.astype("longdouble"), coefficients)
    result = result_of(call, fast, kernel([dtype], horner), [x])
    bound = 2 * len(coefficients) * np.finfo(dtype).eps * sum(map(abs, coefficients))
    assert np.max(np.abs(result - expected)) < bound


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_values_stay(call, fast, dtype):
    numbers = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], dtype)
    grids = np.meshgrid(numbers, numbers, numbers, indexing="ij")
    a, b, c = (np.ascontiguousarray(grid.ravel()) for grid in grids)
    with np.errstate(invalid="ignore"):
        expected = a * b + c
    result = result_of(call, fast, product_and_sum(dtype), [a, b, c])
    assert np.array_equal(result, expected, equal_nan=True)
    known = ~np.isnan(expected)
    assert np.array_equal(np.signbit(result[known]), np.signbit(expected[known]))


@pytest.mark.parametrize("operator", ["complex_mul", "complex_div"])
def test_complex_arithmetic_keeps_its_bits(call, fast, exact, operator):
    a, b = (operands("float64", n) + 1j * operands("float64", n + 1) for n in (1, 3))
    both = kernel(
        ["complex128"] * 2, lambda e, x, y: e.op(operator, "complex128", x, y)
    )
    results = [result_of(call, compiler, both, [a, b]) for compiler in (fast, exact)]
    assert np.array_equal(*results)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "cbrt"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_maths_routines_keep_their_bits(call, fast, exact, name, dtype):
    function = kernel([dtype], lambda emit, x: emit.op(name, dtype, x))
    x = operands(dtype, 1)
    results = [result_of(call, compiler, function, [x]) for compiler in (fast, exact)]
    assert np.array_equal(*results)


def test_objects_of_both_kinds_are_kept_apart_on_disk(call, tmp_path):
    a, b, c = (operands("float64", number) for number in range(3))
    fused = product_and_sum("float64")
    for hits in (0, 1):
        results = []
        for setting in ("1", "0"):
            compiler = Compiler.from_environment(
                {
                    "LEGATE_DIFFUSE_FAST_MATH": setting,
                    "LEGATE_DIFFUSE_CACHE_DIR": str(tmp_path),
                }
            )
            results.append(result_of(call, compiler, fused, [a, b, c]))
            assert compiler.disk_hits == hits
        assert np.array_equal(results[0], results[1]) is not host_target().fma


def test_an_unknown_value_is_refused():
    with pytest.raises(ValueError, match="LEGATE_DIFFUSE_FAST_MATH=2 is not"):
        Compiler.from_environment({"LEGATE_DIFFUSE_FAST_MATH": "2"})
