# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy that return what cuPyNumeric's do where the two differ.

Follows: cuPyNumeric (cupynumeric/_module, src/cupynumeric)
"""

from __future__ import annotations

from math import prod
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


def triangle(function: Function) -> Function:
    """Refuse diagonals whose number is no integer."""

    def triangle(m: Any, k: Any = 0) -> Any:
        refuse_other(k, "iu")
        return function(m, k)

    return triangle


# So many elements in a row are worth a call of NumPy's.
_LONG_ROW: Final = 2**9


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
    """Refuse numbers of repeats that are no integers."""
    refuse_other(repeats, "iu")
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
