# SPDX-License-Identifier: Apache-2.0
import ctypes
import dataclasses
import platform

import numpy as np
import pytest
from every import every
from maths_operands import function_kernel, units_apart

from legate_diffuse.codegen import Compiler, machine
from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.kernel.operators import MATHS_OF_ONE, MATHS_OF_TWO
from legate_diffuse.maths import power_tables
from legate_diffuse.maths.libm import MathMode, c_name
from legate_diffuse.maths.registry import ROUTINES

FLOATS = ("float32", "float64")


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


def libm(name, dtype, operands):
    """Call the C function for each element."""
    real = ctypes.c_double if dtype == "float64" else ctypes.c_float
    function = getattr(ctypes.CDLL("libm.so.6"), c_name(name, dtype))
    function.restype, function.argtypes = real, [real] * len(operands)
    values = zip(*(operand.tolist() for operand in operands), strict=True)
    return np.array([function(*each) for each in values], dtype)


def assert_same_bits(result, expected):
    """Compare with signs of zeros; all that is not a number counts as the same."""
    numbers = ~np.isnan(expected)
    assert np.array_equal(np.isnan(result), ~numbers)
    assert result[numbers].tobytes() == expected[numbers].tobytes()


def assert_agrees(name, dtype, result, expected):
    """Compare with what libm gives."""
    units = ROUTINES[c_name(name, dtype)].ulps
    if units:
        assert units_apart(result, expected).max() <= units
    else:
        assert_same_bits(result, expected)


@every("mode", MathMode)
@every("dtype", FLOATS)
@every("name", sorted(MATHS_OF_ONE | MATHS_OF_TWO))
def test_results_are_those_of_libm(run, name, dtype, mode):
    operands = operands_of(name, dtype)
    result = apply(run, name, dtype, operands, mode)
    expected = libm(name, dtype, operands)
    if mode is MathMode.LIBM:
        assert_same_bits(result, expected)
    else:
        assert_agrees(name, dtype, result, expected)


EDGES = {
    "exp": """
    709.78 709.79 710 -708 -708.4 -709 -744 -745.13 -745.14 -746 512 511.9 1e-17
    88 88.72283 88.72284 -87.3 -103.3 -103.972 -103.98 1e-9
    """,
    "exp2": """
    1023.99999 1024 -1022 -1022.5 -1074 -1074.9 -1075 -1076 928 1e-17
    127.99999 128 -126 -126.5 -149 -149.5 -149.99998 -150 -151 1e-9
    """,
    "log": "0.9375 1.064697 0.6875 0.69921875 1 5e-324 2.2250738585072014e-308 1e-45",
    "log2": "0.9576 0.9577 1.0442 1.0443 0.6875 0.69921875 1 2.2250738585072014e-308",
}


@every("dtype", FLOATS)
@every("name", EDGES)
def test_vector_routines_give_libms_results_at_their_edges(run, name, dtype):
    with np.errstate(all="ignore"):
        middle = np.array([*EDGES[name].split(), 0.0, np.inf, np.nan], float)
        middle = np.concatenate([middle, -middle]).astype(dtype)
    x = np.concatenate([np.nextafter(middle, -1), middle, np.nextafter(middle, 1)])
    result = apply(run, name, dtype, [x], MathMode.VECTOR)
    assert_same_bits(result, libm(name, dtype, [x]))


@every("dtype", FLOATS)
@every("name", ["exp", "exp2", "log", "log2", "pow"])
def test_vector_routines_give_libms_results_for_random_numbers(run, name, dtype):
    generator = np.random.default_rng(0)
    size = 200_000
    anything = generator.integers(0, 256, size * 8, dtype="uint8").view(dtype)[:size]
    with np.errstate(all="ignore"):
        scales = np.exp(generator.uniform(-20, 20, size)).astype(dtype)
    signs = generator.choice(np.array([-1, 1], dtype), size)
    near_1 = generator.uniform(0.9, 1.1, size).astype(dtype)
    moderate = generator.uniform(-20, 20, size).astype(dtype)
    x = np.concatenate([anything, scales, scales * signs, near_1, moderate, scales])
    operands = [x]
    if name == "pow":
        y = [anything[::-1], moderate, moderate, moderate * 50, scales, near_1]
        operands.append(np.concatenate(y))
    result = apply(run, name, dtype, operands, MathMode.VECTOR)
    assert_same_bits(result, apply(run, name, dtype, operands, MathMode.LIBM))


@pytest.mark.parametrize(
    ("vector_bytes", "gathers"), [(16, False), (32, False), (32, True), (64, True)]
)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", sorted(MATHS_OF_ONE | MATHS_OF_TWO))
def test_other_registers_and_gathers_give_libms_results(
    monkeypatch, call, run, name, dtype, vector_bytes, gathers
):
    host = machine.host_target()
    if not host.triple.startswith("x86_64") or vector_bytes > host.vector_bytes:
        pytest.skip("needs an x86-64 processor with these registers")
    other = dataclasses.replace(host, vector_bytes=vector_bytes, gathers=gathers)
    monkeypatch.setattr(machine, "host_target", lambda: other)
    kernel = function_kernel(name, dtype)
    operands = operands_of(name, dtype)
    result = np.empty_like(operands[0])
    call(Compiler().compile(kernel), kernel, [*operands, result])
    expected = apply(run, name, dtype, operands, MathMode.LIBM)
    assert_agrees(name, dtype, result, expected)


def vector_functions(monkeypatch, name="exp", dtype="float64"):
    """Return the C functions for which a new compiler uses vector routines."""
    libraries = []
    module = machine.llvm_module

    def spy(kernel, name, target, library, fast_math):
        libraries.append(library)
        return module(kernel, name, target, library, fast_math)

    monkeypatch.setattr(machine, "llvm_module", spy)
    Compiler().compile(function_kernel(name, dtype))
    return libraries[0].vector


@pytest.mark.skipif(
    not machine.host_target().fma or platform.libc_ver() < ("glibc", "2.28"),
    reason="libm has other algorithms here",
)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["exp", "log", "pow", "sin", "cos", "tanh", "log1p"])
def test_routines_that_agree_with_libm_are_used(monkeypatch, name, dtype):
    assert vector_functions(monkeypatch, name, dtype) == {c_name(name, dtype)}


def test_a_routine_that_differs_from_libm_is_not_used(monkeypatch, call):
    c2, c3, *rest = power_tables.EXP_POLYNOMIAL
    changed = (c2 * (1 + 2**-35), c3, *rest)
    monkeypatch.setattr(power_tables, "EXP_POLYNOMIAL", changed)
    assert not vector_functions(monkeypatch)
    kernel = function_kernel("exp", "float64")
    x = np.linspace(-5, 5, 1001)
    result = np.empty_like(x)
    call(Compiler().compile(kernel), kernel, [x, result])
    assert_same_bits(result, libm("exp", "float64", [x]))


def test_a_processor_without_fma_calls_libm(monkeypatch):
    plain = dataclasses.replace(machine.host_target(), fma=False)
    monkeypatch.setattr(machine, "host_target", lambda: plain)
    assert not vector_functions(monkeypatch)


@every("mode", MathMode)
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


@every("mode", MathMode)
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


@every("mode", MathMode)
@every("dtype", FLOATS)
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


def test_the_environment_chooses_the_mode(call, tmp_path):
    kernel = function_kernel("sin", "float64")
    x = np.random.default_rng(0).uniform(-10, 10, 2000)
    results = {}
    for value in ("", "vector", "libm"):
        environment = {"LEGATE_DIFFUSE_MATH": value, "XDG_CACHE_HOME": str(tmp_path)}
        results[value] = np.empty_like(x)
        compiled = Compiler.from_environment(environment).compile(kernel)
        call(compiled, kernel, [x, results[value]])
    assert_same_bits(results["libm"], libm("sin", "float64", [x]))
    assert_same_bits(results[""], results["vector"])
    assert not np.array_equal(results["libm"], results["vector"])
    with pytest.raises(ValueError, match="use vector or libm"):
        Compiler.from_environment({"LEGATE_DIFFUSE_MATH": "fast"})
