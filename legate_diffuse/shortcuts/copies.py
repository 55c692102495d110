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
from legate_diffuse.interpose.window import window
from legate_diffuse.shortcuts.broadcast import common_shape, repeated
from legate_diffuse.shortcuts.conversions import TARGETS
from legate_diffuse.shortcuts.elements import ALL_KINDS
from legate_diffuse.shortcuts.parts import find_part
from legate_diffuse.shortcuts.shortcut import Shortcut, Source
from legate_diffuse.shortcuts.submission import (
    CALLED,
    CONVERTED,
    MADE,
    SHOWN,
    Submission,
    replace,
)
from legate_diffuse.shortcuts.task import submit
from legate_diffuse.shortcuts.templates import (
    element_templates,
    masked_templates,
    new_function,
)
from legate_diffuse.shortcuts.written import may_overlap
from legate_diffuse.stores.view import View, over

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

# Python's numbers, and what cuPyNumeric makes of them.
_NUMBERS: Final = {float: "float64", int: "int64"}


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
    copies, client = submission.copies, submission.client
    ndarray, doctor = client.ndarray, client.doctor
    warn, selections = client.warn, submission.selections
    written = new_function(client)
    writes = element_templates(client, "WRITE", written)
    masked = masked_templates(client)
    constant, hosted = submission.constant, submission.hosted
    takes_numbers = client.takes_numbers

    def set_(self: Any, key: Any, value: Any, /) -> None:
        if not takes_numbers and type(value) is not ndarray:
            original(self, key, value)
            return
        bounded = key if doctor.is_on else hosted.elements.bounded(key)
        if bounded is not key:
            self[bounded] = value
            return
        if type(value) in _NUMBERS:
            if self._writeable and not doctor.is_on:
                target = find_part(self._thunk, key)
                if target is not None and _put(target, value):
                    return
            ways = [hosted.assign, _put_at]
            if waits(self):
                # a loop is fused with what it waits for
                ways.reverse()
            if not any(way(self, key, value) for way in ways):
                original(self, key, value)
            return
        if type(value) is not ndarray and find_part(self._thunk, key) is not None:
            value = submission.array_of(value)
        if type(value) is ndarray and self._writeable and not doctor.is_on:
            if type(value._thunk) is selections.type:
                if type(key) is not ndarray or not (
                    selections.put(self, key, value) or hosted.assign(self, key, value)
                ):
                    original(self, key, value)
                return
            target = find_part(self._thunk, key)
            own = client.view_of(self)
            if own is not None and value.dtype != self.dtype:
                value = converted(value, own.root.dtype)
            base = value._thunk.base
            if (
                target is not None
                and type(base) is LogicalStore
                # the original refuses others, whatever the key
                and len(base._view.shape) <= len(self._thunk.base._view.shape)
                and (_copy if target.shape else _write)(target, base._view)
            ):
                return
        if not hosted.assign(self, key, value):
            original(self, key, value)

    def waits(array: Any) -> bool:
        """Whether an array's elements are yet to be computed."""
        view = client.view_of(array)
        return view is not None and window.is_waited_for(view.root)

    def converted(value: Any, name: str | None) -> Any:
        """Return an array of a type, where that is no affair of the original's."""
        if warn.is_on or name not in TARGETS:
            return value
        found = submission.conversions.convert(value, name)
        if found is None:
            return value
        view = client.view_of(value)
        if view is not None:
            kinds = name, view.root.dtype
            submission.conversions.learn(written, kinds, name)
        return found

    def _put(target: View, value: float) -> bool:
        """Write a number to all elements; False if its type is to change."""
        root = target.root
        if warn.is_on and root.dtype != _NUMBERS[type(value)]:
            # the original warns of conversions
            return False
        source = constant(root, value)
        return source is not None and (_copy if target.shape else _write)(
            target, source
        )

    def _put_at(array: Any, key: Any, value: float) -> bool:
        """Write a number where a mask of the array's shape says; False as above."""
        target, mask = map(client.view_of, (array, key))
        if (
            target is None
            or mask is None
            or mask.root.dtype != "bool"
            or mask.shape != target.shape
            or mask.root is target.root
            or target.root.scalar_storage
            or not target.volume
            or not array._writeable
            or doctor.is_on
            or (warn.is_on and target.root.dtype != _NUMBERS[type(value)])
        ):
            return False
        source, template = constant(target.root, value), masked[target.root.dtype]
        if source is None or template is None:
            return False
        views = [target, mask, over(source, target.shape), target]
        submit(template, views)
        return True

    def _write(target: View, source: View) -> bool:
        """Write a single element; False if that is left to the original."""
        root = target.root
        template = writes[root.dtype]
        if (
            template is None
            or source.root.dtype is not root.dtype
            or source.shape
            or not source.root.fusable
            or root.scalar_storage
            or may_overlap(source.root, root)
        ):
            return False
        submit(template, [target, source])
        return True

    def _copy(target: View, source: View) -> bool:
        """Copy one view to another; False if that is left to the original."""
        root = target.root
        if source is target:
            return True
        template = copies[root.dtype]
        if (
            template is None
            or source.root.dtype is not root.dtype
            or not source.root.fusable
            or root.scalar_storage
        ):
            return False
        if source.shape != target.shape:
            if common_shape(source.shape, target.shape) != target.shape or may_overlap(
                source.root, root
            ):
                return False
            source = repeated(source, target.shape)
        if may_overlap(source.root, root):
            if target.equal_storage(source):
                return True
            if source.overlaps(target):
                # the original copies it first, too
                made = submission.make(template, source.shape, source)
                copied = None if made is None else client.view_of(made)
                if copied is None:
                    return False
                source = copied
        submit(template, [target, source])
        return True

    # native code takes numbers where it is given a function
    submission.operators["__setitem__"] = written if takes_numbers else None
    original = replace(ndarray, "__setitem__", set_)


def _replace_copies(submission: Submission) -> None:
    _replace_copy(submission, "copy")
    _replace_copy(submission, "__copy__")


def _replace_copy(submission: Submission, name: str) -> None:
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
            or options
            or named
            or doctor.is_on
        ):
            return original(self, *options, **named)
        made = make(template, view.shape, view)
        # no array has so many dimensions
        return original(self) if made is None else made

    original = replace(client.ndarray, name, copy)
    submission.front(client.ndarray, name, "copy", "self")


def _replace_sum(submission: Submission) -> None:
    selections = submission.selections

    def sum_(self: Any, *options: Any, **named: Any) -> Any:
        if type(self._thunk) is selections.type and not options and not named:
            return selections.total(self)
        return original(self, *options, **named)

    original = replace(submission.client.ndarray, "sum", sum_)


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
            *COPIED,
            *MADE,
        ),
        _replace_copies,
    ),
    Shortcut(
        "sums",
        (("_array.array", "ndarray.sum"), *CALLED),
        _replace_sum,
    ),
)
