# SPDX-License-Identifier: Apache-2.0
"""The kernels of Legate Sparse's tasks, which needs not be installed for that."""

from __future__ import annotations

import sys
from enum import IntEnum
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from compiled_kernels import Run
from scipy.sparse import random_array

from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.kernel.dtypes import COMPLEX, FLOATS, RECT
from legate_diffuse.libraries import legate_sparse
from legate_diffuse.libraries.operations import Operations
from legate_diffuse.libraries.registry import Library

NAMES = (
    "CSR_SPMV_ROW_SPLIT AXPBY CSR_DIAGONAL DENSE_TO_CSR_NNZ ZIP_TO_RECT1 UNZIP_RECT1 "
    "EXPAND_POS_TO_COORDINATES SPGEMM_CSR_CSR_CSR_NNZ SPGEMM_CSR_CSR_CSR "
    "READ_MTX_TO_COO"
)
N = 50


@pytest.fixture(params=["contracted", "rounded"])
def library(request: Any, monkeypatch: pytest.MonkeyPatch) -> Library:
    """Register a version of the library whose compiler contracted, or did not."""
    codes: Any = IntEnum("SparseOpCode", NAMES, start=7)  # type: ignore[misc]
    contracted = request.param == "contracted"

    def compute(self: Library, task: int, inputs: Any, scalars: Any) -> float:
        x, a, b, y = inputs
        assert (task, b, scalars) == (codes.AXPBY, 1.0, (True, False))
        return (
            float(Fraction(a) * Fraction(x) + Fraction(y)) if contracted else a * x + y
        )

    def sum_row(self: Library, task: int, value: float, count: int) -> float:
        assert task == codes.CSR_SPMV_ROW_SPLIT
        return legate_sparse._sum(value, count, contracted=contracted)

    native = SimpleNamespace(describe_task=lambda _, task: (codes(task).name, False))
    found = Library(
        SimpleNamespace(name=legate_sparse.NAME, raw_handle=1),
        SimpleNamespace(native=native, runtime=SimpleNamespace(node_count=1)),  # type: ignore[arg-type]
    )
    module = SimpleNamespace(SparseOpCode=codes)
    monkeypatch.setitem(sys.modules, "legate_sparse", SimpleNamespace(config=module))
    monkeypatch.setitem(sys.modules, "legate_sparse.config", module)
    monkeypatch.setattr(Library, "compute", compute)
    monkeypatch.setattr(Library, "sum_row", sum_row)
    legate_sparse.register(found)
    found.codes, found.contracted = codes, contracted  # type: ignore[attr-defined]
    return found


def compute(library: Any, run: Run, task: str, arrays: Any, scalars: Any = ()) -> Any:
    """Return what the kernel of a task computes; arrays of no dimension are whole."""
    operations = Operations()
    operations.add(library.operations)
    dtype = arrays[-1].dtype
    name = library.forms[library.codes[task]].name
    types = [RECT if each.dtype.names else str(each.dtype) for each in arrays]
    (kind,) = [
        each
        for each in library.operations
        if each.task == name and list(each.inputs) == types
    ]
    whole = operations.sums_rows(kind)
    arguments = [
        Argument(each, True, False, whole=whole and n > 0)
        for n, each in enumerate(types)
    ]
    result = np.zeros(len(arrays[0]), dtype)
    arguments.append(Argument(str(dtype), False, True))
    builder = Builder(arguments, kind.scalars)
    loaded = [builder.load(n) for n in range(len(arrays))]
    loaded += [builder.scalar(n) for n in range(len(scalars))]
    (value,) = operations.lower(kind, builder, loaded)
    builder.store(len(arrays), value)
    given = [
        np.lib.stride_tricks.as_strided(each, (1,), (0,)) if whole and n else each
        for n, each in enumerate(arrays)
    ]
    run(builder.build(), [*given, result], scalars)
    return result


def numbers(count: int, dtype: str, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    found = rng.random(count) - 0.5
    if dtype in COMPLEX:
        found = found + 1j * rng.random(count)
    return found.astype(dtype)


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("of_x", [False, True])
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_axpby(library: Any, run: Run, dtype: str, of_x: bool, negated: bool) -> None:
    x, y = numbers(N, dtype, 1), numbers(N, dtype, 2)
    a, b = numbers(1, dtype, 3), numbers(1, dtype, 4)
    found = compute(library, run, "AXPBY", [x, a, b, y], [of_x, negated])

    factor = -a / b if negated else a / b
    one, other = (x, y) if of_x else (y, x)
    precision = 8 * np.finfo(dtype).eps
    np.testing.assert_allclose(found, factor * one + other, precision, precision)
    if dtype == "float64":
        exact = [
            float(Fraction(factor[0]) * Fraction(u) + Fraction(v))
            for u, v in zip(one.tolist(), other.tolist(), strict=True)
        ]
        rounded = factor * one + other
        assert (rounded != exact).any()
        expected = exact if library.contracted else rounded
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_product(library: Any, run: Run, dtype: str, index: str) -> None:
    rng = np.random.default_rng(5)
    matrix = random_array((N, 30), density=0.05, format="csr", rng=rng)
    values, x = numbers(matrix.nnz, dtype, 6), numbers(30, dtype, 7)
    matrix = type(matrix)((values, matrix.indices, matrix.indptr), shape=matrix.shape)
    assert (np.diff(matrix.indptr) == 0).any()
    rows = np.zeros(N, [("first", "int64"), ("last", "int64")])
    rows["first"], rows["last"] = matrix.indptr[:-1], matrix.indptr[1:] - 1
    arrays = [rows, matrix.indices.astype(index), values, x]
    found = compute(library, run, "CSR_SPMV_ROW_SPLIT", arrays)
    precision = 8 * np.finfo(dtype).eps
    np.testing.assert_allclose(found, matrix @ x, precision, precision)


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_diagonal(library: Any, run: Run, dtype: str, index: str) -> None:
    rng = np.random.default_rng(8)
    # the runner's first point has the index 10
    matrix = random_array((N, N + 10), density=0.3, format="csr", rng=rng)
    matrix.data = numbers(matrix.nnz, dtype, 9)
    rows = np.zeros(N, [("first", "int64"), ("last", "int64")])
    rows["first"], rows["last"] = matrix.indptr[:-1], matrix.indptr[1:] - 1
    arrays = [rows, matrix.indices.astype(index), matrix.data]
    found = compute(library, run, "CSR_DIAGONAL", arrays)
    diagonal = matrix.diagonal(10)
    assert 0 < np.count_nonzero(diagonal) < N
    np.testing.assert_array_equal(found, diagonal)


def test_the_other_tasks_run_as_they_are(library: Any) -> None:
    overwriting = {
        library.codes(task).name
        for task, form in library.forms.items()
        if form.overwrites
    }
    assert overwriting == {*legate_sparse._OVERWRITING, "CSR_DIAGONAL"}
    assert not library.forms[library.codes.READ_MTX_TO_COO].waits
    # it leaves what it does not change
    assert library.codes.SPGEMM_CSR_CSR_CSR not in library.forms
