# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for what moves the elements of small arrays to other places.

cuPyNumeric copies what it reshapes, unless only extents of one come or go.

Follows: cuPyNumeric (cupynumeric/_array, _module/array_rearrange.py, _thunk)
"""

from __future__ import annotations

import importlib
from math import prod
from typing import Any, Final

import numpy as np

from legate_diffuse.shortcuts.shortcut import Shortcut, find
from legate_diffuse.shortcuts.submission import MADE, Submission, replace

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


def _replace_roll(submission: Submission) -> None:
    package = importlib.import_module("cupynumeric")
    submission.front(package, "roll", "roll", "a", "shift", "axis")


def _replace_flips(submission: Submission) -> None:
    package = importlib.import_module("cupynumeric")
    submission.front(package, "flip", "flip", "m", "axis")
    for name in ("flipud", "fliplr"):
        submission.front(package, name, name, "m")


class _Pairs(list[tuple[int, int]]):
    """What cuPyNumeric's ``broadcast`` gives of two numbers or rows of numbers."""

    ndim: Final = 1


def _replace_broadcast_of_roll(_: Submission) -> None:
    """Let ``roll`` pair its shifts and axes without arrays, which it reads back."""

    def pairs(shift: Any, axis: tuple[int, ...]) -> Any:
        shifts = shift if type(shift) is tuple else (shift,)
        if all(type(each) is int for each in shifts):
            if len(shifts) == 1:
                shifts *= len(axis)
            elif len(axis) == 1:
                axis *= len(shifts)
            if len(shifts) == len(axis):
                return _Pairs(zip(shifts, axis, strict=True))
        return original(shift, axis)

    original = replace(find("_module", "array_rearrange"), "broadcast", pairs)


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
        "rolls of small arrays",
        (("_module.array_rearrange", "roll"), *MADE),
        _replace_roll,
    ),
    Shortcut(
        "roll",
        (
            ("_module.array_rearrange", "roll"),
            ("_module.array_dimension", "broadcast"),
        ),
        _replace_broadcast_of_roll,
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
