# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for what moves the elements of small arrays to other places.

cuPyNumeric copies what it reshapes, unless only extents of one come or go.

Follows: cuPyNumeric (cupynumeric/_array, _module/array_rearrange.py, _thunk)
"""

from __future__ import annotations

import importlib
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import MADE, Submission, replace
from legate_diffuse.stores.view import View

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
    share = submission.hosted.in_shape
    copy = submission.by_numpy(_copy_in_shape, "reshape", computes=False)

    def reshape(self: Any, *shape: Any, **named: Any) -> Any:
        made = None
        if shape and (not named or named == _ROW_MAJOR):
            wanted = shape[0] if len(shape) == 1 else shape
            if not _is_shown(self.shape, wanted):
                made = share(self, wanted)
                if made is None:
                    made = copy(self, wanted)
        return original(self, *shape, **named) if made is None else made

    original = replace(ndarray, "reshape", reshape)
    submission.front(ndarray, "reshape", "reshape")
    submission.front(ndarray, "flatten", "flatten", "self")
    package = importlib.import_module("cupynumeric")
    submission.front(package, "reshape", "reshape")
    submission.front(package, "ravel", "ravel", "a", "order")


# Where the parts of a rolled array lie along an axis, before and after.
_Parts = tuple[tuple[slice, slice], ...]
_STAYS: Final[_Parts] = ((slice(None), slice(None)),)


def _parts_of_roll(view: View, shift: Any, axis: Any) -> list[_Parts] | None:
    """Return the parts along each axis of an array that is rolled.

    None if the original must say what the arguments mean.
    """
    shape = view.shape
    if axis is None and len(shape) == 1:
        axis = 0
    axes = axis if type(axis) is tuple else (axis,)
    shifts = shift if type(shift) is tuple else (shift,)
    if len(shifts) == 1:
        shifts *= len(axes)
    elif len(axes) == 1:
        axes *= len(shifts)
    if (
        len(shifts) != len(axes)
        or not all([type(each) is int for each in (*shifts, *axes)])
        or not all([-len(shape) <= each < len(shape) for each in axes])
        or view.volume < 2
    ):
        return None
    distances = [0] * len(shape)
    for along, distance in zip(axes, shifts, strict=True):
        distances[along] += distance
    return [
        (
            (slice(None, -moved), slice(moved, None)),
            (slice(-moved, None), slice(None, moved)),
        )
        if (moved := distance % extent)
        else _STAYS
        for distance, extent in zip(distances, shape, strict=True)
    ]


def _replace_roll(submission: Submission) -> None:
    package = importlib.import_module("cupynumeric")
    client, copies = submission.client, submission.copies

    def roll(a: Any, shift: Any, axis: Any = None) -> Any:
        view = client.settled_view_of(a)
        parts = None if view is None else _parts_of_roll(view, shift, axis)
        template = None if view is None else copies[view.root.dtype]
        if view is None or template is None or not parts:
            return original(a, shift, axis)
        # all elements are written, as where arrays are joined
        made, _ = submission.new(template, view.shape)
        for places in product(*parts):
            before, after = zip(*places, strict=True)
            made[after] = a[before]
        return made

    original = replace(package, "roll", roll)
    submission.front(package, "roll", "roll", "a", "shift", "axis")


def _replace_flips(submission: Submission) -> None:
    package = importlib.import_module("cupynumeric")
    submission.front(package, "flip", "flip", "m", "axis")
    for name in ("flipud", "fliplr"):
        submission.front(package, name, name, "m")


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

# Around those that NumPy does.
FLIPS: Final = (
    Shortcut(
        "flips of small arrays",
        (
            ("_module.array_rearrange", "flip"),
            ("_module.array_rearrange", "flipud"),
            ("_module.array_rearrange", "fliplr"),
            ("_thunk.deferred", "DeferredArray.flip"),
            *MADE,
        ),
        _replace_flips,
    ),
)
