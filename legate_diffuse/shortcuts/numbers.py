# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for what makes a number of Python's of a single element, or NumPy's arrays.

Follows: cuPyNumeric (cupynumeric/_array, _thunk)
"""

from __future__ import annotations

from typing import Any, Final

from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import CALLED, Submission, replace

# What makes numbers of Python's.
_CONVERSIONS: Final = ("float", "int", "index", "bool")


def _replace_conversions(submission: Submission) -> None:
    client, hosted = submission.client, submission.hosted

    def item(self: Any, *places: Any) -> Any:
        # the original copies the element first
        if places or client.doctor.is_on or self.size != 1:
            return original_item(self, *places)
        return self.__array__().item()

    original_item = replace(client.ndarray, "item", item)
    submission.front(client.ndarray, "item", "item")
    for name in _CONVERSIONS:
        submission.front(client.ndarray, f"__{name}__", name, "self")
        submission.operators[f"__{name}__"] = None
    submission.front(client.ndarray, "__format__", "format", "self", "spec")

    def elements(self: Any, dtype: Any = None, *, copy: bool | None = None) -> Any:
        found = None
        if dtype is not None and not client.doctor.is_on:
            found = hosted.elements.given(self, True)
            if found is not None:
                # always a copy
                return found.astype(dtype)
        elif not client.doctor.is_on:
            found = hosted.elements.single(self)
            if found is None:
                found = hosted.elements.shared(self)
            if found is not None and not self._writeable:
                found.flags.writeable = False
        if found is None:
            found = original(self, dtype)
        return found.copy() if copy else found

    original = replace(client.ndarray, "__array__", elements)


SHORTCUTS: Final = (
    Shortcut(
        "numbers",
        (
            *(("_array.array", f"ndarray.__{name}__") for name in _CONVERSIONS),
            ("_array.array", "ndarray.item"),
            ("_array.array", "ndarray.__array__"),
            ("_array.array", "ndarray.__format__"),
            ("_array.array", "ndarray._check_is_convertible_to_scalar"),
            ("_thunk.deferred", "DeferredArray.__numpy_array__"),
            *CALLED,
        ),
        _replace_conversions,
    ),
)
