# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy that return what cuPyNumeric's do where the two differ.

Follows: cuPyNumeric (cupynumeric/_module, src/cupynumeric)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.originals import real
from legate_diffuse.launch.few_points import MOST_POINTS
from legate_diffuse.shortcuts.elements import UnsuitableError
from legate_diffuse.shortcuts.ordering import MANY_TO_SCAN
from legate_diffuse.shortcuts.refusals import Function
from legate_diffuse.shortcuts.templates import EXACT

# What places become without a number that the type has not.
_LINEAR: Final = frozenset(("float64", "float32", "int64", "complex64", "complex128"))
# Intervals whose counts stay in the cache.
_MOST_INTERVALS: Final = 2**14
# An interval of less, in steps of its bounds' type, has its bounds elsewhere.
_LEAST_WIDTH: Final = 16


def select(conditions: Any, choices: Any, default: Any = 0) -> Any:
    """Let numbers have types of their own among the choices, and the default fit."""
    choices = [np.asarray(each) for each in choices]
    default = np.array(default, np.result_type(*choices, default))
    return np.select(conditions, choices, default)


def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    """Refuse conditions that are longer than the axis."""
    if np.size(condition) > (a.size if axis is None else a.shape[axis]):
        raise UnsuitableError
    return np.compress(condition, a, axis)


def compressed(a: Any, condition: Any, axis: Any = None) -> Any:
    """Do what the method ``compress`` does, whose array comes first."""
    return compress(condition, a, axis)


def clip(a: Any, low: Any = None, high: Any = None) -> Any:
    """Let bounds have the type of the elements, which are the limits of it otherwise.

    Refuse bounds that are in no order: the original takes the lower one first.
    """
    if low is None or high is None:
        limits = np.iinfo(a.dtype) if a.dtype.kind in "iu" else np.finfo(a.dtype)
        low = limits.min if low is None else low
        high = limits.max if high is None else high
    low, high = np.array(low, a.dtype), np.array(high, a.dtype)
    if low.ndim + high.ndim and low.size == high.size == 1:
        low, high = low.reshape(()), high.reshape(())
    if not (low <= high).all():
        raise UnsuitableError
    return a.clip(low, high)


# So many elements in a row are worth a call of NumPy's.
_LONG_ROW: Final = 2**9


def contains(a: Any, item: Any) -> Any:
    """Return whether an element equals a number of the elements' type."""
    if type(item) not in (int, float, bool):
        raise UnsuitableError
    return (a == np.array(item, dtype=a.dtype)).any()


def as_type(function: Function, dtype: Any) -> Function:
    """Return a function whose result is of another type."""

    def converted(*arguments: Any, **named: Any) -> Any:
        return np.asarray(function(*arguments, **named)).astype(dtype)

    return converted


def in_own_type(function: Function, kinds: str) -> Function:
    """Sum integers of some kinds in their own type, also where it is narrow.

    Elements of another type are converted before (``written.py``).
    """

    def summed(a: Any, *options: Any, dtype: Any = None, **named: Any) -> Any:
        if dtype is not None:
            if a.dtype != np.dtype(dtype):
                raise UnsuitableError
            named["dtype"] = dtype
        elif a.dtype.kind in kinds:
            named["dtype"] = a.dtype
        return function(a, *options, **named)

    return summed


def scanned(function: Function, ufunc: Any) -> Function:
    """Return a function that sums or multiplies many elements in less time.

    NumPy's takes the elements along an axis one at a time, wherever they lie.
    """

    def scan(a: Any, axis: Any = None, **named: Any) -> Any:
        if a.size < MANY_TO_SCAN or a.dtype.char not in "dfl" or named:
            return function(a, axis, **named)
        elements = a.reshape(-1) if axis is None else a
        made = np.empty(elements.shape, a.dtype)
        if axis in (None, -1, a.ndim - 1) and elements.flags.c_contiguous:
            real.legate.native.scan(elements, made, ufunc is np.multiply)
            return made
        rows = np.moveaxis(elements, axis or 0, 0)
        if rows.size < _LONG_ROW * len(rows):
            return function(a, axis)
        totals = np.moveaxis(made, axis or 0, 0)
        totals[0] = rows[0]
        for before, row, total in zip(totals, rows[1:], totals[1:], strict=False):
            ufunc(before, row, out=total)
        return made

    return scan


def flatnonzero(a: Any) -> Any:
    """Find places in less time where there are many elements."""
    is_plain = a.dtype.kind in "biuf" and a.dtype.itemsize != 2
    if a.size < MANY_TO_SCAN or not is_plain or not a.flags.c_contiguous:
        return np.flatnonzero(a)
    return real.legate.native.find_nonzero(a)


def nonzero(a: Any) -> Any:
    """Do the same, and return places along each axis."""
    return (flatnonzero(a),) if a.ndim == 1 else np.nonzero(a)


def argwhere(a: Any) -> Any:
    """Do the same, and return a row for each place."""
    return flatnonzero(a)[:, None] if a.ndim == 1 else np.argwhere(a)


def extract(condition: Any, arr: Any) -> Any:
    """Select elements in less time where there are many."""
    return arr.reshape(-1)[flatnonzero(condition)]


# Rows of so many elements are joined block by block.
_MOST_IN_ROW: Final = 2**6
# Those of a block stay in the cache.
_MOST_IN_BLOCK: Final = 2**15


def _side_by_side(parts: Any) -> Any:
    """Join arrays along the last axis.

    Of many short rows NumPy writes each line of memory once for each array.
    """
    width, first = sum([part.shape[-1] for part in parts]), parts[0]
    rows = first.size // max(first.shape[-1], 1)
    if (
        rows * width < MANY_TO_SCAN
        or width > _MOST_IN_ROW
        or any([part.dtype != first.dtype for part in parts])
        or any([part.shape[:-1] != first.shape[:-1] for part in parts])
    ):
        return np.concatenate(parts, -1)
    made = np.empty((*first.shape[:-1], width), first.dtype)
    found, parts = made.reshape(rows, width), [x.reshape(rows, -1) for x in parts]
    count = _MOST_IN_BLOCK // width
    for start in range(0, rows, count):
        block, column = found[start : start + count], 0
        for part in parts:
            end = column + part.shape[1]
            block[:, column:end] = part[start : start + count]
            column = end
    return made


def column_stack(tup: Any) -> Any:
    """Let vectors be columns."""
    parts = [np.asarray(each) for each in tup]
    return _side_by_side([x.reshape(-1, 1) if x.ndim < 2 else x for x in parts])


def dstack(tup: Any) -> Any:
    """Join along the third axis."""
    return _side_by_side([np.atleast_3d(each) for each in tup])


def linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = float
) -> Any:
    """Multiply places by a step, as the original does; integers are rounded down."""
    dtype = np.dtype(dtype)
    if (
        dtype.name not in _LINEAR
        or type(num) is not int
        or type(endpoint) is not bool
        or not 1 < num <= MOST_POINTS
        or not {type(start), type(stop)} <= {int, float}
        or max(abs(start), abs(stop)) >= EXACT
    ):
        raise UnsuitableError
    found = np.arange(float(num)) * ((stop - start) / (num - endpoint)) + start
    if endpoint:
        found[-1] = stop
    return (np.floor(found) if dtype.kind == "i" else found).astype(dtype, copy=False)


def in1d(a: Any, values: Any, **named: Any) -> Any:
    """Return in a row which elements are among others."""
    return np.isin(a.reshape(-1), values, **named)


def unravel_index(indices: Any, shape: Any) -> Any:
    """Return coordinates of the type of the indices."""
    if isinstance(shape, np.ndarray):
        raise UnsuitableError
    kind = np.asarray(indices).dtype
    return tuple(
        np.asarray(each).astype(kind) for each in np.unravel_index(indices, shape)
    )


def gradient(f: Any, *distances: Any, axis: Any = None) -> Any:
    """Return a list for several axes; singles are divided by distances as doubles."""
    if distances and f.dtype != np.float64:
        raise UnsuitableError
    found = np.gradient(f, *distances, axis=axis)
    return list(found) if isinstance(found, tuple) else found


# Kinds of arrays whose elements a number of Python's becomes as NumPy has it, and what
# the others are: the last bits of an integer, whether it is one.
_TAKES: Final[dict[type, str]] = {bool: "biufc", int: "biufc", float: "fc"}


def _values(array: Any, values: Any) -> Any:
    """Return values as an array's type; some are converted by the original alone."""
    if array.dtype.kind in _TAKES.get(type(values), ""):
        return np.asarray(values).astype(array.dtype)
    if not isinstance(values, np.ndarray | list | tuple):
        raise UnsuitableError
    found = np.asarray(values)
    if not np.can_cast(found.dtype, array.dtype, "same_kind"):
        raise UnsuitableError
    return found.astype(array.dtype, copy=False)


def put(a: Any, indices: Any, values: Any, mode: Any = "raise") -> None:
    """Put values of its type to an array's elements, if they are there: or to none."""
    places = np.asarray(indices)
    is_checked = mode == "raise" and places.size
    if is_checked and not -a.size <= places.min() <= places.max() < a.size:
        raise UnsuitableError
    np.put(a, indices, _values(a, values), mode)


def place(arr: Any, mask: Any, vals: Any) -> None:
    """Refuse numbers and other types, as the original does, and masks of others."""
    is_mask = isinstance(mask, np.ndarray) and mask.dtype == bool
    values = np.asarray(vals)
    is_alike = values.ndim == 1 and values.dtype == arr.dtype
    if not is_mask or mask.shape != arr.shape or not is_alike:
        raise UnsuitableError
    np.place(arr, mask, values)


def putmask(a: Any, mask: Any, values: Any) -> None:
    """Put values of its type where a mask is; the original repeats them otherwise."""
    is_mask = isinstance(mask, np.ndarray) and mask.dtype == bool
    if not is_mask or {mask.shape, np.shape(values) or a.shape} != {a.shape}:
        raise UnsuitableError
    np.putmask(a, mask, _values(a, values))


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Put values of its type to places along one of an array's axes."""
    if type(axis) is not int:
        raise UnsuitableError
    np.put_along_axis(arr, np.asarray(indices), _values(arr, values), axis)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Refuse NaN and other dimensions, as the original does, and arrays."""
    if a.ndim != 2 or val != val or type(val) not in _TAKES:
        raise UnsuitableError
    np.fill_diagonal(a, _values(a, val), wrap)


def _counted(a: Any, bins: Any, range: Any, weights: Any) -> Any:
    """Do as NumPy's, but look at many elements once, and not in twenty steps."""
    arrays = [a] if weights is None else [a, weights]
    if (
        a.size < MANY_TO_SCAN
        or type(bins) is not int
        or not 0 < bins <= _MOST_INTERVALS
        or np.shape(weights) not in ((), a.shape)
        or not all(each.dtype.char == "d" for each in arrays)
    ):
        return np.histogram(a, bins=bins, range=range, weights=weights)
    edges = np.histogram_bin_edges(a, bins, range)
    step = max(np.spacing(np.abs(edges).max()), np.finfo(float).tiny)
    if not bins * _LEAST_WIDTH * step < edges[-1] - edges[0] < np.inf:
        return np.histogram(a, bins=bins, range=range, weights=weights)
    found = np.empty(bins)
    rows: list[Any] = [np.ascontiguousarray(each).reshape(-1) for each in arrays]
    added = rows[1] if len(rows) > 1 else None
    real.legate.native.sum_in_intervals(rows[0], edges, added, found)
    if weights is None:
        found = found.astype(np.int64)
    return found, edges


def histogram(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: Any = False
) -> Any:
    """Divide densities by their sum first, and then by the widths of the bins."""
    if weights is not None and density:
        weights = weights.astype(np.float64)
    found, edges = _counted(a, bins, range, weights)
    if density:
        found = found / found.sum(dtype=np.float64)
        found /= edges[1:] - edges[:-1]
    return found, edges


def histogramdd(coords: Any, bins: Any = 10, range: Any = None) -> Any:
    """Refuse bounds of bins that are given, singles, and coordinates that are equal."""
    if coords.dtype != np.float64 or coords.ndim != 2 or coords.shape[1] < 2:
        raise UnsuitableError
    counts = (bins,) * coords.shape[1] if type(bins) is int else bins
    lowest, highest = coords.min(0), coords.max(0)
    bounds = zip(lowest, highest, strict=True) if range is None else range
    if (
        type(counts) is not tuple
        or not all([type(each) is int and each > 0 for each in counts])
        or type(range) not in (tuple, type(None))
        or not (np.isfinite(lowest) & np.isfinite(highest)).all()
        or not all([each is not None and each[0] < each[1] for each in bounds])
    ):
        raise UnsuitableError
    found, edges = np.histogramdd(coords, bins, range)
    return found, list(edges)
