# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy that compare elements, and return what cuPyNumeric's do.

NaN has another place there, so most refuse it.

Follows: cuPyNumeric (cupynumeric/_module, src/cupynumeric)
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.originals import real
from legate_diffuse.shortcuts.elements import UnsuitableError
from legate_diffuse.shortcuts.refusals import Function, has_nan

# From so many integers on, and places of floats, a stable sort takes several times as
# long as another.
_MANY_INTEGERS: Final = 2**9
_MANY_FLOATS: Final = 2**10
# Those of an integer that tell how large it is.
_BITS: Final = 63
# How many of them tell whether most are different.
_SAMPLE: Final = 1024
# From so many elements on it pays to take them in another way.
MANY_TO_SCAN: Final = 2**15


def _are_different(a: Any) -> bool:
    """Whether most of many elements are, as a sample says."""
    return bool(np.unique(a[:: a.size // _SAMPLE]).size >= _SAMPLE)


def extreme(function: Function) -> Function:
    """Return a function that finds places, and refuses NaN, which it finds first.

    So only few of many elements are looked at.
    """

    def place(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        if axis is not None and (type(axis) is not int or not a.ndim):
            raise UnsuitableError
        is_first = axis is None or a.size < MANY_TO_SCAN
        found = None if is_first else _places_in_rows(a, axis, function is np.argmax)
        if found is None:
            found = function(a, axis, keepdims=keepdims or not is_first)
        if axis is None:
            extreme = a.item(found.item())
            _refuse_nan(extreme != extreme)
        elif is_first:
            _refuse_nan(has_nan(a))
        elif a.dtype.kind == "f":
            _refuse_nan_in(np.take_along_axis(a, found, axis))
        return found if keepdims or is_first else np.squeeze(found, axis)

    return place


def _places_in_rows(a: Any, axis: Any, largest: bool) -> Any:
    """Find places along another axis than the last, where NumPy takes longer.

    None where it does not. If there is NaN, its place is found.
    """
    if (
        type(axis) is not int
        or not -a.ndim <= axis < a.ndim
        or axis in (-1, a.ndim - 1)
        or a.dtype.char not in "dfl"
        or not a.flags.c_contiguous
    ):
        return None
    axis %= a.ndim
    rows = a.reshape(-1, a.shape[axis], prod(a.shape[axis + 1 :]))
    places = np.empty((rows.shape[0], rows.shape[2]), np.int64)
    real.legate.native.find_extremes(rows, places, largest)
    return places.reshape(*a.shape[:axis], 1, *a.shape[axis + 1 :])


def _refuse_nan(is_there: bool) -> None:
    if is_there:
        raise UnsuitableError


def _refuse_nan_in(values: Any) -> None:
    _refuse_nan(bool((values != values).any()))


def _places_of_integers(a: Any) -> Any:
    """Sort integers together with their places, which NumPy does in vectors.

    None if both do not fit into 64 bits.
    """
    least, bits = int(a.min()), a.size.bit_length()
    if (int(a.max()) - least).bit_length() + bits > _BITS:
        return None
    keys = (a.astype(np.int64) - least << bits) | np.arange(a.size)
    keys.sort()
    return keys & ((1 << bits) - 1)


def argsort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    """Sort as the original does: on processors it is always stable."""
    if a.ndim == 1 and a.size >= _MANY_INTEGERS and a.dtype.char in "ilqI":
        places = _places_of_integers(a)
        if places is not None:
            return places
    is_long = a.size >= _MANY_FLOATS and a.dtype.char in "fd"
    if is_long and a.ndim > 1 and axis is not None:
        rows = np.moveaxis(a, axis, -1)
        first = rows[(0,) * (a.ndim - 1)]
        if np.unique(first).size == first.size:
            return np.moveaxis(_places_in_order(rows), -1, axis)
    if not is_long or a.ndim > 1 or not _are_different(a):
        return np.argsort(a, axis, kind="stable")
    if _is_increasing(a[:_MANY_FLOATS]) and _is_increasing(a):
        return np.arange(a.size)
    places = np.argsort(a, axis)
    values = a[places]
    follows = np.concatenate(([False], values[1:] == values[:-1]))
    if not follows.any():
        return places
    # equal ones come in the order of their places
    equal = np.flatnonzero(follows | np.append(follows[1:], False))
    runs = np.cumsum(~follows[equal])
    found = places[equal]
    places[equal] = found[np.lexsort((found, runs))]
    return places


def _is_increasing(a: Any) -> bool:
    return bool((a[1:] > a[:-1]).all())


def _places_in_order(rows: Any) -> Any:
    """Sort rows of which few have equal elements: only those by a stable sort."""
    places = np.argsort(rows, -1)
    values = np.take_along_axis(rows, places, -1)
    has_equal = (values[..., 1:] == values[..., :-1]).any(-1)
    if has_equal.any():
        places[has_equal] = np.argsort(rows[has_equal], -1, kind="stable")
    return places


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """Take bounds that are all the same for decreasing, as the original does."""
    if bins.ndim == 1 and bins.size and (bins == bins[0]).all():
        return bins.size - np.searchsorted(bins, x, "left" if right else "right")
    return np.digitize(x, bins, right)


def unique(a: Any) -> Any:
    """Sort, as the original does: NumPy has a table of many integers, which is slow."""
    if a.size < _MANY_INTEGERS or a.dtype.kind == "c":
        return np.unique(a)
    values = np.sort(a, axis=None)
    is_first = values[1:] != values[:-1]
    return values if is_first.all() else values[np.append(True, is_first)]


def without_nan(function: Function) -> Function:
    """Return a function that refuses NaN in its result: all elements were NaN."""

    def checked(*arguments: Any, **named: Any) -> Any:
        found = np.asarray(function(*arguments, **named))
        _refuse_nan_in(found)
        return found

    return checked


def quantile(a: Any, q: Any, axis: int | None = None) -> Any:
    """Interpolate as the original does, which rounds in another way than NumPy."""
    if type(axis) not in (int, type(None)):
        raise UnsuitableError
    places = np.asarray(q)
    if not ((places >= 0) & (places <= 1)).all() or not places.size:
        raise UnsuitableError
    if axis is None:
        a, axis = a.reshape(-1), 0
    count = a.shape[axis]
    positions = places * (count - 1) + 1
    right = np.minimum(positions.astype(int), count - 1)
    left = np.minimum(positions.astype(int) - 1, count - 1)
    in_order = np.partition(a, np.unique([left, right]), axis)
    found = np.zeros((*places.shape, *np.delete(a.shape, axis)))
    for index, position in np.ndenumerate(positions):
        weight = position - int(position)
        below = in_order.take(left[index], axis)
        above = in_order.take(right[index], axis)
        found[index] = (1.0 - weight) * below + weight * above
    return found


def percentile(a: Any, q: Any, axis: int | None = None) -> Any:
    """Return the quantiles of hundredths."""
    return quantile(a, np.asarray(q) / 100.0, axis)


def nanquantile(a: Any, q: Any, axis: int | None = None) -> Any:
    """Do the same without NaN, which is refused where lines would become shorter."""
    if axis is None:
        a = a[a == a]
    elif has_nan(a):
        raise UnsuitableError
    if not a.size or np.isinf(a).any():
        # of which the original makes NaN
        raise UnsuitableError
    return quantile(a, q, axis)


def nanpercentile(a: Any, q: Any, axis: int | None = None) -> Any:
    """Return the quantiles of hundredths."""
    return nanquantile(a, np.asarray(q) / 100.0, axis)


def partition(a: Any, kth: Any, axis: Any = -1) -> Any:
    """Sort all elements, as the original does."""
    return np.sort(a, axis)


def argpartition(a: Any, kth: Any, axis: Any = -1) -> Any:
    """Sort all elements, as the original does."""
    return argsort(a, axis)


def sort_in_place(a: Any, axis: Any = -1) -> None:
    """Sort elements that have an order."""
    if has_nan(a):
        raise UnsuitableError
    a.sort(axis)


def partition_in_place(a: Any, kth: Any, axis: Any = -1) -> None:
    """Sort all elements, as the original does."""
    sort_in_place(a, axis)
