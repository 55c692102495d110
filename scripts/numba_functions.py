# SPDX-License-Identifier: Apache-2.0
"""Twenty scalar functions as people write them for Numba, with arguments for them.

They branch and loop, on floats, integers, bools and complex numbers; some have several
results, some use numbers of their module or of the function around them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

DAMPING: Final = 0.25


def larger_rest(x, y):
    if x > y:
        return x * y + 1.0
    return x - y


def clamp(x, low, high):
    return min(max(x, low), high)


def piecewise(x):
    if x < -1.0:
        return -x
    if x < 0.0:
        return x * x
    if x < 1.0:
        return math.sqrt(x)
    return 1.0 / x


def huber(r):
    a = abs(r)
    return 0.5 * r * r if a <= 1.0 else a - 0.5


def horner(x):
    s = 0.0
    for k in range(12):
        s = s * x + (k + 1)
    return s


def newton(x):
    y = x if x > 1.0 else 1.0
    while abs(y * y - x) > 1e-9 * (1.0 + x):
        y = 0.5 * (y + x / y)
    return y


def escape(re, im):
    x, y, n = re, im, 0
    while n < 40 and x * x + y * y < 4.0:
        x, y = x * x - y * y + re, 2.0 * x * y + im
        n += 1
    return n


def collatz(n):
    steps = 0
    while n > 1 and steps < 60:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def bits(n):
    count = 0
    for k in range(32):
        count += (n >> k) & 1
    return count


def hashed(n):
    n ^= n >> 16
    n *= 0x7FEB352D
    n ^= n >> 15
    return n & 0xFFFFFF


def quotients(a, b):
    return a // b, a % b


def polar(x, y):
    return math.sqrt(x * x + y * y), math.atan2(y, x)


def roots(b, c):
    d = b * b - 4.0 * c
    if d < 0.0:
        return 0.0, 0.0, False
    s = math.sqrt(d)
    return (-b - s) / 2.0, (-b + s) / 2.0, True


def split(x):
    whole = math.floor(x)
    return int(whole), np.float32(x - whole)


def gaussian(x, y):
    return math.exp(-x * x) * math.cos(y)


def julia(z):
    n = 0
    while n < 20 and z.real * z.real + z.imag * z.imag < 4.0:
        z = z * z + (-0.8 + 0.156j)
        n += 1
    return z


def damped(x, v):
    return v * (1.0 - DAMPING) - x if v > 0.0 else v * DAMPING - x


def chosen(flag, a, b):
    if flag:
        return a * 2 + b
    return b - a


def _sharpened(steepness: float) -> Callable[[Any], Any]:
    def sharpened(x):
        if x < 0.0:
            return x / (1.0 - steepness * x)
        return x / (1.0 + steepness * x)

    return sharpened


# Each function with the types of its arguments, and the range of their values.
FUNCTIONS: Final[tuple[tuple[Callable[..., Any], str, tuple[float, float]], ...]] = (
    (larger_rest, "dd", (-3, 3)),
    (clamp, "fff", (-3, 3)),
    (piecewise, "d", (-3, 3)),
    (huber, "f", (-3, 3)),
    (horner, "d", (-1, 1)),
    (newton, "d", (0, 50)),
    (escape, "dd", (-1.5, 1.5)),
    (collatz, "l", (1, 5000)),
    (gcd, "ii", (0, 5000)),
    (bits, "I", (0, 2**31)),
    (hashed, "L", (0, 2**31)),
    (quotients, "ll", (-9, 9)),
    (polar, "dd", (-3, 3)),
    (roots, "dd", (-3, 3)),
    (split, "d", (-99, 99)),
    (gaussian, "dd", (-3, 3)),
    (julia, "D", (-1, 1)),
    (damped, "dd", (-3, 3)),
    (chosen, "?hh", (0, 99)),
    (_sharpened(3.0), "d", (-3, 3)),
)


def arguments(types: str, bounds: tuple[float, float], count: int) -> list[Any]:
    """Return arrays of some types, with values between bounds."""
    random = np.random.default_rng(count)
    low, high = bounds
    made = []
    for char in types:
        dtype = np.dtype(char)
        if dtype.kind == "b":
            made.append(random.random(count) < 0.5)
        elif dtype.kind in "iu":
            made.append(random.integers(int(low), int(high), count).astype(dtype))
        elif dtype.kind == "c":
            parts = random.uniform(low, high, (2, count))
            made.append((parts[0] + 1j * parts[1]).astype(dtype))
        else:
            made.append(random.uniform(low, high, count).astype(dtype))
    return made


def results_of(function: Callable[..., Any], types: str) -> int:
    """Return how many results a function has."""
    sample = function(*[np.dtype(char).type(1) for char in types])
    return len(sample) if isinstance(sample, tuple) else 1


def by_numba(function: Callable[..., Any], types: str) -> Sequence[Any]:
    """Return Numba's universal function of each result of a function."""
    import numba

    if (count := results_of(function, types)) == 1:
        return [numba.vectorize(function)]
    inner = numba.njit(error_model="numpy")(function)
    made = []
    for number in range(count):
        names = ", ".join(f"x{n}" for n in range(len(types)))
        scope = {"inner": inner}
        exec(f"def part({names}): return inner({names})[{number}]", scope)
        made.append(numba.vectorize(scope["part"]))
    return made
