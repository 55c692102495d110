# SPDX-License-Identifier: Apache-2.0
"""Scalar functions in kernels have the bits of Numba's own loops."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every import every

from legate_diffuse.check.elements import same_bits
from legate_diffuse.codegen.functions import calls_of, vector_function
from legate_diffuse.codegen.machine import Machine
from legate_diffuse.kernel import Argument, Builder, Kernel
from legate_diffuse.libraries.compiled import compile_function
from legate_diffuse.maths.libm import MathMode

pytest.importorskip("numba")
sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from numba_functions import FUNCTIONS, arguments, by_numba

_CASES = {function.__name__: rest for function, *rest in FUNCTIONS}
_FUNCTIONS = {function.__name__: function for function, *_ in FUNCTIONS}


def kernel_of(
    function: Callable[..., Any], types: str, *, negates: bool = False
) -> Kernel:
    """Return a kernel that stores the results of a function, or minus those."""
    made = compile_function(function, [np.dtype(char) for char in types])
    builder = Builder(
        [
            *[Argument(dtype, reads=True, writes=False) for dtype in made.inputs],
            *[Argument(dtype, reads=False, writes=True) for dtype in made.outputs],
        ],
        (),
    )
    operands = [builder.load(n) for n in range(len(types))]
    for n, (name, dtype) in enumerate(
        zip(made.operators(), made.outputs, strict=True), len(types)
    ):
        value = builder.op(name, dtype, *operands)
        builder.store(n, builder.op("neg", dtype, value) if negates else value)
    return builder.build()


def edges(types: str, count: int) -> list[Any]:
    """Return arrays with infinities, NaNs, zeros and the limits of integers."""
    made = arguments(types, (-4, 4) if types.islower() else (0, 4), count)
    for n, array in enumerate(made):
        places = np.arange(n, count, 3)
        if array.dtype.kind in "fc":
            odd = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-310, 5e15])
        else:
            limits = [0, 1] if array.dtype.kind == "b" else [0, 1, 2, 3, 7]
            odd = np.array(limits)
        array[places] = np.resize(odd, len(places)).astype(array.dtype)
    return made


@cache
def ufuncs_of(name: str) -> Sequence[Any]:
    """Return Numba's universal functions, which it compiles once for each type."""
    return by_numba(_FUNCTIONS[name], _CASES[name][0])


@pytest.mark.parametrize("mode", MathMode)
@every("name", _CASES)
def test_a_function_has_numbas_bits(run: Any, mode: MathMode, name: str) -> None:
    function, (types, bounds) = _FUNCTIONS[name], _CASES[name]
    kernel = kernel_of(function, types)
    ufuncs = ufuncs_of(name)
    # whole vectors, and a rest of one
    for count in (1, 15, 1000):
        values = [arguments(types, bounds, count)]
        if name not in ("collatz", "gcd", "newton", "split"):
            values.append(edges(types, count))
        for given in values:
            with np.errstate(all="ignore"):
                wanted = [ufunc(*given) for ufunc in ufuncs]
            found = [np.empty_like(each) for each in wanted]
            run(kernel, [*given, *found], mode=mode)
            for left, right in zip(found, wanted, strict=True):
                assert left.dtype == right.dtype
                assert same_bits(left, right).all(), (name, count)


@pytest.mark.parametrize("width", [128, 256, 512])
@every("name", ["piecewise", "roots", "julia", "chosen", "clamp", "damped"])
def test_what_only_branches_is_computed_on_vectors(name: str, width: int) -> None:
    machine = Machine(MathMode.LIBM, False)
    if width > 8 * machine._target.vector_bytes:
        pytest.skip("the processor has no such registers")
    types, _ = _CASES[name]
    (call,) = calls_of(kernel_of(_FUNCTIONS[name], types)).values()
    lanes = 2 * width // (64 if types.isupper() or "d" in types else 32)
    text = vector_function(call, lanes, width, machine._library, machine._generator)
    # no loop is left, and no memory
    assert "alwaysinline" in text
    assert not {"alloca", "br", "phi"} & set(text.replace("(", " ").split())


def test_results_of_one_call_are_computed_once() -> None:
    machine = Machine(MathMode.LIBM, False)
    kernel = kernel_of(_FUNCTIONS["escape"], "dd", negates=True)
    text = machine.assembly("kernel", kernel)
    assert text.count("define internal { <") == 1
    kernel = kernel_of(steps_and_rest, "ll", negates=True)
    text = machine.assembly("kernel", kernel)
    assert text.count("define internal { <") == 1
    # of the loop and of what comes first and last
    body = text[text.index("define internal void @body") :]
    assert body.count("call { <") == 1


def test_nothing_but_loops_is_computed_without_vectors() -> None:
    machine = Machine(MathMode.LIBM, False)
    text = machine.assembly("kernel", kernel_of(steps_and_rest, "ll"))
    # each point once, in the kernel's own loop, which has two points and a last one
    assert 1 <= text.count("= srem i64") <= 4
    assert "call {" not in text
    assert not re.search(r"<(?!1 x )\d+ x i64>", text)


def steps_and_rest(a: Any, b: Any) -> Any:
    steps = 0
    while b:
        a, b = b, a % b
        steps += 1
    return steps, a


def test_an_exponential_is_computed_on_vectors(run: Any, compilers: Any) -> None:
    import math

    kernel = kernel_of(lambda x: math.exp(x) if x < 0 else math.exp(-x), "d")
    x = np.linspace(-40.0, 40.0, 1001)
    found = np.empty_like(x)
    run(kernel, [x, found], mode=MathMode.VECTOR)
    assert same_bits(found, np.vectorize(lambda x: math.exp(-abs(x)))(x)).all()
    machine = compilers[MathMode.VECTOR]._machine
    assert "exp" in machine._library.vector
    text = machine.assembly("kernel", kernel)
    assert "@legate_diffuse_exp(" in text
    assert "@llvm.exp" not in text


def test_functions_of_equal_code_are_one_operator() -> None:
    def twice(x: Any) -> Any:
        return x * 2.0

    one = compile_function(twice, [np.dtype("d")])
    other = compile_function(lambda x: x * 2.0, [np.dtype("d")])
    third = compile_function(lambda x: x * 3.0, [np.dtype("d")])
    assert one.operators() == other.operators() != third.operators()
