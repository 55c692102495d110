# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy that return what cuPyNumeric's do where the two differ.

Follows: cuPyNumeric (cupynumeric/_module, src/cupynumeric)
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.originals import real
from legate_diffuse.shortcuts.hosted import UnsuitableError

Function = Callable[..., Any]


def sized(function: Function) -> Function:
    """Return a function that refuses a first array without axes or elements.

    The two differ in what such an array may be asked for.
    """

    def sized(a: Any, *options: Any, **named: Any) -> Any:
        if isinstance(a, np.ndarray) and (not a.size or not a.ndim):
            raise UnsuitableError
        return function(a, *options, **named)

    return sized


def refuse_nan(values: Any) -> None:
    """Raise where NaN is sorted or compared: its place is another one there."""
    if values.dtype.kind not in "fc":
        return
    flat = values.reshape(-1)
    # no square is NaN but that of NaN; the least costly pass over the elements
    total = np.vdot(flat, flat) if values.dtype.kind == "f" else flat.sum()
    if total != total:
        raise UnsuitableError


def searchsorted(a: Any, v: Any, side: Any = "left") -> Any:
    """Refuse NaN, which is last in an array in order."""
    refuse_nan(np.asarray(v))
    refuse_nan(a[-1:])
    return np.searchsorted(a, v, side)


def ordered(function: Function) -> Function:
    """Return a function that refuses NaN in its first argument."""

    def ordered(a: Any, *options: Any, **named: Any) -> Any:
        refuse_nan(a)
        return function(a, *options, **named)

    return ordered


def _is_in_order(a: Any) -> bool:
    return a.ndim == 1 and a.size >= _MANY_TO_SORT and bool((a[1:] >= a[:-1]).all())


def sort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    """Do the same, but only look at elements that are in order, and refuse NaN.

    NumPy's sort takes longer for what is in order than for anything else.
    """
    if kind is None and axis in (-1, 0, None) and _is_in_order(a):
        return a.copy()
    found = np.sort(a, axis, kind)
    # NaN comes last
    along = -1 if axis is None else axis
    _refuse_nan_in(np.take(found, [-1], along) if found.size else found)
    return found


def extreme(function: Function) -> Function:
    """Return a function that finds places, and refuses NaN, which it finds first.

    So only few of many elements are looked at.
    """
    checked = ordered(function)

    def place(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        found = _places_in_rows(a, axis, function is np.argmax)
        if found is None and a.size < _MANY_TO_SCAN:
            return checked(a, axis, keepdims=keepdims)
        if type(axis) is not int and axis is not None:
            raise UnsuitableError
        if found is None:
            found = function(a, axis, keepdims=True)
        if a.dtype.kind != "f":
            pass
        elif axis is None:
            _refuse_nan_in(a.flat[found.item()])
        else:
            _refuse_nan_in(np.take_along_axis(a, found, axis))
        return found if keepdims else np.squeeze(found, axis)

    return place


def _places_in_rows(a: Any, axis: Any, largest: bool) -> Any:
    """Find places along another axis than the last, where NumPy takes longer.

    None where it does not. If there is NaN, its place is found.
    """
    if (
        type(axis) is not int
        or not -a.ndim <= axis < a.ndim
        or axis in (-1, a.ndim - 1)
        or a.size < _FEW_TO_SCAN
        or a.dtype.char not in "dfl"
        or not a.flags.c_contiguous
    ):
        return None
    axis %= a.ndim
    rows = a.reshape(-1, a.shape[axis], prod(a.shape[axis + 1 :]))
    places = np.empty((rows.shape[0], rows.shape[2]), np.int64)
    real.legate.native.find_extremes(rows, places, largest)
    return places.reshape(*a.shape[:axis], 1, *a.shape[axis + 1 :])


def _refuse_nan_in(values: Any) -> None:
    if (values != values).any():
        raise UnsuitableError


def unique(a: Any) -> Any:
    """Find them by a sort, which takes less time than NumPy's table of many.

    NaN is no element there.
    """
    refuse_nan(a)
    if a.size < _MANY_TO_SORT:
        return np.unique(a)
    found = sort(a.reshape(-1))
    is_first = np.empty(found.size, bool)
    is_first[0] = True
    np.not_equal(found[1:], found[:-1], out=is_first[1:])
    return found[is_first]


# From so many elements on a stable sort takes several times as long as another.
_MANY_TO_SORT: Final = 2**14
# From so many elements on, and so many in a row, it pays to take them in another way.
_MANY_TO_SCAN: Final = 2**15
_FEW_TO_SCAN: Final = 2**9
_LONG_ROW: Final = 2**9
# How many of them tell whether most are different.
_SAMPLE: Final = 1024


def argsort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    """Sort as the original does: on processors it is always stable."""
    is_long = a.ndim == 1 and a.size >= _MANY_TO_SORT and a.dtype.char in "fd"
    if not is_long or np.unique(a[:: a.size // _SAMPLE]).size < _SAMPLE:
        return np.argsort(a, axis, kind="stable")
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


def partition(a: Any, kth: Any, axis: Any = -1) -> Any:
    """Sort all elements, as the original does."""
    return sort(a, _one_axis(axis))


def argpartition(a: Any, kth: Any, axis: Any = -1) -> Any:
    """Sort all elements, as the original does."""
    refuse_nan(a)
    return argsort(a, _one_axis(axis))


def _one_axis(axis: Any) -> int:
    if type(axis) is not int:
        raise UnsuitableError
    return axis


def lexsort(keys: Any, axis: Any = -1) -> Any:
    """Refuse keys of several types, which the original makes one of, and no numbers."""
    if len({np.asarray(key).dtype for key in keys}) != 1 or not np.isfinite(keys).all():
        raise UnsuitableError
    return np.lexsort(keys, axis)


def as_type(function: Function, dtype: Any) -> Function:
    """Return a function whose result is of another type."""

    def converted(*arguments: Any, **named: Any) -> Any:
        return np.asarray(function(*arguments, **named)).astype(dtype)

    return converted


def eigvals(a: Any) -> Any:
    """Return the eigenvalues as complex numbers, also where all are real."""
    values = np.linalg.eigvals(a)
    return values.astype(np.result_type(values, np.complex64), copy=False)


def in_own_type(function: Function, kinds: str) -> Function:
    """Sum integers of some kinds in their own type, also where it is narrow."""

    def summed(a: Any, *options: Any, **named: Any) -> Any:
        if a.dtype.kind in kinds:
            named["dtype"] = a.dtype
        return function(a, *options, **named)

    return summed


def scanned(function: Function, ufunc: Any) -> Function:
    """Return a function that sums or multiplies many elements in less time.

    NumPy's takes the elements along an axis one at a time, wherever they lie.
    """

    def scan(a: Any, axis: Any = None, **named: Any) -> Any:
        if a.size < _MANY_TO_SCAN or a.dtype.char not in "dfl" or named:
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


def array_equal(a: Any, b: Any) -> Any:
    """Refuse other shapes, of which the original returns a bool of Python's."""
    if a.shape != b.shape:
        raise UnsuitableError
    return np.asarray(np.array_equal(a, b))


def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Refuse numbers of repeats that are no integers."""
    if np.asarray(repeats).dtype.kind not in "iu":
        raise UnsuitableError
    return np.repeat(a, repeats, axis)


def diagonal(a: Any, *options: Any, **named: Any) -> Any:
    """Add the elements to zeros, as the original does: no zero has a sign."""
    found = np.diagonal(a, *options, **named)
    return found + a.dtype.type(0)


def diag(v: Any, k: Any = 0) -> Any:
    """Do the same of a matrix; a vector becomes one."""
    return np.diag(v, k) if v.ndim == 1 else diagonal(v, k)


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Refuse modes that the original has not."""
    if mode != "same":
        raise UnsuitableError
    return np.convolve(a, v, "same")


def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> Any:
    """Refuse whole turns, which show the elements themselves."""
    if type(k) is not int or k % 4 == 0:
        raise UnsuitableError
    return np.rot90(m, k, axes)


def histogram(a: Any, *options: Any, **named: Any) -> Any:
    """Refuse elements that are equal, around which the original puts other bins.

    Bounds of singles are computed in another type, and what is between given ones must
    be a number.
    """
    if a.dtype == np.float32:
        raise UnsuitableError
    for each in (a, *options, *named.values()):
        if isinstance(each, np.ndarray):
            refuse_nan(each)
    bins = options[0] if options else named.get("bins", ())
    if isinstance(bins, np.ndarray) and not (np.diff(bins) >= 0).all():
        raise UnsuitableError
    if a.min() == a.max():
        raise UnsuitableError
    return np.histogram(a, *options, **named)


def clip(a: Any, *bounds: Any) -> Any:
    """Refuse bounds that are in no order or NaN: the original takes the lower first.

    Where there is none, infinite elements become the largest of their type.
    """
    if len(bounds) != 2 or any([each is None for each in bounds]):
        if not np.isfinite(a).all():
            raise UnsuitableError
    elif not np.all(np.asarray(bounds[0]) <= bounds[1]):
        raise UnsuitableError
    for each in bounds:
        if each is not None:
            refuse_nan(np.asarray(each))
    return np.clip(a, *bounds)


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """Refuse bounds that are NaN, and take those that are all the same for decreasing.

    The original does both.
    """
    refuse_nan(bins)
    if bins.ndim == 1 and bins.size and (bins == bins[0]).all():
        return bins.size - np.searchsorted(bins, x, "left" if right else "right")
    return np.digitize(x, bins, right)


def bincount(x: Any, *options: Any, **named: Any) -> Any:
    """Refuse bools, as the original does."""
    if x.dtype == bool:
        raise UnsuitableError
    return np.bincount(x, *options, **named)


def unravel_index(indices: Any, shape: Any) -> Any:
    """Return coordinates of the type of the indices."""
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


def einsum(expression: Any, *operands: Any) -> Any:
    """Refuse one operand that is shown, and operands that are no arrays.

    The original shows what it sums along an axis of one element. A diagonal it adds to
    zeros.
    """
    arrays = [isinstance(each, np.ndarray) for each in operands]
    if not (arrays and all(arrays)) or (len(arrays) == 1 and 1 in operands[0].shape):
        raise UnsuitableError
    is_pair = len(arrays) == 2 and type(expression) is str
    made = _product(expression, *operands) if is_pair else None
    made = np.einsum(expression, *operands) if made is None else made
    if len(arrays) == 1 and np.may_share_memory(made, *operands):
        if made.ndim == operands[0].ndim:
            raise UnsuitableError
        return made + made.dtype.type(0)
    return made


def without_nan(function: Function) -> Function:
    """Return a function that refuses NaN in its result: all elements were NaN."""

    def checked(*arguments: Any, **named: Any) -> Any:
        found = np.asarray(function(*arguments, **named))
        _refuse_nan_in(found)
        return found

    return checked


def raveled(multi_index: Any, dims: Any, *options: Any, **named: Any) -> Any:
    """Refuse integers that are not those of the result."""
    each = multi_index if type(multi_index) is tuple else (multi_index,)
    if any(np.asarray(one).dtype != np.int64 for one in each):
        raise UnsuitableError
    return np.ravel_multi_index(multi_index, dims, *options, **named)


# From so many elements, and so many in a sum, on a product of BLAS pays for what is
# rearranged for it.
_MANY_TO_MULTIPLY: Final = 2**12
_MANY_IN_SUM: Final = 8


def _product(expression: Any, a: Any, b: Any) -> Any:
    """Return what ``einsum`` makes of two arrays by BLAS; None if that is no product.

    Axes are those of both arrays and the result, of one array and the result, or those
    that are summed over.
    """
    names, arrow, made = expression.replace(" ", "").partition("->")
    of_a, comma, of_b = names.partition(",")
    every = of_a + of_b
    if not arrow:
        made = "".join(sorted(name for name in every if every.count(name) == 1))
    if (
        max(a.size, b.size) < _MANY_TO_MULTIPLY
        or a.dtype != b.dtype
        or not comma
        or not all(
            each.isalpha() and len({*each}) == len(each) for each in (of_a, of_b, made)
        )
        or (len(of_a), len(of_b)) != (a.ndim, b.ndim)
    ):
        return None
    extents = dict(zip(of_a, a.shape, strict=True))
    same = [name for name in made if name in of_a and name in of_b]
    rows = [name for name in made if name in of_a and name not in of_b]
    columns = [name for name in made if name in of_b and name not in of_a]
    summed = [name for name in of_a if name in of_b and name not in made]
    of_b_here = dict(zip(of_b, b.shape, strict=True))
    if (
        not (summed and rows and columns)
        or {*of_a} != {*same, *rows, *summed}
        or {*of_b} != {*same, *columns, *summed}
        or any(extents[name] != of_b_here[name] for name in (*same, *summed))
        or prod(extents[name] for name in summed) < _MANY_IN_SUM
    ):
        return None
    extents |= of_b_here

    def folded(array: Any, axes: str, *parts: list[str]) -> Any:
        order = [axes.index(name) for part in parts for name in part]
        shape = [prod(extents[name] for name in part) for part in parts[1:]]
        kept = [extents[name] for name in parts[0]]
        return array.transpose(order).reshape(*kept, *shape)

    found = np.matmul(
        folded(a, of_a, same, rows, summed), folded(b, of_b, same, summed, columns)
    )
    axes = [*same, *rows, *columns]
    found = found.reshape([extents[name] for name in axes])
    return found.transpose([axes.index(name) for name in made])


def matmul(a: Any, b: Any) -> Any:
    """Multiply a stack of matrices by one matrix at once: they are its rows."""
    if a.ndim > 2 == b.ndim and a.shape[-1] == b.shape[0] and a.flags.c_contiguous:
        rows = a.reshape(-1, a.shape[-1]) if a.size else a
        return np.matmul(rows, b).reshape(*a.shape[:-1], b.shape[1])
    return np.matmul(a, b)


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


def in_doubles(checked: Function) -> Function:
    """Refuse what becomes a float64 that it was not."""

    def of_doubles(a: Any, *options: Any, **named: Any) -> Any:
        if a.dtype.itemsize != 8:
            raise UnsuitableError
        return checked(a, *options, **named)

    return of_doubles


def along_one(function: Function) -> Function:
    """Refuse several axes, as the original does."""

    def reduced(a: Any, axis: Any = None, **named: Any) -> Any:
        if type(axis) is tuple:
            raise UnsuitableError
        return function(a, axis, **named)

    return reduced


# Kinds of arrays whose elements a number of Python's becomes as NumPy has it.
_TAKES: Final[dict[type, str]] = {int: "if", float: "f"}


def _values(array: Any, values: Any) -> Any:
    """Return values of an array's type; others are converted by the original."""
    if array.dtype.kind in _TAKES.get(type(values), ""):
        return array.dtype.type(values)
    if not isinstance(values, np.ndarray) or values.dtype != array.dtype:
        raise UnsuitableError
    return values


def put(a: Any, indices: Any, values: Any, mode: Any = "raise") -> None:
    """Put values of its type to an array's elements, if they are there: or to none."""
    places = np.asarray(indices)
    is_checked = mode == "raise" and places.size
    if is_checked and not -a.size <= places.min() <= places.max() < a.size:
        raise UnsuitableError
    np.put(a, indices, _values(a, values), mode)


def place(arr: Any, mask: Any, vals: Any) -> None:
    """Refuse numbers, as the original does, and masks of other types or shapes."""
    is_mask = isinstance(mask, np.ndarray) and mask.dtype == bool
    if not is_mask or mask.shape != arr.shape or np.ndim(vals) != 1:
        raise UnsuitableError
    np.place(arr, mask, _values(arr, vals))


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Put values of its type to places along one of an array's axes."""
    np.put_along_axis(arr, indices, _values(arr, values), _one_axis(axis))


def partition_in_place(a: Any, kth: Any, axis: Any = -1) -> None:
    """Sort all elements, as the original does."""
    a[...] = partition(a, kth, axis)


def sort_in_place(a: Any, axis: Any = -1) -> None:
    """Sort elements that have an order."""
    refuse_nan(a)
    a.sort(axis)


def fill_diagonal(a: Any, val: Any, wrap: Any = False) -> None:
    """Refuse NaN, other types and other dimensions, as the original does."""
    if a.ndim != 2 or val != val or a.dtype.kind not in _TAKES.get(type(val), ""):
        raise UnsuitableError
    np.fill_diagonal(a, val, wrap)
