# SPDX-License-Identifier: Apache-2.0
"""The polynomials of our own routines are what `scripts/minimax.py` finds."""

import sys
from pathlib import Path

import mpmath
import pytest

from legate_diffuse.maths import arcs, roots, trigonometric

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

import minimax

POLYNOMIALS = {
    "sine": (trigonometric._SINE, -57.8),
    "cosine": (trigonometric._COSINE, -62.4),
    "arc sine": (arcs._ARC_SINE, -59.0),
    "arc tangent": (arcs._ARC_TANGENT, -60.6),
    "arc sine, single": (arcs._ARC_SINE_SINGLE, -31.6),
    "inverse cube root": (roots._INVERSE_CUBE_ROOT, -14.7),
}
"""Coefficients, and the exponent of 2 that the modules say their error has."""


def test_all_are_known():
    assert POLYNOMIALS.keys() == minimax.FITS.keys()


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_errors_are_what_the_modules_say(name):
    coefficients, exponent = POLYNOMIALS[name]
    error = minimax.largest_error(minimax.FITS[name], coefficients)
    assert exponent - 0.1 < mpmath.log(error, 2) < exponent + 0.05


@pytest.mark.parametrize("name", ["arc sine, single", "inverse cube root"])
def test_the_search_finds_the_coefficients(name):
    found = minimax.coefficients(minimax.FITS[name])
    assert tuple(map(float, found)) == POLYNOMIALS[name][0]
