# SPDX-License-Identifier: Apache-2.0
"""Repeats views over larger shapes, as ``DeferredArray._broadcast`` does.

Follows: cuPyNumeric (cupynumeric/_thunk)
"""

from __future__ import annotations

from legate_diffuse.stores.form import form
from legate_diffuse.stores.layout import Shape
from legate_diffuse.stores.view import View, over


def common_shape(one: Shape, other: Shape) -> Shape | None:
    """Return the shape of two operands together, None if they do not fit."""
    if len(one) < len(other):
        one, other = other, one
    start = len(one) - len(other)
    found = list(one)
    for dim, extent in enumerate(other, start):
        if found[dim] == 1:
            found[dim] = extent
        elif extent not in (1, found[dim]):
            return None
    return Shape(found)


def repeated(view: View, shape: Shape) -> View:
    """Return a view that repeats over a shape that is common to it and others."""
    # native code, which repeats views itself the next time, needs theirs
    form(view.layout, view.root.shape)
    if not view.shape:
        return over(view, shape)
    for dim in range(len(shape) - len(view.shape)):
        view = view.promote(dim, shape[dim])
    for dim, extent in enumerate(shape):
        if view.shape[dim] != extent:
            view = view.broadcast(dim, extent)
    return view
