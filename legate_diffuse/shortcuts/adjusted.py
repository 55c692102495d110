# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy that return what cuPyNumeric's do where the two differ.

Follows: cuPyNumeric (cupynumeric/_module, src/cupynumeric)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.originals import real
from legate_diffuse.shortcuts.elements import ALL_KINDS, UnsuitableError
from legate_diffuse.shortcuts.ordering import (
    MANY_TO_SCAN,
    Function,
    one_axis,
    refuse_nan,
    refuse_other,
    without_nan,
)


def sized(function: Function) -> Function:
    """Return a function that refuses a first array without axes or elements.

    The two differ in what such an array may be asked for.
    """

    def sized(a: Any, *options: Any, **named: Any) -> Any:
        if isinstance(a, np.ndarray) and (not a.size or not a.ndim):
            raise UnsuitableError
        return function(a, *options, **named)

    return sized


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


def choose(a: Any, choices: Any) -> Any:
    """Refuse places that are no integers."""
    refuse_other(a, "iu")
    return np.choose(a, choices)


def extract(condition: Any, arr: Any) -> Any:
    """Refuse conditions of another size."""
    if condition.size != arr.size:
        raise UnsuitableError
    return np.extract(condition, arr)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """Refuse places that are no integers: of bools the original makes others."""
    refuse_other(obj, "iu")
    return np.insert(arr, obj, values, axis)


def isin(element: Any, test_elements: Any) -> Any:
    """Refuse what is no number."""
    refuse_other(test_elements, ALL_KINDS)
    return np.isin(element, test_elements)


def take(a: Any, indices: Any, axis: Any = None) -> Any:
    """Refuse indices that are no integers."""
    refuse_other(indices, "iu")
    return np.take(a, indices, axis)


def take_along_axis(arr: Any, indices: Any, axis: Any) -> Any:
    """Have no axis by default, as the original."""
    return np.take_along_axis(arr, indices, axis)


def tile(a: Any, reps: Any) -> Any:
    """Refuse numbers of repeats that are no integers."""
    refuse_other(reps, "iu")
    return np.tile(a, reps)


def pad(a: Any, pad_width: Any, mode: Any = "constant", **named: Any) -> Any:
    """Refuse widths that the original pairs in another way: two belong to two axes."""
    shape = np.shape(pad_width)
    if shape and shape != (a.ndim, 2) and a.ndim != 1:
        raise UnsuitableError
    return np.pad(a, pad_width, mode, **named)


# Powers of ten up to this one are integers of 64 bits.
_MOST_DECIMALS: Final = 18
# So many elements in a row are worth a call of NumPy's.
_LONG_ROW: Final = 2**9


def as_type(function: Function, dtype: Any) -> Function:
    """Return a function whose result is of another type."""

    def converted(*arguments: Any, **named: Any) -> Any:
        return np.asarray(function(*arguments, **named)).astype(dtype)

    return converted


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


def array_equal(a: Any, b: Any) -> Any:
    """Refuse other shapes, of which the original returns a bool of Python's."""
    if a.shape != b.shape:
        raise UnsuitableError
    return np.asarray(np.array_equal(a, b))


def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Refuse numbers of repeats and axes that are no integers."""
    refuse_other(repeats, "iu")
    return np.repeat(a, repeats, axis if axis is None else one_axis(axis))


def diff(a: Any, n: Any = 1, axis: Any = -1) -> Any:
    """Refuse no differences, which are the array itself."""
    if n == 0:
        raise UnsuitableError
    return np.diff(a, n, axis)


def rounded(a: Any, decimals: Any = 0) -> Any:
    """Refuse decimals that are no small integers, as the original does."""
    if type(decimals) is not int or abs(decimals) > _MOST_DECIMALS:
        raise UnsuitableError
    return np.round(a, decimals)


def stack(arrays: Any, axis: Any = 0) -> Any:
    """Refuse axes that are no integers of Python's, as the original does."""
    return np.stack(arrays, one_axis(axis))


def cov(m: Any, *others: Any, **named: Any) -> Any:
    """Refuse more degrees of freedom than elements, of which NumPy warns."""
    if (named.get("ddof") or 0) >= m.shape[-1]:
        raise UnsuitableError
    return np.cov(m, *others, **named)


def var(a: Any, axis: Any = None, ddof: Any = 0, **named: Any) -> Any:
    """Refuse several axes, and more degrees of freedom than elements: originals err."""
    if type(axis) is tuple or ddof >= (a.size if axis is None else a.shape[axis]):
        raise UnsuitableError
    return np.var(a, axis, ddof=ddof, **named)


def nanmedian(a: Any, *options: Any, **named: Any) -> Any:
    """Refuse infinite elements, of which the original makes NaN."""
    if np.isinf(a).any():
        raise UnsuitableError
    return without_nan(np.nanmedian)(a, *options, **named)


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Refuse modes that the original has not."""
    if mode != "same":
        raise UnsuitableError
    return np.convolve(a, v, "same")


def clip(a: Any, *bounds: Any) -> Any:
    """Refuse bounds that are in no order or NaN: the original takes the lower first.

    Where there is none, infinite elements become the largest of their type.
    """
    if not bounds:
        raise UnsuitableError
    if len(bounds) != 2 or any([each is None for each in bounds]):
        if not np.isfinite(a).all():
            raise UnsuitableError
    elif not np.all(np.asarray(bounds[0]) <= bounds[1]):
        raise UnsuitableError
    for each in bounds:
        if each is not None:
            refuse_nan(np.asarray(each))
    return np.clip(a, *bounds)


def bincount(x: Any, *options: Any, **named: Any) -> Any:
    """Refuse bools, as the original does."""
    if x.dtype == bool:
        raise UnsuitableError
    return np.bincount(x, *options, **named)


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


def raveled(multi_index: Any, dims: Any, *options: Any, **named: Any) -> Any:
    """Refuse integers that are not those of the result."""
    each = multi_index if type(multi_index) is tuple else (multi_index,)
    if any(np.asarray(one).dtype != np.int64 for one in each):
        raise UnsuitableError
    return np.ravel_multi_index(multi_index, dims, *options, **named)


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
    np.put_along_axis(arr, indices, _values(arr, values), one_axis(axis))


def fill_diagonal(a: Any, val: Any, wrap: Any = False) -> None:
    """Refuse NaN, other types and other dimensions, as the original does."""
    if a.ndim != 2 or val != val or a.dtype.kind not in _TAKES.get(type(val), ""):
        raise UnsuitableError
    np.fill_diagonal(a, val, wrap)
