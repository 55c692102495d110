# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for what moves the elements of small arrays to other places.

cuPyNumeric copies what it reshapes, unless only extents of one come or go.

Follows: cuPyNumeric (cupynumeric/_array, _module/array_rearrange.py, _thunk)
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import MADE, Submission, replace

# At most so many ways to roll an array are remembered.
_MAX_ROLLS: Final = 1024
# What ``ravel`` and ``flatten`` pass on.
_ROW_MAJOR: Final = {"order": "C"}


def _copy_in_shape(elements: Any, shape: Any) -> Any:
    """Return an array's elements in another shape.

    Raises:
        ValueError: there is none, or cuPyNumeric shows the array's own elements.
    """
    made = np.reshape(elements, shape)
    if _long_ones(made.shape) == _long_ones(elements.shape):
        raise ValueError
    return made


def _long_ones(shape: Any) -> list[int]:
    return [extent for extent in shape if extent != 1]


def _is_shown(before: tuple[int, ...], after: Any) -> bool:
    """Whether cuPyNumeric shows an array's own elements in a shape.

    What waits need not be submitted then.
    """
    extents = list(after) if type(after) in (tuple, list) else [after]
    if not all([type(each) is int for each in extents]):
        return False
    if extents.count(-1) == 1:
        known = -prod(extents)
        if known <= 0 or prod(before) % known:
            return False
        extents[extents.index(-1)] = prod(before) // known
    return _long_ones(extents) == _long_ones(before)


def _replace_reshape(submission: Submission) -> None:
    ndarray = submission.client.ndarray
    copy = submission.by_numpy(_copy_in_shape, "reshape", computes=False)

    def reshape(self: Any, *shape: Any, **named: Any) -> Any:
        made = None
        if shape and (not named or named == _ROW_MAJOR):
            wanted = shape[0] if len(shape) == 1 else shape
            if not _is_shown(self.shape, wanted):
                made = copy(self, wanted)
        return original(self, *shape, **named) if made is None else made

    original = replace(ndarray, "reshape", reshape)
    submission.front(ndarray, "reshape", "reshape")
    submission.front(ndarray, "flatten", "flatten", "self")
    package = importlib.import_module("cupynumeric")
    submission.front(package, "reshape", "reshape")
    submission.front(package, "ravel", "ravel", "a", "order")


# The index of a part of an array, before and after it is rolled.
_Part = tuple[tuple[slice, ...], tuple[slice, ...]]
_STAYS: Final = ((slice(None), slice(None)),)


@lru_cache(_MAX_ROLLS)
def _parts_of_roll(
    shape: tuple[int, ...], shifts: tuple[int, ...], axes: tuple[int, ...]
) -> list[_Part] | None:
    """Return the parts of an array of some shape that is rolled.

    None if the original must say what the arguments mean.
    """
    if len(shifts) == 1:
        shifts *= len(axes)
    elif len(axes) == 1:
        axes *= len(shifts)
    if (
        len(shifts) != len(axes)
        or not all([-len(shape) <= each < len(shape) for each in axes])
        or prod(shape) < 2
    ):
        return None
    distances = [0] * len(shape)
    for along, distance in zip(axes, shifts, strict=True):
        distances[along] += distance
    along_axes = [
        (
            (slice(None, -moved), slice(moved, None)),
            (slice(-moved, None), slice(None, moved)),
        )
        if (moved := distance % extent)
        else _STAYS
        for distance, extent in zip(distances, shape, strict=True)
    ]
    parts = [tuple(zip(*places, strict=True)) for places in product(*along_axes)]
    return [(before, after) for before, after in parts]


def _integers(given: Any, ndarray: type) -> tuple[int, ...] | None:
    """Return one or several integers as a tuple, None if these are others."""
    # narrower ones may overflow in the original
    if type(given) in (ndarray, np.ndarray, np.int64) and given.dtype == np.int64:
        given = given.tolist()
    several = tuple(given) if type(given) in (tuple, list) else (given,)
    return several if all([type(each) is int for each in several]) else None


def _replace_roll(submission: Submission) -> None:
    package = importlib.import_module("cupynumeric")
    client, copies = submission.client, submission.copies
    ndarray = client.ndarray

    def roll(a: Any, shift: Any, axis: Any = None) -> Any:
        view = client.settled_view_of(a)
        template = None if view is None else copies[view.root.dtype]
        if view is None or template is None:
            return original(a, shift, axis)
        if axis is None and len(view.shape) == 1:
            axis = 0
        shifts, axes = _integers(shift, ndarray), _integers(axis, ndarray)
        parts = shifts and axes and _parts_of_roll(view.shape, shifts, axes)
        if not parts:
            return original(a, shift, axis)
        # all elements are written, as where arrays are joined
        made, _ = submission.new(template, view.shape)
        for before, after in parts:
            made[after] = a[before]
        return made

    original = replace(package, "roll", roll)


SHORTCUTS: Final = (
    Shortcut(
        "reshaped arrays",
        (
            ("_array.array", "ndarray.reshape"),
            ("_array.array", "ndarray.flatten"),
            ("_module.array_shape", "reshape"),
            ("_module.array_shape", "ravel"),
            ("_thunk.deferred", "DeferredArray.reshape"),
            *MADE,
        ),
        _replace_reshape,
    ),
    Shortcut(
        "roll",
        (("_module.array_rearrange", "roll"), *MADE),
        _replace_roll,
    ),
)
