# SPDX-License-Identifier: Apache-2.0
"""Assignments to parts of arrays, as tasks that can be fused.

Follows: cuPyNumeric (cupynumeric/_array, _thunk)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.store import LogicalStore
from legate_diffuse.interpose.window import window
from legate_diffuse.shortcuts.broadcast import common_shape, repeated
from legate_diffuse.shortcuts.conversions import TARGETS
from legate_diffuse.shortcuts.parts import find_part
from legate_diffuse.shortcuts.submission import Submission
from legate_diffuse.shortcuts.task import submit
from legate_diffuse.shortcuts.templates import (
    Template,
    masked_templates,
    new_function,
)
from legate_diffuse.shortcuts.written import may_overlap
from legate_diffuse.stores.view import View, over

# Python's numbers, and what cuPyNumeric makes of them.
_NUMBERS: Final = {float: "float64", int: "int64"}


class Assignments:
    """Assigns numbers and arrays to parts of arrays.

    Attributes:
        function: what native code knows of assignments.
    """

    def __init__(self, submission: Submission) -> None:
        self._submission, self._client = submission, submission.client
        self.function = new_function(self._client)
        self._masked = masked_templates(self._client)
        self._copies, self._writes = submission.copies, submission.writes
        self._constant = submission.constant
        self._hosted, self._selections = submission.hosted, submission.selections
        self._doctor, self._warn = self._client.doctor, self._client.warn

    def assign(self, array: Any, key: Any, value: Any) -> bool:
        """Do ``array[key] = value``; False if that is left to the original."""
        is_array = type(value) is self._client.ndarray
        if not self._client.takes_numbers and not is_array:
            return False
        looks = self._doctor.is_on
        bounded = key if looks else self._hosted.elements.bounded(key)
        if bounded is not key:
            array[bounded] = value
            return True
        if type(value) in _NUMBERS:
            return self._assign_number(array, key, value)
        if not is_array and find_part(array._thunk, key) is not None:
            value = self._submission.array_of(value)
        if type(value) is self._client.ndarray and array._writeable and not looks:
            if type(value._thunk) is self._selections.type:
                return type(key) is self._client.ndarray and (
                    self._selections.put(array, key, value)
                    or self._hosted.assign(array, key, value)
                )
            value = self._as_type_of(array, value)
            if self._copy_all(array, key, value):
                return True
        return self._hosted.assign(array, key, value)

    def of_elements(self, array: Any, key: Any, value: Any) -> Any:
        """Return a key for the original, which a mask of rows may not be.

        In ``putmask`` cuPyNumeric 26.06 asserts that it has all dimensions.
        """
        if (
            type(key) is not self._client.ndarray
            or key.dtype != bool
            or not 0 < key.ndim < array.ndim
            or key.shape != array.shape[: key.ndim]
            or getattr(value, "size", 1) != 1
            or type(value) in (list, tuple)
        ):
            return key
        rest = (np.newaxis,) * (array.ndim - key.ndim)
        return key[(..., *rest)] & np.ones(array.shape[key.ndim :], bool)

    def _assign_number(self, array: Any, key: Any, value: float) -> bool:
        if array._writeable and not self._doctor.is_on:
            target = find_part(array._thunk, key)
            if target is not None and self._put(target, value):
                return True
        view, assign = self._client.view_of(array), self._hosted.assign
        if view is not None and window.is_waited_for(view.root):
            # a loop is fused with what it waits for
            return self._put_at(array, key, value) or assign(array, key, value)
        return assign(array, key, value) or self._put_at(array, key, value)

    def _copy_all(self, array: Any, key: Any, value: Any) -> bool:
        target, base = find_part(array._thunk, key), value._thunk.base
        return (
            target is not None
            and type(base) is LogicalStore
            # the original refuses others, whatever the key
            and len(base._view.shape) <= len(array._thunk.base._view.shape)
            and self._write(target, base._view)
        )

    def _as_type_of(self, array: Any, value: Any) -> Any:
        """Return an array of another's type, if that is no affair of the original's."""
        own = self._client.view_of(array)
        if own is None or value.dtype == array.dtype:
            return value
        name = own.root.dtype
        if self._warn.is_on or name not in TARGETS:
            return value
        conversions = self._submission.conversions
        found = conversions.convert(value, name)
        if found is None:
            return value
        if (view := self._client.view_of(value)) is not None:
            conversions.learn(self.function, (name, view.root.dtype), name)
        return found

    def _put(self, target: View, value: float) -> bool:
        """Write a number to all elements; False if its type is to change."""
        root = target.root
        if self._warn.is_on and root.dtype != _NUMBERS[type(value)]:
            # the original warns of conversions
            return False
        source = self._constant(root, value)
        return source is not None and self._write(target, source)

    def _put_at(self, array: Any, key: Any, value: float) -> bool:
        """Write a number where a mask of foremost dimensions says; False as above."""
        target, mask = map(self._client.view_of, (array, key))
        if (
            target is None
            or mask is None
            or mask.root.dtype != "bool"
            or not mask.shape
            or mask.shape != target.shape[: len(mask.shape)]
            or mask.root is target.root
            or target.root.scalar_storage
            or not target.volume
            or not array._writeable
            or self._doctor.is_on
            or (self._warn.is_on and target.root.dtype != _NUMBERS[type(value)])
        ):
            return False
        source = self._constant(target.root, value)
        template = self._masked[target.root.dtype]
        if source is None or template is None:
            return False
        for dim in range(len(mask.shape), len(target.shape)):
            mask = mask.promote(dim, target.shape[dim])
        views = [target, mask, over(source, target.shape), target]
        submit(template, views)
        return True

    def _write(self, target: View, source: View) -> bool:
        """Copy one view to another; False if that is left to the original."""
        root, is_single = target.root, not target.shape
        if source is target and not is_single:
            return True
        template = (self._writes if is_single else self._copies)[root.dtype]
        if (
            template is None
            or source.root.dtype is not root.dtype
            or not source.root.fusable
            or root.scalar_storage
        ):
            return False
        if is_single:
            if source.shape or may_overlap(source.root, root):
                return False
        elif (found := self._beside(source, target, template)) is None:
            return False
        elif found is target:
            return True
        else:
            source = found
        submit(template, [target, source])
        return True

    def _beside(self, source: View, target: View, template: Template) -> View | None:
        """Return a view to copy from, of the target's shape; None if there is none.

        It is the target if both are the same elements.
        """
        root = target.root
        if source.shape != target.shape:
            if common_shape(source.shape, target.shape) != target.shape or may_overlap(
                source.root, root
            ):
                return None
            source = repeated(source, target.shape)
        if may_overlap(source.root, root):
            if target.equal_storage(source):
                return target
            if source.overlaps(target):
                # the original copies it first, too
                made = self._submission.make(template, source.shape, source)
                return None if made is None else self._client.view_of(made)
        return source
