# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for what shows the elements of an array in another shape.

What a function shows of an array follows from the array's layout and from the other
arguments. cuPyNumeric finds it the first time; from then on the layout remembers it, as
it does for slices.

Follows: cuPyNumeric (cupynumeric/_array, _module/array_transpose.py, _thunk)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

from legate_diffuse.interpose.store import LogicalStore
from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import SHOWN, Submission, replace

_METHODS: Final = ("transpose", "swapaxes", "squeeze", "ravel")
_FUNCTIONS: Final = ("expand_dims", "transpose", "swapaxes", "squeeze", "moveaxis")
_PROPERTIES: Final = {
    **{
        name: name
        for name in ("shape", "ndim", "size", "dtype", "itemsize", "strides")
    },
    "__len__": "len",
}
# What stands for the same axes wherever it is equal.
_PLAIN: Final = frozenset((int, type(None)))


def _is_plain(argument: Any) -> bool:
    kind = type(argument)
    return kind in _PLAIN or (
        kind is tuple and all([type(each) is int for each in argument])
    )


class _Shown:
    """Shows arrays as a function of cuPyNumeric does."""

    def __init__(self, submission: Submission) -> None:
        self._show = submission.show
        self._ndarray = submission.client.ndarray
        self._doctor = submission.client.doctor

    def show(
        self, name: str, original: Callable[..., Any], array: Any, arguments: Any
    ) -> Any:
        """Return what a function shows of an array."""
        if (
            type(array) is not self._ndarray
            or self._doctor.is_on
            or not array._writeable
            or not all(map(_is_plain, arguments))
        ):
            return original(array, *arguments)
        thunk = array._thunk
        base = thunk.base
        if type(base) is not LogicalStore:
            return original(array, *arguments)
        view = base._view
        if not view.root.fusable or not view.layout.affine:
            return original(array, *arguments)
        token = name, arguments
        layout = view.layout.indexed.get(token)
        if layout is view.layout:
            return array
        if layout is not None:
            return self._show(base._owner, view.through(layout), thunk.dtype)
        found = original(array, *arguments)
        if found is array:
            view.layout.index(token, view.layout)
        elif type(found) is self._ndarray and found._writeable:
            store = found._thunk.base
            if type(store) is LogicalStore and store._view.root is view.root:
                layout = store._view.layout
                if layout.affine and layout.volume and layout is not view.layout:
                    view.layout.index(token, layout)
        return found


def _replace_all(submission: Submission) -> None:
    shown, ndarray = _Shown(submission), submission.client.ndarray
    for name in _METHODS:
        _replace(shown, ndarray, name)
    package = importlib.import_module("cupynumeric")
    for name in _FUNCTIONS:
        _replace(shown, package, name)
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
    for name, way in _PROPERTIES.items():
        submission.front(ndarray, name, way, "self")


def _replace(shown: _Shown, owner: Any, name: str) -> None:
    show = shown.show

    def call(a: Any, *arguments: Any, **named: Any) -> Any:
        if named:
            return original(a, *arguments, **named)
        return show(name, original, a, arguments)

    original = replace(owner, name, call)


SHORTCUTS: Final = (
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
            *(("_array.array", f"ndarray.{name}") for name in _PROPERTIES),
            ("_thunk.deferred", "DeferredArray.shape"),
            ("_thunk.deferred", "DeferredArray.ndim"),
            ("_thunk.deferred", "DeferredArray.__init__"),
        ),
        _replace_properties,
    ),
)
