# SPDX-License-Identifier: Apache-2.0
"""Truth values as operands, their inversion, and numbers written where a mask says."""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

PROGRAM = """
from comparison import same, unfused

def values(size, dtype):
    numbers = cn.arange(size)
    return numbers % 3 == 0 if dtype == "bool" else (numbers % 7).astype(dtype)

def outcome(function, x):
    try:
        return function(x)
    except Exception as error:
        return type(error)

def put(x, mask, value):
    x[mask] = value
    return x

FUNCTIONS = [
    lambda x: ~x, lambda x: ~x[1:], lambda x: ~x[:0], lambda x: ~(x > 2), cn.invert,
    lambda x: x + True, lambda x: x * False, lambda x: x == True, lambda x: x & True,
    lambda x: True - x, lambda x: x / True, lambda x: x**True, lambda x: x < False,
    lambda x: cn.maximum(x, True), lambda x: x + np.True_, lambda x: x[2:] | True,
    lambda x: x << True, lambda x: put(x, x > 3, 1), lambda x: put(x, x > 3, 2.5),
    lambda x: put(x, x >= 0, 0), lambda x: put(x, x > 99, 1), lambda x: put(x, x, 1),
    lambda x: put(x, x == 2, True), lambda x: put(x[1:], x[1:] > 1, -1),
    lambda x: put(x, x[1:] > 1, 1), lambda x: put(x, x > 3, 1j),
    lambda x: put(x.reshape(2, -1), x.reshape(2, -1) > 1, 3),
]

def results(size, dtype):
    return [outcome(function, values(size, dtype)) for function in FUNCTIONS]
"""


@pytest.mark.parametrize("size", [6, 1000, 100_000])
def test_results_are_those_of_tasks(size: int) -> None:
    run_here(
        PROGRAM
        + f"""
for dtype in "bool int8 uint8 int64 float32 float64 complex128".split():
    with unfused():
        wanted = results({size}, dtype)
        wanted = [each if type(each) is type else np.asarray(each) for each in wanted]
    for _ in range(3):
        for number, (one, other) in enumerate(zip(results({size}, dtype), wanted)):
            if type(other) is type:
                assert one is other, (dtype, number, one, other)
            else:
                same(one, other)
"""
    )


def test_large_arrays_are_fused() -> None:
    run_here(
        """
def program(n):
    x = n.arange(300000.0) % 7.0
    z = x * True
    z[x > 3.0] = 1
    z[~(x < 2.0)] = 0
    return z + x
program(cn)
found = counts(lambda: [program(cn) for _ in range(4)])
assert found["tasks_submitted"] <= 1, found
agree(program)
"""
    )
