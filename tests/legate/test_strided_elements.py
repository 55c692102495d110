# SPDX-License-Identifier: Apache-2.0
"""Elements of any strides are put in order, many of them by several threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from legate_diffuse import _native

Change = Callable[[Any], Any]

# Many are more than 2 MB.
SHAPES = [(3, 4, 5), (7, 301, 199), (700, 700), (1, 400_000), (300_007,), (), (5, 0)]
TYPES = [np.int8, np.float16, np.float32, np.float64, np.complex128]
CHANGES: dict[str, Change] = {
    "in order": lambda a: a,
    "transposed": lambda a: a.T,
    "flipped": lambda a: np.flip(a),
    "flipped along one": lambda a: a[::-1] if a.ndim else a,
    "first and last exchanged": lambda a: a.swapaxes(0, -1) if a.ndim else a,
    "turned": lambda a: np.moveaxis(a, 0, -1) if a.ndim else a,
    "each second": lambda a: a[..., ::2] if a.ndim else a,
    "repeated": lambda a: np.broadcast_to(a, (3, *a.shape)),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("change", CHANGES)
def test_elements_are_put_in_order(change: str, threads: int) -> None:
    before = _native.set_num_threads(threads)
    try:
        for shape in SHAPES:
            for dtype in TYPES:
                made = np.arange(np.prod(shape, dtype=int)) % 119
                array = CHANGES[change](made.astype(dtype).reshape(shape))
                small = _native.SmallArray(array.itemsize, array.shape)
                small.put(array)
                assert small.value() == array.tobytes(), (shape, dtype)
    finally:
        _native.set_num_threads(before)


def test_another_size_is_refused() -> None:
    small = _native.SmallArray(8, [4])
    with pytest.raises(ValueError, match="another size"):
        small.put(np.zeros(8)[::3])
