# SPDX-License-Identifier: Apache-2.0
"""Every kind that depends on the index of a point, against NumPy."""

import numpy as np
from every import every
from test_codegen_indices import FIRST
from test_operations import assert_same, complex_values, edge_values, kernel_of, name

from legate_diffuse.kernel.dtypes import COMPLEX
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS, OPERATIONS

KINDS = {
    task: [
        kind
        for kind in OPERATIONS
        if MEANINGS.depends_on_index(kind) and kind.task == task
    ]
    for task in ("ARANGE", "EYE", "TRILU")
}
SHAPE = (17, 40)
OFFSETS = [0, 3, -5, 100, -100, 2**31 - 1, -(2**31)]


def values(dtype):
    numbers = complex_values(dtype) if dtype in COMPLEX else edge_values(dtype)
    return np.resize(numbers, SHAPE)


def diagonal(offset):
    """The column of a diagonal in each row, and the columns."""
    rows, columns = np.indices(SHAPE) + FIRST
    return rows + offset, columns


@every("kind", KINDS["ARANGE"], ids=name)
def test_arange(run, kind):
    (dtype,) = kind.outputs
    for start, step in [(0, 1), (3, 2), (100, 5), (1, 0)]:
        result = np.empty(100, dtype)
        run(kernel_of(kind), [result], [start, step])
        index = np.arange(FIRST, FIRST + 100)
        if dtype == "bool":
            expected = (index != 0) & bool(step) | bool(start)
        else:
            expected = (index * step + start).astype(dtype)
        assert_same(result, expected)


@every("dtype", ["float32", "float64"])
def test_arange_rounds_once(run, dtype):
    (kind,) = (kind for kind in KINDS["ARANGE"] if kind.outputs == (dtype,))
    start, step = np.array([0.1, 0.3], dtype)
    result = np.empty(100, dtype)
    run(kernel_of(kind), [result], [start, step])
    index = np.arange(FIRST, FIRST + 100)
    exact = np.longdouble(start) + index * np.longdouble(step)
    assert_same(result, exact.astype(dtype))
    assert (result != (index.astype(dtype) * step + start)).any()


@every("kind", KINDS["EYE"], ids=name)
def test_eye(run, kind):
    x = values(kind.inputs[0])
    for offset in OFFSETS:
        result = np.empty_like(x)
        run(kernel_of(kind), [x, result], [offset])
        place, columns = diagonal(offset)
        assert_same(result, np.where(place == columns, x.dtype.type(1), x))


@every("kind", KINDS["TRILU"], ids=name)
def test_triangle(run, kind):
    x = values(kind.inputs[0])
    for offset in OFFSETS:
        for lower in (False, True):
            result = np.empty_like(x)
            run(kernel_of(kind), [x, result], [lower, offset])
            place, columns = diagonal(offset)
            kept = place >= columns if lower else place <= columns
            assert_same(result, np.where(kept, x, x.dtype.type(0)))
