# SPDX-License-Identifier: Apache-2.0
"""What native code needs of a layout, to run operations on its elements at once."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any, Final

import numpy as np

from legate_diffuse.stores.layout import Layout, whole

# Five words and two for each dimension; NumPy's arrays have at most 64 of these.
_WORDS: Final = tuple(Struct(f"={5 + 2 * dim}q") for dim in range(65))


def form(layout: Layout, extents: tuple[int, ...]) -> bytes:
    """Return where a layout finds its elements in a root in row-major order.

    The words are those of ``Form`` in ``mappers/process/at_once.h``. The layout
    remembers them.

    Args:
        layout: the layout.
        extents: those of the root.
    """
    found = layout.form
    if found is None:
        found = _form(layout, extents)
        layout.dense = whole(layout.shape)
        if layout.dense is not layout:
            form(layout.dense, layout.shape)
        # native code takes it for a sign that all the rest is there
        layout.form = found
    return found


def dense(shape: tuple[int, ...]) -> Layout:
    """Return the layout of a new store, of which native code knows the form."""
    layout = whole(shape)
    form(layout, shape)
    return layout


def seen(
    layout: Layout, extents: tuple[int, ...], elements: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Return what a layout that is affine shows of the elements of a root.

    Args:
        layout: the layout.
        extents: those of the root.
        elements: the root's, in row-major order.
    """
    if layout.dense is layout and layout.shape == extents:
        return elements.reshape(extents)
    size = elements.itemsize
    # Python's own numbers take a third of the time of NumPy's
    _, _, _, dim, offset, *words = memoryview(form(layout, extents)).cast("q").tolist()
    strides = [stride * size for stride in words[dim:]]
    return np.ndarray(words[:dim], elements.dtype, elements, offset * size, strides)


def _form(layout: Layout, extents: tuple[int, ...]) -> bytes:
    shape = layout.shape
    if not layout.affine:
        return pack("=5q", False, layout.volume, 0, 0, 0)
    steps = [1] * len(extents)
    offset, step = 0, 1
    for dim in range(len(extents) - 1, -1, -1):
        steps[dim] = step
        offset += layout.low[dim] * step
        step *= extents[dim]
    strides = [steps[dim] if dim >= 0 else 0 for dim in layout.dims]
    end = 0
    if layout.volume:
        end = offset + 1
        for extent, stride in zip(shape, strides, strict=True):
            end += (extent - 1) * stride
    words = _WORDS[len(shape)]
    return words.pack(True, layout.volume, end, len(shape), offset, *shape, *strides)
