# SPDX-License-Identifier: Apache-2.0
"""Integers are divided exactly, also where they are divided as floats."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from legate_diffuse.codegen import Compiler, machine
from legate_diffuse.codegen.target import host_target
from legate_diffuse.kernel import Argument, Builder, Kernel
from legate_diffuse.maths.libm import MathMode

COUNT = 50_000


def division(dtype: str) -> Kernel:
    """The quotient and the remainder of two arrays, rounded towards zero."""
    written = Argument(dtype, reads=False, writes=True)
    read = Argument(dtype, reads=True, writes=False)
    builder = Builder([written, written, read, read], [])
    a, b = builder.load(2), builder.load(3)
    builder.store(0, builder.op("quotient", dtype, a, b))
    builder.store(1, builder.op("remainder", dtype, a, b))
    return builder.build()


def expected(a: Any, b: Any) -> tuple[Any, Any]:
    """Both by Python's integers."""
    bits = 8 * a.itemsize
    signed = a.dtype.kind == "i"
    quotients, remainders = [], []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        q = 0 if y == 0 else abs(x) // abs(y) * (-1 if (x < 0) != (y < 0) else 1)
        r = 0 if y == 0 else x - q * y
        wrapped = (q + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) if signed else q
        quotients.append(wrapped)
        remainders.append(r)
    return np.array(quotients, a.dtype), np.array(remainders, a.dtype)


def edges(dtype: str) -> Any:
    """Numbers around powers of 2 and the ends of the type."""
    info = np.iinfo(dtype)
    near = {s * 2**k + d for k in range(64) for d in (-1, 0, 1) for s in (1, -1)}
    near |= {info.min, info.max, info.min + 1, 3, 10, 1000, 94_906_267}
    return np.array(sorted(n for n in near if info.min <= n <= info.max), dtype)


@pytest.fixture(params=[64, 32, 16], ids=lambda size: f"{size} bytes")
def run(request: Any, monkeypatch: Any, call: Any) -> Any:
    """Compile a kernel with vectors of some size, and call it."""
    host = host_target()
    target = replace(host, vector_bytes=min(request.param, host.vector_bytes))
    monkeypatch.setattr(machine, "host_target", lambda: target)
    compiler = Compiler(MathMode.LIBM)

    def run(dtype: str, a: Any, b: Any) -> tuple[Any, Any]:
        kernel = division(dtype)
        found = np.empty_like(a), np.empty_like(a)
        call(compiler.compile(kernel), kernel, [*found, a, b], ())
        return found

    return run


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "uint32", "int8"])
def test_numbers_at_edges(run: Any, dtype: str) -> None:
    """In vectors of like numbers, and where one number of a vector is too large."""
    numbers = edges(dtype)
    pairs = np.array(list(product(numbers, numbers)), dtype)
    for order in (
        np.arange(len(pairs)),
        np.random.default_rng(1).permutation(len(pairs)),
    ):
        a, b = pairs[order, 0].copy(), pairs[order, 1].copy()
        for one, other in zip(run(dtype, a, b), expected(a, b), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("digits", [20, 40, 50, 51, 52, 53, 54, 63])
def test_quotients_close_to_integers(run: Any, dtype: str, digits: int) -> None:
    random = np.random.default_rng(digits)
    b = random.integers(1, 2 ** random.integers(1, min(digits, 62), COUNT))
    most = (2**digits - 1) // b
    a = b * random.integers(0, np.maximum(most, 1)) + random.integers(-1, 2, COUNT)
    a = np.clip(a, 0, 2**digits - 1)
    if dtype == "int64":
        a, b = a * random.choice([-1, 1], COUNT), b * random.choice([-1, 1], COUNT)
    a, b = a.astype(dtype), b.astype(dtype)
    for one, other in zip(run(dtype, a, b), expected(a, b), strict=True):
        np.testing.assert_array_equal(one, other)
