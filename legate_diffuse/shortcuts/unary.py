# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for operations on one array that are no universal functions.

Follows: cuPyNumeric (cupynumeric/_array, _module/math_complex.py, _thunk)
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from legate_diffuse.kernel.dtypes import ALL, HALF
from legate_diffuse.shortcuts.arithmetic import submit_over
from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import CALLED, MADE, SHOWN, Submission, replace
from legate_diffuse.shortcuts.templates import ByType, Template, new_function

# The types of results by those of operands.
_PARTS: Final = {"complex64": "float32", "complex128": "float64"}
_ALIKE: Final = {name: name for name in _PARTS}
_ANGLES: Final = {name: "float64" for name in ALL if name != HALF}
# Properties and methods of complex arrays.
_PROPERTIES: Final = ("real", "imag")
_CONJUGATES: Final = ("conj", "conjugate")


class _Operation:
    """An operation of cuPyNumeric's on one array.

    Args:
        submission: submits its tasks.
        code: its name among those.
        results: the types of its results, by those of its operands.
        scalars: its own, each with its type.
    """

    def __init__(
        self,
        submission: Submission,
        code: str,
        results: Mapping[str, str],
        *scalars: tuple[Any, Any],
    ) -> None:
        client = submission.client
        codes = importlib.import_module("cupynumeric.config").UnaryOpCode

        def make(dtype: np.dtype[Any]) -> Template | None:
            result = results.get(dtype.name)
            if result is None:
                return None
            task, own = client.tasks.UNARY_OP, np.dtype(result)
            template = Template(client, task, 1, getattr(codes, code), own)
            template.scalars = [*template.scalars, *scalars]
            template.function = self.function
            return template

        self._submission = submission
        self._templates = ByType(make)
        self.function = new_function(client)

    def apply(self, array: Any) -> Any:
        """Submit it; None if that is left to the original."""
        client = self._submission.client
        view = None if client.doctor.is_on else client.view_of(array)
        template = None if view is None else self._templates[view.root.dtype]
        if view is None or template is None:
            return None
        return submit_over(self._submission, template, [view])

    def over(self, original: Any) -> Any:
        """Return a method that submits it, or does as the original."""

        def method(self_: Any) -> Any:
            made = self.apply(self_)
            return original(self_) if made is None else made

        return method


def _replace_properties(submission: Submission) -> None:
    ndarray = submission.client.ndarray
    for name in _PROPERTIES:
        operation = _Operation(submission, name.upper(), _PARTS)
        before = getattr(ndarray, name)
        setattr(ndarray, name, before.getter(operation.over(before.fget)))
        submission.front(ndarray, name, name, "self", extra=operation.function)


def _replace_conjugates(submission: Submission) -> None:
    ndarray = submission.client.ndarray
    operation = _Operation(submission, "CONJ", _ALIKE)
    for name in _CONJUGATES:
        replace(ndarray, name, operation.over(getattr(ndarray, name)))
        # of real elements both are the array itself
        submission.front(ndarray, name, "real", "self", extra=operation.function)


def _replace_angle(submission: Submission) -> None:
    package = importlib.import_module("cupynumeric")
    types = importlib.import_module("legate.core.types")
    operation = _Operation(submission, "ANGLE", _ANGLES, (False, types.bool_))

    def angle(z: Any, *options: Any, **named: Any) -> Any:
        made = None if options or named else operation.apply(submission.array_of(z))
        return original(z, *options, **named) if made is None else made

    original = replace(package, "angle", angle)
    submission.front(package, "angle", "function", "z", "deg", extra=operation.function)


SHORTCUTS: Final = (
    Shortcut(
        "the parts of complex arrays",
        (
            *(("_array.array", f"ndarray.{name}") for name in (*_PROPERTIES, "fill")),
            *(("_thunk.deferred", f"DeferredArray.{name}") for name in _PROPERTIES),
            ("_thunk.deferred", "DeferredArray.unary_op"),
            *MADE,
            *SHOWN,
        ),
        _replace_properties,
    ),
    Shortcut(
        "conjugates",
        (
            *(("_array.array", f"ndarray.{name}") for name in _CONJUGATES),
            ("_thunk.deferred", "DeferredArray.conj"),
            ("_thunk.deferred", "DeferredArray.unary_op"),
            *MADE,
            *SHOWN,
        ),
        _replace_conjugates,
    ),
    Shortcut(
        "the function angle",
        (
            ("_module.math_complex", "angle"),
            ("_array.thunk", "perform_unary_op"),
            ("_thunk.deferred", "DeferredArray.unary_op"),
            *MADE,
            *CALLED,
        ),
        _replace_angle,
    ),
)
