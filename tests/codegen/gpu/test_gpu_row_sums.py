# SPDX-License-Identifier: Apache-2.0
"""Sums over the rows of compressed matrices have the bits of a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from batches import Batch
from every import every
from test_codegen_row_sums import (
    MOST_COLUMNS,
    ROWS,
    contracted,
    expected,
    kernel_of,
    numbers,
)

from legate_diffuse.kernel.dtypes import COMPLEX, FLOATS

CASES = [
    *(
        (dtype, i, "row_sum")
        for dtype in [*FLOATS, *COMPLEX]
        for i in ("int32", "int64")
    ),
    ("float64", "int64", "contracted_row_sum"),
]


@pytest.fixture(scope="module")
def batch() -> Batch:
    return Batch([kernel_of(*case) for case in CASES])


@every(("dtype", "index", "operator"), CASES)
@every("spread", [1, 2])
def test_products_of_any_structure(batch, dtype, index, operator, spread) -> None:
    random = np.random.default_rng(3)
    lengths = random.integers(0, 8, 700)
    ends = np.cumsum(lengths)
    rows = np.array(list(zip(ends - lengths, ends - 1, strict=True)), ROWS)
    columns = random.integers(0, MOST_COLUMNS, ends[-1]).astype(index)
    values, x = numbers(dtype, len(columns)), numbers(dtype, MOST_COLUMNS)
    y = numbers(dtype, spread * len(rows))[::spread]
    by_loop = expected if operator == "row_sum" else contracted
    bits = by_loop(rows.tolist(), columns, values, x, y)
    stand = [
        np.lib.stride_tricks.as_strided(each, (1,), (0,))
        for each in (columns, values, x)
    ]
    batch.run(kernel_of(dtype, index, operator), [y, rows, *stand])
    np.testing.assert_array_equal(y, bits)
