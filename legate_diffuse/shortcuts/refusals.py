# SPDX-License-Identifier: Apache-2.0
"""Of which arguments NumPy makes something else than cuPyNumeric: the original runs.

Follows: cuPyNumeric (cupynumeric/_module, cupynumeric/linalg, src/cupynumeric)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.originals import real
from legate_diffuse.shortcuts.elements import ALL_KINDS, MOST_ALONE, UnsuitableError

Function = Callable[..., Any]

# Powers of ten up to this one are integers of 64 bits.
_MOST_DECIMALS: Final = 18
_BIT_ORDERS: Final = ("big", "little")


def unless(refuses: Callable[..., Any], function: Function) -> Function:
    """Return a function that raises ``UnsuitableError`` of arguments that are refused.

    Args:
        refuses: whether it is to refuse its arguments.
        function: what it does of others.
    """

    def checked(*arguments: Any, **named: Any) -> Any:
        if refuses(*arguments, **named):
            raise UnsuitableError
        return function(*arguments, **named)

    return checked


def has_nan(values: Any) -> bool:
    """Whether there is NaN: it is sorted to another place, and compared otherwise."""
    found: bool = real.legate.native.has_nan(values)
    return found


def in_doubles(function: Function) -> Function:
    """Refuse what becomes a float64 that it was not."""
    return unless(lambda a, *_, **__: a.dtype.itemsize != 8, function)


def along_one(function: Function) -> Function:
    """Refuse several axes that are not all, as the original does."""
    return unless(
        lambda a, axis=None, **_: type(axis) is tuple and len(axis) != a.ndim, function
    )


# Types of arrays that stay what they are beside a number of Python's.
_BESIDE: Final = {int: ("int64", "float64"), float: ("float64",)}


def _is_of_other_type(value: Any, a: Any) -> bool:
    """Whether an array is of another type than a value that is joined to it."""
    if isinstance(value, np.ndarray):
        return bool(value.dtype != a.dtype)
    return a.dtype.name not in _BESIDE.get(type(value), ())


def _are_other(values: Any, kinds: str = "iu") -> bool:
    """Whether values are no integers, or of none of the kinds of types."""
    return type(values) is not int and np.asarray(values).dtype.kind not in kinds


def _are_other_sets(
    a: Any, values: Any, invert: bool = False, kind: str | None = None
) -> bool:
    """Whether elements are of other kinds, or looked for in a table.

    NaN is in no array, and there not outside of one either.
    """
    is_other = _are_other(values, ALL_KINDS) or kind not in (None, "sort")
    return is_other or (invert and has_nan(a))


def _has_other_bins(a: Any, bins: Any = (), **named: Any) -> bool:
    """Whether the original puts other bins around elements, as they are equal.

    Bounds of singles are computed in another type, and what is between given ones must
    be a number.
    """
    if a.dtype == np.float32:
        return True
    arrays = [x for x in (bins, *named.values()) if isinstance(x, np.ndarray)]
    if any(map(has_nan, arrays)):
        return True
    if isinstance(bins, np.ndarray) and not (np.diff(bins) >= 0).all():
        return True
    bounds = named.get("range")
    is_empty = bounds is not None and not bounds[0] < bounds[1]
    lowest = a.min()  # NaN if there is one
    return bool(is_empty or lowest != lowest or lowest == a.max())


def _has_other_widths(a: Any, pad_width: Any, mode: Any = "", **_: Any) -> bool:
    """Whether widths are paired in another way: two belong to two axes there."""
    shape = np.shape(pad_width)
    return bool(shape) and shape != (a.ndim, 2) and a.ndim != 1


def _has_few_elements(a: Any, axis: Any = None, ddof: Any = 0, **_: Any) -> bool:
    """Whether there are several axes, or no more elements than degrees of freedom.

    Of all integers the original takes another mean.
    """
    if type(axis) is tuple or (axis is None and a.dtype.kind != "f"):
        return True
    return bool(ddof >= (a.size if axis is None else a.shape[axis]))


def _needs_singular_values(x: Any, ord: Any = None, axis: Any = None, **_: Any) -> bool:
    is_matrix = type(axis) is tuple or (axis is None and x.ndim == 2)
    return is_matrix and ord in ("nuc", 2, -2)


def _are_other_keys(keys: Any, axis: Any = -1) -> bool:
    """Whether the original makes one type of those of keys, or they are no numbers."""
    types = {np.asarray(key).dtype for key in keys}
    return len(types) != 1 or not np.isfinite(keys).all()


def _are_many(arrays: Any, axis: Any = 0) -> bool:
    """Whether several processors share the original's copies of many elements."""
    pieces, _ = real.legate.native.launch_policy()
    return bool(pieces > 1) and sum(map(np.size, arrays)) > MOST_ALONE


# By the names of functions.
REFUSED: Final[dict[str, Callable[..., Any]]] = {
    # of those the original returns a bool of Python's
    "array_equal": lambda a, b: a.shape != b.shape,
    # places, numbers of repeats, diagonals that are no integers
    "choose": lambda a, choices, mode="raise": (
        _are_other(a) or mode not in ("raise", "wrap", "clip")
    ),
    "insert": lambda arr, obj, values, axis=None: _are_other(obj),
    "take": lambda a, indices, axis=None, mode="": _are_other(indices),
    "tile": lambda a, reps: _are_other(reps),
    "tril": lambda m, k=0: _are_other(k),
    "triu": lambda m, k=0: _are_other(k),
    # and axes that are none
    **dict.fromkeys(
        ("partition", "argpartition"), lambda a, kth, axis=-1: type(axis) is not int
    ),
    "repeat": lambda a, repeats, axis=None: (
        _are_other(repeats) or type(axis) not in (int, type(None))
    ),
    "stack": lambda arrays, axis=0: type(axis) is not int or _are_many(arrays),
    **dict.fromkeys(("isin", "in1d"), _are_other_sets),
    # what takes longer
    "append": lambda arr, values, axis=None: _are_many((arr, values)),
    **dict.fromkeys(("concatenate", "dstack", "hstack", "vstack"), _are_many),
    # vectors beside matrices
    "column_stack": lambda tup: (
        _are_many(tup) or len({max(np.ndim(each), 1) for each in tup}) > 1
    ),
    # bounds
    "histogram": _has_other_bins,
    "round": lambda a, decimals=0: (
        type(decimals) is not int or abs(decimals) > _MOST_DECIMALS
    ),
    # NaN
    "digitize": lambda x, bins, right=False: has_nan(bins),
    # which is last in an array in order
    "searchsorted": lambda a, v, side="": (
        _are_other(v, ALL_KINDS) or has_nan(np.asarray(v)) or has_nan(a[-1:])
    ),
    "lexsort": _are_other_keys,
    # of these the original makes NaN
    "nanmedian": lambda a, axis=None: np.isinf(a).any(),
    # what NumPy warns of
    "cov": lambda m, *_, ddof=0, **__: (ddof or 0) >= m.shape[-1],
    "cross": lambda a, b, axis=-1: 2 in (a.shape[axis], b.shape[axis]),
    "var": _has_few_elements,
    # conditions of other sizes
    "extract": lambda condition, arr: condition.size != arr.size,
    # what the original has not, or takes for nothing
    "convolve": lambda a, v, mode="": mode != "same",
    "diagonal": lambda a, offset=0, axis1=0, axis2=1: axis1 < 0 or axis2 < 0,
    "matrix_power": lambda a, n: n < 0,
    "norm": _needs_singular_values,
    "unpackbits": lambda a, axis=None, bitorder="big": bitorder not in _BIT_ORDERS,
    # widths
    "pad": _has_other_widths,
    # integers that are not those of the result
    "ravel_multi_index": lambda multi_index, *_, **__: any(
        np.asarray(one).dtype != np.int64
        for one in (multi_index if type(multi_index) is tuple else (multi_index,))
    ),
    # the array itself, and what shows its elements
    "diff": lambda a, n=1, axis=-1, **added: (
        n == 0 or any(_is_of_other_type(each, a) for each in added.values())
    ),
    "rot90": lambda m, k=1, axes=(): type(k) is not int or k % 4 == 0,
}
# Of which the original makes of no elements what NumPy makes of them, in a task; or it
# ends the process.
OF_NOTHING: Final = frozenset(
    (
        *("append", "isin", "repeat", "take", "tile", "unique"),
        *("argsort", "sort", "searchsorted", "digitize"),
        *("argwhere", "flatnonzero", "nonzero", "where"),
        *("cumprod", "cumsum", "diff", "nancumprod", "nancumsum"),
    )
)
