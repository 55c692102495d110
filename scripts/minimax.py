#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds the polynomials of legate_diffuse/maths/ that are our own.

E. Remez's exchange algorithm, with mpmath. A coefficient is rounded to its format
before the next ones are fitted, so that they make up for its rounding. Prints each
polynomial, lowest power first, and its largest relative error.

    scripts/minimax.py [NAME ...]
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import mpmath
from mpmath import mpf

mpmath.mp.dps = 80
ROUNDS = 8
POINTS_PER_ROOT = 60


@dataclass(frozen=True)
class Fit:
    """`terms` coefficients of `function` on [low, high], to `digits` bits each.

    `weight` makes the relative error of the result from the polynomial's error.
    """

    function: Callable[[mpf], mpf]
    weight: Callable[[mpf], mpf]
    low: float
    high: float
    terms: int
    digits: int = 53


def odd(function, high, terms, digits=53):
    """Fit (f(x) / x - 1) / x^2 as a polynomial in x^2; f(x) is about x."""

    def ratio(z):
        return function(mpmath.sqrt(z)) / mpmath.sqrt(z)

    return Fit(
        lambda z: (ratio(z) - 1) / z, lambda z: z / ratio(z), 0, high, terms, digits
    )


QUARTER_PI = 0.786**2
"""Beyond (pi / 4)^2, as the quotient that reduces an operand is rounded."""

FITS = {
    "sine": odd(mpmath.sin, QUARTER_PI, 6),
    "cosine": Fit(
        lambda z: (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2,
        lambda z: z**2 / mpmath.cos(mpmath.sqrt(z)),
        0,
        QUARTER_PI,
        6,
    ),
    "arc sine": odd(mpmath.asin, 0.25, 13),
    "arc tangent": odd(mpmath.atan, 0.25, 13),
    "arc sine, single": odd(mpmath.asin, 0.25, 6, 24),
    "inverse cube root": Fit(lambda z: 1 / mpmath.cbrt(z), mpmath.cbrt, 1, 2, 5),
}


def polynomial(known, z):
    """Return the value at z; the lowest power's coefficient comes first."""
    value = mpf(0)
    for coefficient in reversed(known):
        value = value * z + coefficient
    return value


def coefficients(fit):
    """Return the rounded coefficients."""
    low = mpf(fit.low) or mpf(fit.high) / 10**6
    found = []
    for power in range(fit.terms):

        def rest(z, known=tuple(found)):
            return (fit.function(z) - polynomial(known, z)) / z ** len(known)

        def weight(z, power=power):
            return fit.weight(z) * z**power

        best = remez(rest, weight, low, mpf(fit.high), fit.terms - power)
        found.append(rounded(best[0], fit.digits))
    return found


def remez(function, weight, low, high, terms):
    """Return the coefficients whose weighted error is least."""
    middle, half = (low + high) / 2, (high - low) / 2
    points = [
        middle - half * mpmath.cos(mpmath.pi * i / terms) for i in range(terms + 1)
    ]
    for _ in range(ROUNDS):
        rows = mpmath.matrix(terms + 1)
        right = mpmath.matrix(terms + 1, 1)
        for i, z in enumerate(points):
            for power in range(terms):
                rows[i, power] = weight(z) * z**power
            rows[i, terms] = (-1) ** i
            right[i] = weight(z) * function(z)
        best = list(mpmath.lu_solve(rows, right))[:terms]

        def error(z, best=tuple(best)):
            return weight(z) * (function(z) - polynomial(best, z))

        points = extrema(error, points, low, high)
    return best


def extrema(error, points, low, high):
    """Return where the error is largest between each two of its changes of sign."""
    ends = [low, *((a + b) / 2 for a, b in pairwise(points)), high]
    found = []
    for i, (start, end) in enumerate(pairwise(ends)):
        grid = [
            start + (end - start) * k / POINTS_PER_ROOT
            for k in range(POINTS_PER_ROOT + 1)
        ]
        sign = mpmath.sign(error(points[i]))
        found.append(max(grid, key=lambda z, sign=sign: sign * error(z)))
    return found


def rounded(value, digits):
    with mpmath.workprec(digits):
        return +value


def largest_error(fit, found):
    """Return the relative error of the result, at 2000 points."""
    low = mpf(fit.low) or mpf(fit.high) / 10**6
    worst = mpf(0)
    for i in range(2001):
        z = low + (mpf(fit.high) - low) * i / 2000
        error = fit.weight(z) * (fit.function(z) - polynomial(found, z))
        worst = max(worst, abs(error))
    return worst


def main(names):
    for name in names or FITS:
        found = coefficients(FITS[name])
        error = mpmath.log(largest_error(FITS[name], found), 2)
        print(f"{name}: relative error 2^{mpmath.nstr(error, 4)}")
        print("   ", " ".join(float(c).hex() for c in found))


if __name__ == "__main__":
    main(sys.argv[1:])
