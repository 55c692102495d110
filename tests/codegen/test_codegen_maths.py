# SPDX-License-Identifier: Apache-2.0
import ctypes
import dataclasses

import numpy as np
import pytest

from legate_diffuse.codegen import Compiler, MathMode, machine, math_mode
from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.kernel.operators import MATHS_OF_ONE, MATHS_OF_TWO

FLOATS = ("float32", "float64")
NUMPY_NAME = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atanh": "arctanh",
    "atan2": "arctan2",
    "pow": "power",
    "libm_pow": "power",
}


def function_kernel(name, dtype):
    arity = 1 if name in MATHS_OF_ONE else 2
    operand = Argument(dtype, reads=True, writes=False)
    result = Argument(dtype, reads=False, writes=True)
    builder = Builder([operand] * arity + [result], [])
    operands = [builder.load(number) for number in range(arity)]
    builder.store(arity, builder.op(name, dtype, *operands))
    return builder.build()


def operands_of(name, dtype):
    generator = np.random.default_rng(0)
    x = np.concatenate(
        [
            [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-320, 1e30, 0.5, -0.5],
            generator.uniform(-1, 1, 100),
            generator.uniform(-20, 20, 100),
            np.exp(generator.uniform(-60, 60, 100)),
        ]
    ).astype(dtype)
    if name in MATHS_OF_ONE:
        return [x]
    return [x, generator.permutation(x)]


def apply(run, name, dtype, operands, mode):
    result = np.empty(operands[0].shape, dtype)
    run(function_kernel(name, dtype), [*operands, result], mode=mode)
    return result


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", sorted(MATHS_OF_ONE | MATHS_OF_TWO))
def test_libm_mode_is_bit_identical_to_libm(run, name, dtype):
    operands = operands_of(name, dtype)
    result = apply(run, name, dtype, operands, MathMode.LIBM)
    real = ctypes.c_double if dtype == "float64" else ctypes.c_float
    suffix = "" if dtype == "float64" else "f"
    function = getattr(ctypes.CDLL("libm.so.6"), name.removeprefix("libm_") + suffix)
    function.restype, function.argtypes = real, [real] * len(operands)
    expected = [function(*map(float, values)) for values in zip(*operands, strict=True)]
    np.testing.assert_array_equal(result, np.array(expected, dtype))
    np.testing.assert_array_equal(
        np.signbit(result[result == 0]),
        np.signbit(np.array(expected, dtype)[result == 0]),
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", sorted(MATHS_OF_ONE | MATHS_OF_TWO - {"nextafter"}))
def test_vector_mode_is_within_four_units_in_the_last_place(run, name, dtype):
    operands = operands_of(name, dtype)
    result = apply(run, name, dtype, operands, MathMode.VECTOR)
    exact = apply(run, name, dtype, operands, MathMode.LIBM)
    wide = np.longdouble if dtype == "float64" else np.float64
    with np.errstate(all="ignore"):
        function = getattr(np, NUMPY_NAME.get(name, name))
        reference = function(*(operand.astype(wide) for operand in operands))
        unit = np.spacing(np.abs(exact)).astype(wide)
        finite = np.isfinite(exact)
        error = np.abs(result.astype(wide) - reference)[finite] / unit[finite]
    assert np.array_equal(np.isnan(result), np.isnan(exact))
    assert np.array_equal(result[~finite], exact[~finite], equal_nan=True)
    assert error.max() <= 4.0


@pytest.mark.parametrize("vector_bytes, isa", [(16, "b"), (32, "d")])
@pytest.mark.parametrize("dtype", FLOATS)
def test_narrower_registers_give_accurate_results(
    monkeypatch, call, dtype, vector_bytes, isa
):
    host = machine.host_target()
    if not host.triple.startswith("x86_64") or vector_bytes > host.vector_bytes:
        pytest.skip("needs an x86-64 processor with these registers")
    narrow = dataclasses.replace(host, vector_bytes=vector_bytes, vector_isa=isa)
    monkeypatch.setattr(machine, "host_target", lambda: narrow)
    kernel = function_kernel("exp", dtype)
    x = np.linspace(-5, 5, 1001).astype(dtype)
    result = np.empty_like(x)
    call(Compiler().compile(kernel), kernel, [x, result])
    np.testing.assert_allclose(result, np.exp(x), rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("mode", MathMode)
def test_a_result_does_not_depend_on_its_place(run, mode):
    generator = np.random.default_rng(0)
    x = generator.uniform(-700, 700, 1000)
    x[::50] = np.nan
    x[::33] = np.inf
    whole = apply(run, "exp", "float64", [x], mode)
    for size in (1, 2, 7, 8, 15, 16, 31, 100):
        for start in (0, 1, 13):
            part = slice(start, start + size)
            alone = apply(run, "exp", "float64", [x[part]], mode)
            assert alone.tobytes() == whole[part].tobytes()
    apart = np.repeat(x, 3)[::3]
    assert apply(run, "exp", "float64", [apart], mode).tobytes() == whole.tobytes()


@pytest.mark.parametrize("mode", MathMode)
def test_a_result_does_not_depend_on_the_rest_of_the_kernel(run, mode):
    """A kernel with float64 values computes fewer float32 values at once."""
    builder = Builder(
        [
            Argument("float32", reads=True, writes=False),
            Argument("float32", reads=False, writes=True),
            Argument("float64", reads=False, writes=True),
        ],
        [],
    )
    y = builder.op("exp", "float32", builder.load(0))
    builder.store(1, y)
    builder.store(2, builder.op("exp", "float64", builder.op("cast", "float64", y)))
    x = np.random.default_rng(0).uniform(-3, 3, 1000).astype("float32")
    mixed, wide = np.empty_like(x), np.empty(1000)
    run(builder.build(), [x, mixed, wide], mode=mode)
    alone = apply(run, "exp", "float32", [x], mode)
    assert mixed.tobytes() == alone.tobytes()
    assert (
        wide.tobytes()
        == apply(run, "exp", "float64", [alone.astype("float64")], mode).tobytes()
    )


@pytest.mark.parametrize("mode", MathMode)
@pytest.mark.parametrize("dtype", FLOATS)
def test_results_that_are_exact_in_libm_stay_exact(run, dtype, mode):
    powers = np.arange(11 if dtype == "float32" else 23).astype(dtype)
    tens = np.array([float(10 ** int(power)) for power in powers], dtype)
    assert np.array_equal(apply(run, "log10", dtype, [tens], mode), powers)
    assert np.array_equal(apply(run, "exp2", dtype, [powers], mode), 2**powers)
    assert np.array_equal(apply(run, "log2", dtype, [2**powers], mode), powers)
    zero = np.zeros(1, dtype)
    assert apply(run, "exp", dtype, [zero], mode)[0] == 1
    assert apply(run, "log", dtype, [zero + 1], mode)[0] == 0
    assert apply(run, "cos", dtype, [zero], mode)[0] == 1


def test_multiplication_and_addition_are_not_contracted(run):
    operand = Argument("float64", reads=True, writes=False)
    builder = Builder(
        [operand] * 3 + [Argument("float64", reads=False, writes=True)], []
    )
    a, b, c = (builder.load(number) for number in range(3))
    product = builder.op("mul", "float64", a, b)
    builder.store(3, builder.op("add", "float64", product, c))
    x = np.full(50, 1.0 + 2.0**-30)
    result = np.empty(50)
    run(builder.build(), [x, x, -(x * x), result])
    assert not result.any()


def test_mode_comes_from_the_environment():
    assert math_mode({}) is MathMode.VECTOR
    assert math_mode({"LEGATE_DIFFUSE_MATH": "libm"}) is MathMode.LIBM
    with pytest.raises(ValueError, match="must be 'vector' or 'libm'"):
        math_mode({"LEGATE_DIFFUSE_MATH": "fast"})
