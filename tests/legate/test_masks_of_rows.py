# SPDX-License-Identifier: Apache-2.0
"""Masks of an array's foremost dimensions, as of the pixels of an image.

Unfused, cuPyNumeric 26.6 ends with an assertion where a single value is assigned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from comparison import differential

SHAPES = [(5, 3), (6, 7, 3), (300, 300, 3), (40, 3, 2, 2), (0, 3), (4, 0)]
VALUES = [0.5, 7, True]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float64", "int32", "bool", "complex64"])
def test_a_value_for_some_rows(shape: tuple[int, ...], dtype: str) -> None:
    def program(n: Any) -> Any:
        found = []
        for dims in range(1, len(shape)):
            mask = n.arange(np.prod(shape[:dims])).reshape(shape[:dims]) % 3 == 1
            for value in (*VALUES, n.array(VALUES[0]), n.array([VALUES[1]])):
                x = n.ones(shape).astype(dtype) * n.array(3, dtype)
                x[mask] = value
                y = x + x
                y[mask] = value
                found += [x, y]
        return found

    differential(program, originals=None)
