# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for cuPyNumeric's slices and copies, and for what consists of them.

A slice with certain bounds of a certain shape always gives the same layout.
cuPyNumeric computes it the first time; from then on the shape's layout remembers it.

Follows: cuPyNumeric (cupynumeric/_array, _thunk, _ufunc)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.store import LogicalStore
from legate_diffuse.shortcuts.assignments import Assignments
from legate_diffuse.shortcuts.elements import ALL_KINDS
from legate_diffuse.shortcuts.parts import find_part
from legate_diffuse.shortcuts.shortcut import Shortcut, Source
from legate_diffuse.shortcuts.submission import (
    CONVERTED,
    MADE,
    SHOWN,
    Submission,
    replace,
)
from legate_diffuse.shortcuts.templates import element_templates, new_function

_BASIC_INDEX: Final[tuple[Source, ...]] = (
    ("_array.array", "ndarray._convert_key"),
    ("_thunk.deferred", "DeferredArray._get_view"),
    ("_thunk.deferred", "DeferredArray._unpack_ellipsis"),
    ("_thunk.deferred", "DeferredArray._slice_store"),
    ("_utils.array", "is_advanced_indexing"),
)
# What a copy of elements becomes.
COPIED: Final[tuple[Source, ...]] = (
    ("_thunk.deferred", "DeferredArray.copy"),
    ("_thunk.deferred", "DeferredArray.unary_op"),
    ("_thunk.deferred", "DeferredArray._copy_if_overlapping"),
    ("_thunk.deferred", "DeferredArray._copy_if_partially_overlapping"),
    ("_thunk.deferred", "DeferredArray._broadcast"),
)


def _replace_get(submission: Submission) -> None:
    client = submission.client
    ndarray, doctor, show = client.ndarray, client.doctor, submission.show
    selections, make = submission.selections, submission.make
    hosted = submission.hosted
    read = new_function(client)
    reads = element_templates(client, "READ", read)
    arrays = hosted.new_arrays
    get_at_places = client.legate.native.get_at_places
    take_selected = submission.by_numpy(
        np.ndarray.__getitem__, "take", ALL_KINDS, (2, 2, 1), computes=False
    )

    # Python calls no function with a parameter that has only a name past the slot
    def get(self: Any, key: Any, /, *, _: None = None) -> Any:
        if doctor.is_on:
            return original(self, key)
        bounded = hosted.elements.bounded(key)
        if bounded is not key:
            return self[bounded]
        selected = arrays.make(get_at_places, self, key)
        if selected is not None:
            return selected
        thunk = self._thunk
        view = find_part(thunk, key)
        if view is None:
            selected = hosted.index(self, key)
            if selected is None and type(key) is ndarray:
                selected = selections.select(self, key)
            return original(self, key) if selected is None else selected
        if not view.shape and (type(key) is not tuple or Ellipsis not in key):
            # the original copies a single element, unless there is an ellipsis
            template = reads[view.root.dtype]
            return original(self, key) if template is None else make(template, (), view)
        return show(thunk.base._owner, view, thunk.dtype)

    submission.operators["__getitem__"] = read
    original = replace(ndarray, "__getitem__", get)

    def compact(array: Any, mask: Any) -> Any:
        made = hosted.selected(array, mask)
        if made is None:
            made = take_selected(array, mask)
        return original(array, mask) if made is None else made

    selections.compact = compact


def _replace_set(submission: Submission) -> None:
    ndarray, assignments = submission.client.ndarray, Assignments(submission)
    assign = assignments.assign

    def set_(self: Any, key: Any, value: Any, /) -> None:
        if not assign(self, key, value):
            original(self, assignments.of_elements(self, key, value), value)

    # native code takes numbers where it is given a function
    takes_numbers = submission.client.takes_numbers
    submission.operators["__setitem__"] = (
        assignments.function if takes_numbers else None
    )
    original = replace(ndarray, "__setitem__", set_)


def _replace_copies(submission: Submission) -> None:
    _replace_copy(submission, "copy")
    _replace_copy(submission, "__copy__")
    _replace_copy(submission, "__deepcopy__", "memo")


def _replace_copy(submission: Submission, name: str, *ignored: str) -> None:
    copies, client = submission.copies, submission.client
    make, doctor = submission.make, client.doctor

    def copy(self: Any, *options: Any, **named: Any) -> Any:
        if type(self._thunk.base) is not LogicalStore:
            return original(self, *options, **named)
        view = self._thunk.base._view
        root = view.root
        template = copies[root.dtype]
        if (
            template is None
            or not root.fusable
            # one element is copied by a fill
            or view.volume == 1
            or len(options) > len(ignored)
            or named
            or doctor.is_on
        ):
            return original(self, *options, **named)
        made = make(template, view.shape, view)
        # no array has so many dimensions
        return original(self, *options) if made is None else made

    original = replace(client.ndarray, name, copy)
    submission.front(client.ndarray, name, "copy", "self", *ignored)


SHORTCUTS: Final = (
    Shortcut(
        "slices",
        (
            ("_array.array", "ndarray.__getitem__"),
            ("_thunk.deferred", "DeferredArray.get_item"),
            *_BASIC_INDEX,
            *SHOWN,
        ),
        _replace_get,
    ),
    Shortcut(
        "assignments to slices",
        (
            ("_array.array", "ndarray.__setitem__"),
            ("_thunk.deferred", "DeferredArray.set_item"),
            ("_thunk.deferred", "DeferredArray.putmask"),
            ("_thunk.deferred", "_process_boolean_array_index_set"),
            ("_array.util", "check_writeable"),
            *_BASIC_INDEX,
            *COPIED,
            *SHOWN,
            *CONVERTED,
        ),
        _replace_set,
    ),
    Shortcut(
        "copies",
        (
            ("_array.array", "ndarray.copy"),
            ("_array.array", "ndarray.__copy__"),
            ("_array.array", "ndarray.__deepcopy__"),
            *COPIED,
            *MADE,
        ),
        _replace_copies,
    ),
)
