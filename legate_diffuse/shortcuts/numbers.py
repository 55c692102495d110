# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for what makes a number of Python's of a single element.

Follows: cuPyNumeric (cupynumeric/_array, _thunk)
"""

from __future__ import annotations

from typing import Any, Final

from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import CALLED, Submission, replace

# What native code does alone.
_CONVERSIONS: Final = ("__float__", "__int__", "__index__", "__bool__")


def _is_inside(index: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Whether an index is one number for each dimension, and leads to an element."""
    return len(index) == len(shape) and all(
        [
            type(number) is int and -extent <= number < extent
            for number, extent in zip(index, shape, strict=True)
        ]
    )


def _replace_conversions(submission: Submission) -> None:
    submission.operators.update(dict.fromkeys(_CONVERSIONS))
    value_of = submission.client.legate.native.value_of

    def item(self: Any, *index: Any) -> Any:
        value = None
        if not index:
            value = value_of(self)
        elif _is_inside(index, self.shape):
            value = value_of(self[index])
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
            *CALLED,
        ),
        _replace_conversions,
    ),
)
