# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for what shows the elements of an array in another shape.

What a function shows of an array follows from the array's layout and from the other
arguments. cuPyNumeric finds it the first time; from then on the layout remembers it, as
it does for slices.

Follows: cuPyNumeric (cupynumeric/_array, _module/array_transpose.py, _thunk)
"""

from __future__ import annotations

import importlib
from itertools import pairwise
from typing import Any, Final

from legate_diffuse.interpose.store import LogicalStore
from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import SHOWN, Submission, replace

_METHODS: Final = ("transpose", "swapaxes", "squeeze", "ravel")
_FUNCTIONS: Final = ("expand_dims", "transpose", "swapaxes", "squeeze", "moveaxis")
_PROPERTIES: Final = ("shape", "ndim", "size", "dtype", "itemsize", "strides")
# What stands for the same axes wherever it is equal.
_PLAIN: Final = frozenset((int, type(None)))


def _is_plain(argument: Any) -> bool:
    kind = type(argument)
    return kind in _PLAIN or (
        kind is tuple and all([type(each) is int for each in argument])
    )


def _replace_all(submission: Submission) -> None:
    ndarray, package = submission.client.ndarray, importlib.import_module("cupynumeric")
    for name in _METHODS:
        _replace(submission, ndarray, name)
    for name in _FUNCTIONS:
        _replace(submission, package, name)
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


def _replace(submission: Submission, owner: Any, name: str) -> None:
    """Let a function of cuPyNumeric show what it has shown of a layout before."""
    ndarray, doctor = submission.client.ndarray, submission.client.doctor
    show = submission.show

    def call(a: Any, *arguments: Any, **named: Any) -> Any:
        if (
            named
            or type(a) is not ndarray
            or doctor.is_on
            or not a._writeable
            or not all(map(_is_plain, arguments))
        ):
            return original(a, *arguments, **named)
        base = a._thunk.base
        view = base._view if type(base) is LogicalStore else None
        if view is None or not view.root.fusable or not view.layout.affine:
            return original(a, *arguments)
        token = name, arguments
        layout = view.layout.indexed.get(token)
        if layout is view.layout:
            return a
        if layout is not None:
            return show(base._owner, view.through(layout), a._thunk.dtype)
        found = original(a, *arguments)
        if found is a:
            view.layout.index(token, view.layout)
        elif type(found) is ndarray and found._writeable:
            store = found._thunk.base
            if type(store) is LogicalStore and store._view.root is view.root:
                layout = store._view.layout
                if layout.affine and layout.volume and layout is not view.layout:
                    view.layout.index(token, layout)
        return found

    original = replace(owner, name, call)


def _replace_splits(submission: Submission) -> None:
    package = importlib.import_module("cupynumeric")
    ndarray, doctor = submission.client.ndarray, submission.client.doctor

    def array_split(
        a: Any, indices: Any, axis: Any = 0, equal: bool = False, **named: Any
    ) -> Any:
        is_plain = type(a) is ndarray and type(indices) is type(axis) is int
        if (
            not is_plain
            or named
            or doctor.is_on
            or not (a._writeable and 0 <= axis < a.ndim)
            or not 0 < indices <= a.shape[axis]
        ):
            return original(a, indices, axis, equal, **named)
        extent, longer = divmod(a.shape[axis], indices)
        if equal and longer:
            return original(a, indices, axis, equal)
        before = (slice(None),) * axis
        starts = [k * extent + min(k, longer) for k in range(indices + 1)]
        return [a[(*before, slice(*ends))] for ends in pairwise(starts)]

    original = replace(package, "array_split", array_split)


SHORTCUTS: Final = (
    Shortcut(
        "split arrays",
        (
            ("_module.array_splitting", "array_split"),
            ("_array.array", "ndarray.view"),
            *SHOWN,
        ),
        _replace_splits,
    ),
    Shortcut(
        "what shows arrays in another shape",
        (
            *(("_array.array", f"ndarray.{name}") for name in _METHODS),
            ("_module.array_transpose", "transpose"),
            ("_module.array_transpose", "swapaxes"),
            ("_module.array_transpose", "moveaxis"),
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
