# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy that return what cuPyNumeric's do where the two differ.

Follows: cuPyNumeric (cupynumeric/_module, src/cupynumeric)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from legate_diffuse.shortcuts.hosted import UnsuitableError

Function = Callable[..., Any]


def refuse_nan(values: Any) -> None:
    """Raise where NaN is sorted or compared: its place is another one there."""
    if values.dtype.kind not in "fc":
        return
    flat = values.reshape(-1)
    # no square is NaN but that of NaN; the least costly pass over the elements
    total = np.vdot(flat, flat) if values.dtype.kind == "f" else flat.sum()
    if total != total:
        raise UnsuitableError


def ordered(function: Function) -> Function:
    """Return a function that refuses NaN in its first argument."""

    def ordered(a: Any, *options: Any, **named: Any) -> Any:
        refuse_nan(a)
        return function(a, *options, **named)

    return ordered


def argsort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    """Sort as the original does: on processors it is always stable."""
    return np.argsort(a, axis, kind="stable")


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


def unravel_index(indices: Any, shape: Any) -> Any:
    """Return coordinates of the type of the indices."""
    kind = np.asarray(indices).dtype
    return tuple(
        np.asarray(each).astype(kind) for each in np.unravel_index(indices, shape)
    )


def gradient(f: Any, *distances: Any, axis: Any = None) -> Any:
    """Return a list for several axes."""
    found = np.gradient(f, *distances, axis=axis)
    return list(found) if isinstance(found, tuple) else found


def einsum(expression: Any, *operands: Any) -> Any:
    """Refuse one operand, which may be shown, and operands that are no arrays."""
    arrays = [isinstance(each, np.ndarray) for each in operands]
    if len(arrays) < 2 or not all(arrays):
        raise UnsuitableError
    return np.einsum(expression, *operands)


def in_doubles(function: Function) -> Function:
    """Refuse NaN, and what becomes a float64 that it was not."""
    checked = ordered(function)

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
