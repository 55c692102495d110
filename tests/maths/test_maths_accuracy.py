# SPDX-License-Identifier: Apache-2.0
"""Errors of vector maths, in units in the last place of the exact results."""

from dataclasses import replace
from functools import partial

import mpmath
import numpy as np
import pytest
from every import every
from maths_operands import function_kernel, operands_of
from tiers import examples

from legate_diffuse.codegen import Compiler, machine
from legate_diffuse.kernel.operators import MATHS_OF_ONE, MATHS_OF_TWO
from legate_diffuse.maths.libm import MathMode, c_name
from legate_diffuse.maths.registry import ROUTINES

PRECISION = 140
POINTS = examples(400, 1200)
"""About a third of the operands of each function and type in the second tier."""

EXACT = {"fmod", "nextafter"}
FUNCTIONS = sorted((MATHS_OF_ONE | MATHS_OF_TWO) - EXACT)
SPELLED_ANOTHER_WAY = {
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "exp2": partial(mpmath.power, 2),
    "log2": partial(mpmath.log, b=2),
    "pow": mpmath.power,
}

BOUNDS = {
    "float64": {
        0.501: "cbrt hypot",
        0.7: "acos asin cos sin tan",
        0.8: "atan atan2",
        1: "exp exp2 expm1 log log1p log2 pow",
        2: "acosh asinh atanh cosh log10 sinh tanh",
    },
    "float32": {
        0.501: "cbrt hypot",
        0.7: "asin tan",
        1: "acos atan cos exp exp2 expm1 log log1p log2 pow sin",
        2: "acosh asinh atan2 atanh cosh log10 sinh tanh",
    },
}
"""Errors are less than these. Those of 1 and more are libm's own."""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@every("name", FUNCTIONS)
@every("dtype", [np.float64, np.float32])
def test_errors_are_bounded(run, name, dtype):
    operands = operands_of(name, dtype, POINTS)
    if name == "pow":
        operands[0] = np.abs(operands[0])
    result = np.empty_like(operands[0])
    kernel = function_kernel(name, np.dtype(dtype).name)
    run(kernel, [*operands, result], mode=MathMode.VECTOR)
    assert max(errors(name, operands, result)) < bound_of(name, dtype)


def bound_of(name, dtype):
    bounds = BOUNDS[np.dtype(dtype).name].items()
    (bound,) = (bound for bound, names in bounds if name in names.split())
    return bound


@every("dtype", BOUNDS)
@every("name", FUNCTIONS)
def test_results_that_differ_from_libms_have_errors_below_one_unit(name, dtype):
    assert not ROUTINES[c_name(name, dtype)].ulps or bound_of(name, dtype) < 1


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "name", [name for name in FUNCTIONS if len(ROUTINES[name + "f"].variants) > 1]
)
def test_the_variant_for_libms_that_round_correctly_does_so(monkeypatch, call, name):
    routine = ROUTINES[name + "f"]
    # it comes first if the others need not have libm's bits
    place = 0 if routine.ulps else -1
    alone = replace(routine, variants=(routine.variants[place],))
    monkeypatch.setitem(ROUTINES, name + "f", alone)
    monkeypatch.setattr(machine, "agrees_with_libm", lambda name, check: True)
    operands = operands_of(name, np.float32, POINTS // 2)
    result = np.empty_like(operands[0])
    kernel = function_kernel(name, "float32")
    call(Compiler().compile(kernel), kernel, [*operands, result])
    # the machine's libm computes subnormal numbers
    result[np.abs(result) < np.finfo(np.float32).tiny] = np.nan
    assert max(errors(name, operands, result)) <= 0.5


def errors(name, operands, results):
    """Yield the error of each finite result."""
    function = SPELLED_ANOTHER_WAY.get(name) or getattr(mpmath, name)
    form = np.finfo(results.dtype)
    least = form.minexp - form.nmant
    usable = np.isfinite(results) & (results != 0)
    for operand in operands:
        # mpmath has no negative zero
        usable &= np.isfinite(operand) & (operand != 0)
    with mpmath.workprec(PRECISION):
        for i in np.flatnonzero(usable):
            exact = function(*(mpmath.mpf(float(x[i])) for x in operands))
            exponent = max(mpmath.frexp(exact)[1] - 1 - form.nmant, least)
            error = abs(mpmath.mpf(float(results[i])) - exact)
            yield float(mpmath.ldexp(error, -exponent))
