# SPDX-License-Identifier: Apache-2.0
"""Elements at places that arrays name, by NumPy."""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

_WHOLE: Final = slice(None)
# Along another axis than the first, places are followed faster for so many rows.
_FEW_ROWS: Final = 8


def put(elements: Any, key: Any, value: Any) -> None:
    """Do ``elements[key] = value``."""
    elements[_along_one_axis(elements, key)[0]] = value


def take(elements: Any, key: Any) -> Any:
    """Return ``elements[key]``: rows, and parts of few, are taken in less time."""
    key, axis = _along_one_axis(elements, key)
    if axis is None or (axis and prod(elements.shape[:axis]) > _FEW_ROWS):
        return elements[key]
    return elements.take(key[axis] if type(key) is tuple else key, axis)


def _along_one_axis(elements: Any, key: Any) -> tuple[Any, int | None]:
    """Return a key, and the axis along which there are places, if others are whole.

    A mask along an axis becomes places, which NumPy follows faster.
    """
    parts = key if type(key) is tuple else (key,)
    axes = [axis for axis, part in enumerate(parts) if type(part) is np.ndarray]
    if len(axes) != 1:
        return key, None
    (axis,) = axes
    if any([part != _WHOLE for at, part in enumerate(parts) if at != axis]):
        return key, None
    places = parts[axis]
    if places.dtype == bool:
        if places.shape != elements.shape[axis : axis + 1] or elements.ndim == 1:
            return key, None
        places = np.flatnonzero(places)
        key = (*parts[:axis], places, *parts[axis + 1 :])
    return key, axis if places.dtype.kind == "i" and places.ndim else None
