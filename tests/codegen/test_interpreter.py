# SPDX-License-Identifier: Apache-2.0
"""Which kernels are interpreted.

That they give the bits of compiled ones, all tests find that ``run`` kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from compiled_kernels import interpret, run_interpreted

from legate_diffuse.kernel import Argument, Builder, Kernel
from legate_diffuse.kernel.dtypes import FLOATS, INTEGERS
from legate_diffuse.kernel.operators import (
    ARITHMETIC,
    ARITY,
    BITWISE,
    COMPARISONS,
    EXACT,
    SHIFTS,
)

REAL = ("bool", *INTEGERS, *FLOATS)
OPERATORS = [
    *product(sorted(ARITHMETIC | {"quotient", "remainder"} | SHIFTS), INTEGERS),
    *product(sorted(ARITHMETIC | EXACT | {"signbit"}), FLOATS),
    *product(sorted(BITWISE), ("bool", *INTEGERS)),
    *product(sorted(COMPARISONS), REAL),
]


def kernel_of(name: str, operands: Sequence[str], result: str) -> Kernel:
    """Return the kernel of an operator."""
    arguments = [Argument(each, reads=True, writes=False) for each in operands]
    arguments.append(Argument(result, reads=False, writes=True))
    builder = Builder(tuple(arguments), ())
    loads = [builder.load(number) for number in range(len(operands))]
    builder.store(len(operands), builder.op(name, result, *loads))
    return builder.build()


def is_interpreted(kernel: Kernel) -> bool:
    arrays = [np.ones(3, each.dtype) for each in kernel.arguments]
    return run_interpreted(kernel, arrays)


def test_what_is_exact_is_interpreted() -> None:
    for name, dtype in OPERATORS:
        result = "bool" if name in COMPARISONS | {"signbit"} else dtype
        kernel = kernel_of(name, [dtype] * ARITY[name], result)
        assert is_interpreted(kernel), (name, dtype)
    for source, target in product(REAL, REAL):
        assert is_interpreted(kernel_of("cast", [source], target)), (source, target)
        assert is_interpreted(kernel_of("select", ["bool", target, target], target))


@pytest.mark.parametrize(
    ("name", "operands", "result"),
    [
        ("exp", ["float64"], "float64"),
        ("pow", ["float64"] * 2, "float64"),
        ("gcd", ["int64"] * 2, "int64"),
        ("complex_mul", ["complex128"] * 2, "complex128"),
        ("cast", ["float16"], "float32"),
        ("cast", ["float64"], "float16"),
    ],
)
def test_what_is_not_here_is_not(name: str, operands: list[str], result: str) -> None:
    assert not is_interpreted(kernel_of(name, operands, result))


def test_a_long_kernel_is_compiled() -> None:
    builder = Builder((Argument("float64", reads=True, writes=True),), ())
    value = builder.load(0)
    for _ in range(80):
        value = builder.op("add", "float64", value, value)
    builder.store(0, value)
    assert not is_interpreted(builder.build())


def test_results_may_take_the_place_of_operands() -> None:
    """What is written last is read first, in each of them."""
    both = Argument("float64", reads=True, writes=True)
    builder = Builder((both, both), ())
    one, other = builder.load(0), builder.load(1)
    builder.store(0, other)
    builder.store(1, one)
    arrays = [np.arange(600.0), -np.arange(600.0)]
    assert run_interpreted(builder.build(), arrays)
    assert np.array_equal(arrays[0], -np.arange(600.0))
    assert np.array_equal(arrays[1], np.arange(600.0))


@pytest.mark.parametrize(
    "text",
    [
        "kernel\nargument 0 float80 write\n",
        "kernel\n%0: int64 = load\n",
        "kernel\n%0: int64 = not %0\n",
        "kernel\nargument 0 int64 write\nstore 0 %0\n",
        "kernel\n%0:\n",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    assert interpret(text, 1) is None


def test_lanes_have_to_fill_blocks() -> None:
    text = "kernel\nargument 0 int64 write\n%0: int64 = index 0\nstore 0 %0\n"
    assert interpret(text, 3) is None
    assert interpret(text, 0) is None
