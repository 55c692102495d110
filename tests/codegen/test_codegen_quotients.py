# SPDX-License-Identifier: Apache-2.0
"""Quotients by shared divisors and square roots have the bits of a division's."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from legate_diffuse.codegen import Compiler, machine
from legate_diffuse.codegen.quotients import LARGEST_DIVISOR, LEAST_DIVIDEND
from legate_diffuse.codegen.target import host_target
from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.kernel.dtypes import FLOATS
from legate_diffuse.maths.libm import MathMode

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
BITS = {"float32": 24, "float64": 53}
COUNT = 200_000


def same(one, other):
    """Whether all bits agree, but for those of NaN."""
    return np.array_equal(
        one.view(f"u{one.itemsize}")[~np.isnan(one)],
        other.view(f"u{one.itemsize}")[~np.isnan(other)],
    ) and np.array_equal(np.isnan(one), np.isnan(other))


def any_bits(dtype, size, seed):
    """Numbers of all exponents, subnormal and not finite ones among them."""
    random = np.random.default_rng(seed)
    itemsize = np.dtype(dtype).itemsize
    return random.integers(0, 256, size * itemsize, np.uint8).view(dtype)


def of_size_one(dtype, size, seed):
    random = np.random.default_rng(seed)
    return (random.choice([-1, 1], size) * random.uniform(1, 2, size)).astype(dtype)


def special(dtype):
    """Zeros, ends of ranges, and their neighbours, of both signs."""
    info = np.finfo(dtype)
    found = [
        0.0,
        1.0,
        3.0,
        np.inf,
        np.nan,
        info.max,
        info.tiny,
        info.smallest_subnormal,
    ]
    powers = {
        LEAST_DIVIDEND[dtype],
        LARGEST_DIVISOR[dtype],
        1,
        -1 - info.minexp,
        info.maxexp - 1,
    }
    ends = [np.ldexp(dtype_one(dtype), sign * n) for n in powers for sign in (1, -1)]
    with np.errstate(all="ignore"):
        near = [
            np.nextafter(end, end.dtype.type(to)) for end in ends for to in (0, np.inf)
        ]
    values = np.array([*found, *ends, *near], dtype)
    return np.concatenate([values, -values])


def dtype_one(dtype):
    return np.dtype(dtype).type(1)


def close_to_midpoints(dtype, divisor):
    """Dividends whose quotients are as close to half-way between numbers as can be."""
    bits = BITS[dtype]
    b = int(np.frexp(np.float64(divisor))[0] * 2**bits)
    while b % 2 == 0:
        b //= 2
    found = []
    for scale, distance in product((bits, bits + 1), range(-15, 16, 2)):
        # a 2^scale = b middle + distance, where middle is odd
        modulus = 2**scale
        middle = -distance * pow(b, -1, modulus) % modulus
        for more in range(4):
            a = (b * (middle + more * modulus) + distance) // modulus
            if 0 < a < 2**bits:
                found.append(float(a))
    return np.array(found, dtype)


def quotients(dtype, count, uniform):
    """The quotients of `count` arrays by an array, or by a scalar."""
    written = [Argument(dtype, reads=False, writes=True)] * count
    read = [Argument(dtype, reads=True, writes=False)] * (count + (not uniform))
    builder = Builder([*written, *read], [dtype] * uniform)
    by = builder.scalar(0) if uniform else builder.load(2 * count)
    for number in range(count):
        x = builder.load(count + number)
        builder.store(number, builder.op("div", dtype, x, by))
    return builder.build()


def roots(dtype):
    builder = Builder(
        [
            Argument(dtype, reads=False, writes=True),
            Argument(dtype, reads=True, writes=False),
        ],
        [],
    )
    builder.store(0, builder.op("sqrt", dtype, builder.load(1)))
    return builder.build()


def check_quotients(run, dtype, a, b):
    """Divide arrays by an array, as two quotients by one divisor."""
    found = [np.empty_like(a), np.empty_like(a)]
    run(quotients(dtype, 2, False), [*found, a, a[::-1].copy(), b])
    with np.errstate(all="ignore"):
        assert same(found[0], a / b)
        assert same(found[1], a[::-1] / b)


def check_uniform(run, dtype, a, divisors):
    kernel = quotients(dtype, 1, True)
    for b in divisors:
        found = np.empty_like(a)
        run(kernel, [found, a], [b])
        with np.errstate(all="ignore"):
            assert same(found, a / b), b


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("numbers", [any_bits, of_size_one])
def test_quotients_of_random_numbers(run_quotients, dtype, numbers):
    a, b = (numbers(dtype, COUNT, seed) for seed in (1, 2))
    check_quotients(run_quotients, dtype, a, b)
    check_uniform(run_quotients, dtype, a[:10_000], b[:50])


@pytest.mark.parametrize("dtype", FLOATS)
def test_quotients_of_special_numbers(run_quotients, dtype):
    """Each one alone in a vector too, where no other one takes it to the division."""
    values = special(dtype)
    pairs = np.array(list(product(values, values)), dtype)
    check_quotients(run_quotients, dtype, pairs[:, 0].copy(), pairs[:, 1].copy())
    check_uniform(run_quotients, dtype, values, values)
    kernel = quotients(dtype, 1, True)
    for a, b in pairs:
        x, found = np.full(3, a), np.empty(3, dtype)
        run_quotients(kernel, [found, x], [b])
        with np.errstate(all="ignore"):
            assert same(found, x / b), (a, b)


@pytest.mark.parametrize("dtype", FLOATS)
def test_quotients_close_to_midpoints(run_quotients, dtype):
    random = of_size_one(dtype, 300, 3)
    ones = np.nextafter(np.array([2.0, 4.0, 1.5], dtype), dtype_one(dtype))
    few_digits = np.array([3, 5, 7, 9, 10, 11, 100, 1e3, 0.1, 0.3], dtype)
    for b in np.concatenate([random, ones, few_digits]):
        a = close_to_midpoints(dtype, b)
        a = np.concatenate([a, -a, a * 2, a / 4])
        check_uniform(run_quotients, dtype, a, [b, -b])
        check_quotients(run_quotients, dtype, a, np.full_like(a, b))


def rounded(value, bits):
    """Round a positive fraction to so many digits, half to even."""
    exponent = 0
    while value >= 2**bits:
        value, exponent = value / 2, exponent + 1
    while value < 2 ** (bits - 1):
        value, exponent = value * 2, exponent - 1
    return Fraction(round(value)) * Fraction(2) ** exponent


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6])
def test_the_correction_is_right_for_all_numbers_of_few_digits(bits):
    """The proof is for any number of digits; of few digits every pair is tried."""

    def near(value):
        return value if value == 0 else (value > 0 or -1) * rounded(abs(value), bits)

    numbers = [Fraction(n) for n in range(2 ** (bits - 1), 2**bits)]
    for a, b in product(numbers, numbers):
        y = near(1 / b)
        q = near(a * y)
        assert near(q + near(a - b * q) * y) == near(a / b), (a, b)


@pytest.mark.parametrize("dtype", FLOATS)
def test_square_roots_of_random_numbers(run_roots, dtype):
    for numbers in (any_bits, of_size_one):
        x = numbers(dtype, COUNT, 4)
        for values in (x, np.abs(x), np.abs(x) * 2):
            check_roots(run_roots, dtype, values)


@pytest.mark.parametrize("dtype", FLOATS)
def test_square_roots_of_special_numbers(run_roots, dtype):
    values = special(dtype)
    check_roots(run_roots, dtype, values)
    for value in values:
        check_roots(run_roots, dtype, np.full(3, value))
    powers = np.ldexp(dtype_one(dtype), np.arange(-120, 121))
    for x in (powers, np.square(of_size_one(dtype, 1000, 5)), np.arange(1000.0) ** 2):
        x = x.astype(dtype)
        check_roots(run_roots, dtype, x)
        for to in (0, np.inf):
            check_roots(run_roots, dtype, np.nextafter(x, x.dtype.type(to)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_square_roots_close_to_midpoints(run_roots, dtype):
    """Of 2 m + 1 digits, (k + 1/2)^2 is next to x 2^m or x 2^(m + 1) for these k."""
    bits = BITS[dtype]
    found = []
    for scale in (bits - 1, bits):
        for distance in range(-64, 65, 2):
            # k^2 + k = distance modulo 2^scale; one more digit of k at a time
            solutions = [0, 1]
            for digit in range(1, scale + 1):
                modulus = 1 << digit
                solutions = [
                    k
                    for k in {s + more for s in solutions for more in (0, modulus // 2)}
                    if (k * k + k - distance) % modulus == 0
                ]
            for s in solutions:
                for k in range(s, 2**bits, 1 << scale):
                    x, rest = divmod(k * k + k - distance, 1 << scale)
                    assert rest == 0
                    if 2 ** (bits - 1) <= x < 2**bits:
                        found.append(float(x) * 2.0 ** (scale % 2))
    assert len(found) > 90
    x = np.array(found, dtype)
    for power in (0, 10, -20):
        check_roots(run_roots, dtype, np.ldexp(x, power))


@pytest.fixture(params=[True, False], ids=["Newton steps", "instructions"])
def run_roots(request, run_for):
    """Compile a kernel with either way to take roots, and call it."""
    return run_for(request.param, estimates_roots=request.param)


@pytest.fixture(params=[True, False], ids=["reciprocals", "instructions"])
def run_quotients(request, run_for):
    """Compile a kernel with either way to divide by one divisor, and call it."""
    return run_for(request.param, shares_reciprocals=request.param)


@pytest.fixture
def run_for(monkeypatch, call):
    """Return what compiles kernels for another target, and calls them."""

    def make(needs_avx512, **facts):
        target = replace(host_target(), **facts)
        if needs_avx512 and not target.avx512:
            pytest.skip("no AVX-512")
        monkeypatch.setattr(machine, "host_target", lambda: target)
        compiler = Compiler(MathMode.LIBM)

        def run(kernel, arrays, scalars=()):
            call(compiler.compile(kernel), kernel, arrays, scalars)

        return run

    return make


def check_roots(run, dtype, x):
    found = np.empty_like(x)
    run(roots(dtype), [found, x])
    with np.errstate(all="ignore"):
        assert same(found, np.sqrt(x))


@pytest.mark.skipif(not host_target().avx512, reason="no AVX-512")
@pytest.mark.parametrize("shares", [True, False])
def test_what_is_not_shared_is_divided(monkeypatch, shares):
    target = replace(host_target(), shares_reciprocals=shares)
    monkeypatch.setattr(machine, "host_target", lambda: target)
    compiled = machine.Machine(MathMode.VECTOR, fast_math=False)

    def text(count, uniform):
        kernel = quotients("float64", count, uniform)
        return compiled.assembly("kernel", kernel)

    assert "@llvm.fma" in text(1, uniform=True)
    assert ("@llvm.fma" in text(2, uniform=False)) == shares
    assert "@llvm.fma" not in text(1, uniform=False)
