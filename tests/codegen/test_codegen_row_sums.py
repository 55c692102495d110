# SPDX-License-Identifier: Apache-2.0
"""Sums over rows of elements, against SciPy and a plain loop."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from compiled_kernels import Run
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tiers import examples

from legate_diffuse.codegen import machine
from legate_diffuse.codegen.target import host_target
from legate_diffuse.kernel import Argument, Builder, Kernel
from legate_diffuse.kernel.dtypes import COMPLEX, FLOATS, RECT
from legate_diffuse.maths.libm import MathMode

ROWS = np.dtype([("first", "int64"), ("last", "int64")])
VALUES = np.array([1.0, -2.5, 0.3, 1e-3, 7.0, -0.0])
MOST_COLUMNS = 9


def kernel_of(dtype: str, columns: str, operator: str = "row_sum") -> Kernel:
    """Return the kernel of y = A x + y."""
    arguments = (
        Argument(dtype, reads=True, writes=True),
        Argument(RECT, reads=True, writes=False),
        Argument(columns, reads=True, writes=False, whole=True),
        Argument(dtype, reads=True, writes=False, whole=True),
        Argument(dtype, reads=True, writes=False, whole=True),
    )
    builder = Builder(arguments, ())
    y, *operands = (builder.load(number) for number in range(5))
    total = builder.op(operator, dtype, *operands)
    if dtype in FLOATS:
        total = builder.op("add", dtype, total, y)
    builder.store(0, total)
    return builder.build()


def numbers(dtype: str, count: int) -> Any:
    found = np.resize(VALUES, count).astype(dtype)
    return found * found.dtype.type(1 - 0.3j) if dtype in COMPLEX else found


def expected(rows: Any, columns: Any, values: Any, x: Any, y: Any) -> Any:
    """Return the sums in order."""
    found = np.zeros_like(y)
    for number, (first, last) in enumerate(rows):
        for k in range(first, last + 1):
            found[number] += values[k] * x[columns[k]]
    return found + y if y.dtype.kind == "f" else found


def contracted(rows: Any, columns: Any, values: Any, x: Any, y: Any) -> Any:
    """Return the sums in order, of which none rounds a product first."""
    found = np.zeros_like(y)
    for number, (first, last) in enumerate(rows):
        for k in range(first, last + 1):
            exact = [Fraction(float(n)) for n in (values[k], x[columns[k]])]
            found[number] = rounded(
                exact[0] * exact[1] + Fraction(float(found[number])), y.dtype
            )
    return found + y


def rounded(exact: Fraction, dtype: Any) -> Any:
    """Return the float that is nearest to a number, of two the even one."""
    near = dtype.type(float(exact))
    some = (near, *[np.nextafter(near, dtype.type(to)) for to in (-np.inf, np.inf)])
    bits = f"u{dtype.itemsize}"
    return min(some, key=lambda n: (abs(Fraction(float(n)) - exact), n.view(bits) & 1))


# Each row by its columns, which may come twice.
row = st.lists(st.integers(0, MOST_COLUMNS - 1), max_size=7)
# Many rows of one length, and some others.
alike = st.integers(0, 5).flatmap(
    lambda n: st.lists(
        st.one_of(
            *[st.lists(st.integers(0, MOST_COLUMNS - 1), min_size=n, max_size=n)] * 9,
            row,
        ),
        min_size=16,
        max_size=60,
    )
)
structures = st.one_of(st.lists(row, min_size=1, max_size=40), alike)


@settings(max_examples=examples(15, 40), deadline=None)
@given(structures, st.booleans())
@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_products_of_any_structure(
    run: Run, dtype: str, index: str, structure: list[list[int]], spread: bool
) -> None:
    lengths = [len(each) for each in structure]
    ends = np.cumsum(lengths)
    rows = np.array(list(zip(ends - lengths, ends - 1, strict=True)), ROWS)
    columns = np.array([n for each in structure for n in each], index)
    values, x = numbers(dtype, len(columns)), numbers(dtype, MOST_COLUMNS)
    y = numbers(dtype, 2 * len(rows))[:: 2 if spread else 1][: len(rows)]
    bits = expected(rows.tolist(), columns, values, x, y)
    begins = np.concatenate([[0], ends])
    matrix = csr_array((values, columns, begins), (len(rows), MOST_COLUMNS))
    product = matrix @ x + (y if dtype in FLOATS else 0)
    stand = [
        np.lib.stride_tricks.as_strided(each, (1,), (0,))
        if len(each)
        else np.zeros(1, each.dtype)
        for each in (columns, values, x)
    ]
    unrounded = y.copy()
    run(kernel_of(dtype, index), [y, rows, *stand])
    np.testing.assert_array_equal(y, bits)
    if dtype in FLOATS:
        bits = contracted(rows.tolist(), columns, values, x, unrounded)
        run(kernel_of(dtype, index, "contracted_row_sum"), [unrounded, rows, *stand])
        np.testing.assert_array_equal(unrounded, bits)
    np.testing.assert_allclose(
        y,
        product,
        rtol=1e-4 if "32" in dtype else 1e-12,
        atol=1e-5 if dtype in ("float32", "complex64") else 0,
    )


def test_products_of_infinities_are_those_of_annex_g(run: Run) -> None:
    rows = np.array([(0, 0), (1, 1), (2, 1)], ROWS)
    values = np.array([complex(np.inf, np.nan), complex(np.nan, 1)])
    y = np.full(3, 1j)
    columns, x = np.zeros(2, "int32"), np.array([1 + 1j])
    arrays = [each[:1] for each in (columns, values, x)]
    run(kernel_of("complex128", "int32"), [y, rows, *arrays])
    assert np.isinf(y[0])
    assert np.isnan(y[1])
    assert y[2] == 0


@pytest.mark.parametrize(("nontemporal", "locality"), [(True, 0), (False, 3)])
def test_each_line_of_values_and_columns_is_asked_for_once(
    monkeypatch: pytest.MonkeyPatch, nontemporal: bool, locality: int
) -> None:
    target = replace(host_target(), prefetches_nontemporal=nontemporal)
    monkeypatch.setattr(machine, "host_target", lambda: target)
    compiled = machine.Machine(MathMode.VECTOR, fast_math=False)
    text = compiled.assembly("kernel", kernel_of("float64", "int64"))
    sums = text[text.index("define internal") :]
    sums = sums[: sums.index("\n}")]
    lanes = re.search(r"<(\d+) x double>", sums)
    assert lanes is not None
    lines = -(-int(lanes[1]) * np.dtype("float64").itemsize // 64)
    asked = re.findall(r"call void @llvm.prefetch.*, i32 0, i32 (\d), i32 1\)", sums)
    assert asked == [str(locality)] * (2 * lines)
