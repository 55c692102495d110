# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for what shows the elements of an array in another shape.

What a function shows of an array follows from the array's layout and from the other
arguments, wherever the elements are: native code finds it (mappers/process/shown.cc).

Follows: cuPyNumeric (cupynumeric/_array, _module/array_transpose.py, _thunk)
"""

from __future__ import annotations

import importlib
from typing import Final

from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import SHOWN, Submission

_METHODS: Final = ("transpose", "swapaxes", "squeeze", "ravel")
_PROPERTIES: Final = ("shape", "ndim", "size", "dtype", "itemsize", "strides")


def _replace_all(submission: Submission) -> None:
    ndarray, package = submission.client.ndarray, importlib.import_module("cupynumeric")
    for owner, array in ((ndarray, "self"), (package, "a")):
        submission.front(owner, "squeeze", "squeeze", array, "axis")
        submission.front(owner, "swapaxes", "swapaxes", array, "axis1", "axis2")
        submission.front(owner, "transpose", "transpose", array, "axes")
    submission.front(package, "expand_dims", "expand_dims", "a", "axis")
    submission.front(ndarray, "T", "transpose", "self")
    submission.front(ndarray, "ravel", "ravel", "self", "order")


def _replace_properties(submission: Submission) -> None:
    """Tell what an array is without its thunk, which few arrays need."""
    ndarray = submission.client.ndarray
    for name in _PROPERTIES:
        submission.front(ndarray, name, name, "self")
    submission.operators["__len__"] = None


SHORTCUTS: Final = (
    Shortcut(
        "what shows arrays in another shape",
        (
            *(("_array.array", f"ndarray.{name}") for name in _METHODS),
            ("_module.array_transpose", "transpose"),
            ("_module.array_transpose", "swapaxes"),
            ("_module.array_dimension", "expand_dims"),
            ("_module.array_dimension", "squeeze"),
            ("_thunk.deferred", "DeferredArray.transpose"),
            ("_thunk.deferred", "DeferredArray.swapaxes"),
            ("_thunk.deferred", "DeferredArray.squeeze"),
            ("_thunk.deferred", "DeferredArray.reshape"),
            *SHOWN,
        ),
        _replace_all,
    ),
    Shortcut(
        "what arrays are",
        (
            *(
                ("_array.array", f"ndarray.{name}")
                for name in (*_PROPERTIES, "__len__")
            ),
            ("_thunk.deferred", "DeferredArray.shape"),
            ("_thunk.deferred", "DeferredArray.ndim"),
            ("_thunk.deferred", "DeferredArray.__init__"),
        ),
        _replace_properties,
    ),
)
