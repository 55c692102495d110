# SPDX-License-Identifier: Apache-2.0
"""Operands on which vector maths is compared, and how far results are apart."""

import numpy as np

from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.kernel.operators import MATHS_OF_ONE

_SPECIAL = """
0 1 2 0.5 0.25 22 inf nan 5e-324 1e-45 2.2250738585072014e-308 1.1754943508222875e-38
1.7976931348623157e308 3.4028234663852886e38 88.72 89.41 103.97 709.78 710.475 745.13
1e22 1.5707963267948966 3.141592653589793 0.7853981633974483 120 105414350 0.126
0.855469 2.426265 0.41421356 0.2928932 268435456 16384 9007199254740992 0.975
0.34657359 1.03972077
"""
"""Special values, thresholds of overflow and underflow, and of the algorithms."""


def operands_of(name, dtype, size, seed=0):
    """Return about 3 * size operands of each path of a function, in random order."""
    generator = np.random.default_rng(seed)
    x = _numbers(dtype, size, generator)
    if name in MATHS_OF_ONE:
        return [x]
    near = (x * generator.uniform(0.1, 3, x.size)).astype(dtype)
    y = np.where(generator.uniform(size=x.size) < 0.5, near, generator.permutation(x))
    special = np.array(_SPECIAL.split(), float).astype(dtype)
    special = np.concatenate([special, -special])
    pairs = [each.ravel() for each in np.meshgrid(special, special)]
    if name == "pow":
        whole = generator.integers(-9, 10, x.size).astype(dtype)
        x, y = np.concatenate([x, x]), np.concatenate([y, whole])
    return [np.concatenate([a, b]) for a, b in zip((x, y), pairs, strict=True)]


def _numbers(dtype, size, generator):
    patterns = generator.integers(0, 256, size * np.dtype(dtype).itemsize, dtype="u1")
    special = np.array(_SPECIAL.split(), float)
    eighth = size // 8
    signs = generator.choice([-1, 1], 2 * eighth)
    quarters = generator.integers(-2000, 2000, eighth) * (np.pi / 4)
    halves = generator.integers(-(2**25), 2**25, eighth) * (np.pi / 2)
    parts = [
        patterns.view(dtype)[:size],
        generator.uniform(-1, 1, 2 * eighth),
        generator.uniform(-10, 10, 2 * eighth),
        generator.uniform(-100, 100, eighth),
        generator.uniform(-800, 800, eighth),
        np.exp(generator.uniform(-60, 60, 2 * eighth)) * signs,
        np.exp(generator.uniform(-30, 1, 2 * eighth)) * signs,
        1 + np.exp(generator.uniform(-35, 1, eighth)),
        1 - np.exp(generator.uniform(-35, 0, eighth)),
        quarters,
        quarters * (1 + 1e-7 * generator.uniform(-1, 1, eighth)),
        halves,
    ]
    near = np.concatenate([special, -special]).astype(dtype)
    parts += [near, np.nextafter(near, dtype(9)), np.nextafter(near, dtype(-9))]
    return generator.permutation(np.concatenate([part.astype(dtype) for part in parts]))


def function_kernel(name, dtype):
    """Return the kernel that applies one maths function."""
    arity = 1 if name in MATHS_OF_ONE else 2
    operand = Argument(dtype, reads=True, writes=False)
    result = Argument(dtype, reads=False, writes=True)
    builder = Builder([operand] * arity + [result], [])
    operands = [builder.load(number) for number in range(arity)]
    builder.store(arity, builder.op(name, dtype, *operands))
    return builder.build()


def units_apart(one, other):
    """Return how many numbers lie between two of a kind; 0 for NaN and NaN.

    Zeros and infinities are numbers of their own; NaN is far from all other values.
    """
    places = [_place(each) for each in (one, other)]
    apart = np.abs(places[0] - places[1])
    missing = np.isnan(one), np.isnan(other)
    apart[missing[0] & missing[1]] = 0
    apart[missing[0] ^ missing[1]] = np.inf
    return apart


def _place(x):
    integer = np.int64 if x.dtype == np.float64 else np.int32
    pattern = x.view(integer)
    largest = np.iinfo(integer).max
    # places of doubles differ by less than 2^53 where this is exact enough to tell 0, 1
    place = np.where(pattern < 0, -1 - (pattern & largest), pattern)
    return place.astype(np.longdouble)
