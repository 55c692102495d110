# SPDX-License-Identifier: Apache-2.0
"""Operands that are hard for the routines that are our own."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from maths_operands import function_kernel

from legate_diffuse.kernel.operators import MATHS_OF_ONE
from legate_diffuse.maths.libm import MathMode, c_name
from legate_diffuse.maths.registry import ROUTINES

PRECISION = 1400
"""Bits of pi that the largest doubles need, and those of the result."""

DTYPES = {np.float64: "float64", np.float32: "float32"}
FUNCTIONS = ["acos", "asin", "atan", "atan2", "cbrt", "cos", "hypot", "sin", "tan"]
OWN = sorted(
    (name, dtype)
    for name in FUNCTIONS
    for dtype in DTYPES.values()
    if ROUTINES[c_name(name, dtype)].ulps
)


@pytest.fixture
def apply(run):
    def result_of(name, *operands):
        dtype = operands[0].dtype.name
        result = np.empty_like(operands[0])
        kernel = function_kernel(name, dtype)
        run(kernel, [*operands, result], mode=MathMode.VECTOR)
        return result

    return result_of


def nearest_to_multiples_of_half_pi(exponent):
    """Return the doubles d 2^exponent, d of 53 bits, that are nearest to multiples.

    A quotient n / d that is nearest to 2^exponent / (pi / 2) among those with smaller d
    is a convergent of its continued fraction.
    """
    with mpmath.workprec(PRECISION):
        ratio = mpmath.ldexp(1, exponent) / (mpmath.pi / 2)
        shift = PRECISION - exponent
        rest = Fraction(int(mpmath.floor(mpmath.ldexp(ratio, shift))), 1 << shift)
    found, before, last = [], 1, 0
    while last < 2**53:
        if last >= 2**40:
            found.append(math.ldexp(last, exponent))
        whole = rest.numerator // rest.denominator
        before, last = last, whole * last + before
        rest = 1 / (rest - whole)
    return found


def hard_angles():
    angles = [x for e in range(-52, 971) for x in nearest_to_multiples_of_half_pi(e)]
    angles = np.array(angles)
    return np.concatenate([angles, -angles[::7]])


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_next_to_multiples_of_half_pi(apply, name):
    angles = hard_angles()
    result = apply(name, angles)
    assert max(errors(getattr(mpmath, name), (angles,), result)) < 0.7
    assert angles.size > 9_000
    assert np.abs(result).min() < 2.0**-59


def errors(function, operands, results):
    """Yield errors in units in the last place of the exact results, all normal."""
    digits = 1 + np.finfo(results.dtype).nmant
    with mpmath.workprec(PRECISION):
        for *xs, result in zip(*operands, results, strict=True):
            exact = function(*(mpmath.mpf(float(x)) for x in xs))
            exponent = mpmath.frexp(exact)[1] - digits
            error = abs(mpmath.mpf(float(result)) - exact)
            yield float(mpmath.ldexp(error, -exponent))


def test_around_the_end_of_the_short_reduction(apply):
    angles = 1e8 * (1 + np.arange(-500, 500) * 1e-9)
    for name in ("sin", "cos", "tan"):
        result = apply(name, angles)
        assert max(errors(getattr(mpmath, name), (angles,), result)) < 0.7


@pytest.mark.parametrize("dtype", DTYPES)
def test_cubes_have_exact_roots(apply, dtype):
    limits = np.finfo(dtype)
    roots = np.arange(1, 200).astype(dtype)
    thirds = range(limits.minexp // 3 - 2, limits.maxexp // 3 - 7)
    for third in thirds:
        expected = np.ldexp(roots, third)
        cubes = np.ldexp(roots**3, 3 * third)
        exact = np.ldexp(cubes, -3 * third) == roots**3  # subnormal numbers have gaps
        assert np.array_equal(apply("cbrt", cubes)[exact], expected[exact])
        assert np.array_equal(apply("cbrt", -cubes)[exact], -expected[exact])


def test_cube_roots_of_subnormal_numbers(apply):
    x = np.concatenate([np.arange(1, 600), 2 ** np.arange(52) - 1]) * 5e-324
    result = apply("cbrt", x)
    assert max(errors(mpmath.cbrt, (x,), result)) <= 0.5


@pytest.mark.parametrize("dtype", DTYPES)
def test_hypot_of_whole_triangles_is_exact_at_all_scales(apply, dtype):
    limits = np.finfo(dtype)
    sides = [
        (3, 4, 5),
        (5, 12, 13),
        (8, 15, 17),
        (20, 21, 29),
        (119, 120, 169),
        (1, 0, 1),
    ]
    a, b, c = np.array(sides, dtype).T
    for exponent in range(limits.minexp - limits.nmant, limits.maxexp - 8):
        x, y = np.ldexp(a, exponent), np.ldexp(b, exponent)
        expected = np.ldexp(c, exponent)
        for pair in ((x, y), (y, x), (-x, y), (-y, -x)):
            assert np.array_equal(apply("hypot", *pair), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_hypot_overflows_only_where_it_must(apply, dtype):
    largest = np.finfo(dtype).max
    small = np.array([0, 1, np.finfo(dtype).tiny, np.sqrt(largest)], dtype)
    assert np.array_equal(
        apply("hypot", np.full(4, largest), small), np.full(4, largest)
    )
    # sqrt(2) / 2 of the largest number, rounded down and up
    x = dtype(largest / dtype(2)) * np.sqrt(dtype(2))
    x = np.array(
        [np.nextafter(x, dtype(0)), np.nextafter(x, dtype(np.inf)) * dtype(1.01)]
    )
    result = apply("hypot", x, x)
    assert np.isfinite(result[0])
    assert np.isinf(result[1])


INF, NAN, PI = math.inf, math.nan, math.pi
SPECIAL = {
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "asin": [(0.0, 0.0), (-0.0, -0.0), (1.5, NAN), (-INF, NAN), (NAN, NAN)],
    "acos": [(1.0, 0.0), (1.5, NAN), (-INF, NAN), (NAN, NAN)],
    "atan": [(0.0, 0.0), (-0.0, -0.0), (NAN, NAN)],
    "cbrt": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN)],
    "hypot": [
        (0.0, 0.0, 0.0), (-0.0, -0.0, 0.0), (-0.0, 3.0, 3.0), (INF, NAN, INF),
        (NAN, -INF, INF), (INF, 1.0, INF), (-1.0, -INF, INF), (NAN, 1.0, NAN),
        (0.0, NAN, NAN),
    ],
    "atan2": [
        (0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (0.0, -1.0, PI), (-0.0, -1.0, -PI),
        (0.0, -0.0, PI), (1.0, 0.0, PI / 2), (-1.0, -0.0, -PI / 2),
        (INF, 1.0, PI / 2), (INF, INF, PI / 4), (INF, -INF, 3 * PI / 4),
        (1.0, INF, 0.0), (-1.0, INF, -0.0), (NAN, 1.0, NAN), (1.0, NAN, NAN),
    ],
}  # fmt: skip
"""Operands and results, as in Annex F of C."""
ODD = ("sin", "tan", "asin", "atan")
"""Next to zero these are x."""


@pytest.mark.parametrize(("name", "dtype"), OWN)
def test_special_values_and_signs_of_zeros(apply, name, dtype):
    *operands, expected = np.array(SPECIAL[name], dtype).T
    result = apply(name, *(np.ascontiguousarray(x) for x in operands))
    assert np.array_equal(np.isnan(result), np.isnan(expected))
    numbers = ~np.isnan(expected)
    assert result[numbers].tobytes() == expected[numbers].tobytes()
    if name in ODD:
        tiny = np.finfo(dtype).smallest_subnormal
        small = np.array([tiny, -tiny, np.finfo(dtype).tiny, -1e-30], dtype)
        assert apply(name, small).tobytes() == small.tobytes()


@pytest.mark.parametrize(("name", "dtype"), OWN)
def test_a_result_does_not_depend_on_the_lanes_beside_it(apply, name, dtype):
    """Near and far operands share vectors, and each is alone."""
    generator = np.random.default_rng(0)
    count = 301
    near = generator.uniform(-1, 1, count)
    scales = 10.0 ** generator.integers(-30, 31, count)
    mixed = np.where(generator.uniform(size=count) < 0.5, near, near * scales)
    mixed[::23], mixed[5::29] = np.nan, np.inf
    x = mixed.astype(dtype)
    operands = [x] if name in MATHS_OF_ONE else [x, generator.permutation(x)]
    together = apply(name, *operands)
    order = generator.permutation(count)
    shuffled = apply(name, *(np.ascontiguousarray(x[order]) for x in operands))
    assert shuffled.tobytes() == together[order].tobytes()
    alone = [apply(name, *(x[i : i + 1] for x in operands))[0] for i in range(count)]
    assert np.array(alone, dtype).tobytes() == together.tobytes()


STEP = 4099
"""Every so many-th single; all of them were tried once."""


@pytest.mark.parametrize("name", ["asin", "cbrt", "tan"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_singles_are_next_to_what_doubles_give(apply, name):
    x = np.arange(0, 1 << 32, STEP, np.uint64).astype(np.uint32).view(np.float32)
    result = apply(name, x)
    exact = {"asin": np.arcsin, "cbrt": np.cbrt, "tan": np.tan}[name](x.astype(float))
    nearest = exact.astype(np.float32)
    assert np.array_equal(np.isnan(result), np.isnan(nearest))
    wrong = np.flatnonzero((result != nearest) & ~np.isnan(result))
    if name == "cbrt":
        assert wrong.size == 0
    unit = np.abs(np.spacing(nearest[wrong])).astype(float)
    assert np.all(np.abs(result[wrong] - exact[wrong]) < 0.7 * unit)
    assert wrong.size < 0.04 * x.size
