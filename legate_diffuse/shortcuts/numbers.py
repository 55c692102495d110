# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for what makes a number of Python's of a single element.

Follows: cuPyNumeric (cupynumeric/_array, _thunk)
"""

from __future__ import annotations

from typing import Any, Final

from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import ARRAYS, Submission, replace

# What makes a number of Python's of a single element.
_CONVERSIONS: Final = {"__float__": float, "__int__": int, "__bool__": bool}


def _replace_all_conversions(submission: Submission) -> None:
    for name in _CONVERSIONS:
        _replace_conversion(submission, name)
    _replace_item(submission)


def _replace_conversion(submission: Submission, name: str) -> None:
    kind = _CONVERSIONS[name]
    value_of = submission.client.legate.native.value_of

    def convert(self: Any) -> Any:
        value = value_of(self)
        return original(self) if value is None else kind(value)

    submission.operators[name] = None
    original = replace(submission.client.ndarray, name, convert)


def _replace_item(submission: Submission) -> None:
    value_of = submission.client.legate.native.value_of

    def item(self: Any, *index: Any) -> Any:
        value = None if index else value_of(self)
        return original(self, *index) if value is None else value

    original = replace(submission.client.ndarray, "item", item)


SHORTCUTS: Final = (
    Shortcut(
        "numbers",
        (
            *(("_array.array", f"ndarray.{name}") for name in _CONVERSIONS),
            ("_array.array", "ndarray.item"),
            ("_array.array", "ndarray.__array__"),
            ("_array.array", "ndarray._check_is_convertible_to_scalar"),
            ("_thunk.deferred", "DeferredArray.__numpy_array__"),
            *ARRAYS,
        ),
        "bb5d24a4b788ee39",
        _replace_all_conversions,
    ),
)
