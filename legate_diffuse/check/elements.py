# SPDX-License-Identifier: Apache-2.0
"""The elements of stores and views as NumPy arrays, and their bits."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def read(root: Any) -> Array:
    """Return a copy of the elements of a root's storage; waits for its tasks."""
    physical = root.materialize().get_physical_store()
    return _elements(physical).reshape(root.shape).copy()


def write(root: Any, elements: Array, where: Any = ...) -> None:
    """Set the elements of a root's storage, or those at an index."""
    store = root.materialize()
    if root.scalar_storage:
        legate = root.legate
        legate.runtime.issue_fill(store, legate.Scalar(elements.item(), root.type))
        return
    physical = store.get_physical_store()
    _elements(physical)[where] = elements[where]


def _elements(physical: Any) -> Array:
    """Return the elements of a store where they lie, structures as so many bytes."""
    elements = np.asarray(physical.get_inline_allocation())
    # NumPy is given structures without fields, of which it copies nothing
    whole = elements.dtype.kind == "V"
    return elements.view(f"V{elements.itemsize}") if whole else elements


def box(view: Any) -> Any:
    """Return the index of the part of its root that a view covers.

    It ends with an ellipsis: without one NumPy returns scalars for single elements.
    """
    bounds = zip(view.layout.low, view.layout.extents, strict=True)
    return (*[slice(low, low + extent) for low, extent in bounds], ...)


def part(array: Array, view: Any) -> Array:
    """Return a root's elements in the dimensions of a view.

    The extent is 1 where the view repeats.
    """
    dims = view.layout.dims
    used = [dim for dim in dims if dim >= 0]
    fixed = [dim for dim in range(array.ndim) if dim not in used]
    found = array[box(view)].transpose(fixed + used)
    for _ in fixed:
        found = found[0, ...]
    index: Any = (*[slice(None) if dim >= 0 else None for dim in dims], ...)
    return np.asarray(found[index])


def seen(array: Array, view: Any) -> Array:
    """Return a root's elements as a view shows them, not to be written."""
    return np.broadcast_to(part(array, view), view.shape)


def same_bits(one: Array, other: Array) -> Array:
    """Return where two arrays of one type have equal bits; NaNs are equal."""
    if one.dtype.kind == "c":
        real = same_bits(one.real, other.real)
        return np.asarray(real & same_bits(one.imag, other.imag))
    if one.dtype.kind == "f":
        equal = (one == other) & (np.signbit(one) == np.signbit(other))
        return np.asarray(equal | (np.isnan(one) & np.isnan(other)))
    return np.asarray(one == other)
