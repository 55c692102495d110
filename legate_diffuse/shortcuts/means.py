# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for means: sums over how many elements there are.

Follows: cuPyNumeric (cupynumeric/_array, _module/stats_avgs_vars.py)
"""

from __future__ import annotations

import importlib
from math import prod
from typing import Any, Final

import numpy as np

from legate_diffuse.kernel.dtypes import HALF
from legate_diffuse.shortcuts.reductions import AXIS, DEFAULTS
from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import CALLED, Submission, replace
from legate_diffuse.shortcuts.templates import COMPLEX, FLOATS

# The arguments of a mean in their order.
_ARGUMENTS: Final = ("axis", "dtype", "out", "keepdims", "where")
# Types whose mean is of their type.
_INEXACT: Final = FLOATS | COMPLEX


def _called(options: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any] | None:
    """Return what a mean is given, None if the original has to look."""
    if not options and named.keys() <= AXIS:
        return named
    called = {**dict(zip(_ARGUMENTS, options, strict=False)), **named}
    others = called.keys() - AXIS
    if (
        len(called) < len(options) + len(named)
        or not called.keys() <= set(_ARGUMENTS)
        or any([called[each] is not DEFAULTS.get(each, ...) for each in others])
    ):
        return None
    return called


def _count(shape: tuple[int, ...], axis: Any) -> int:
    """Return how many elements are added up, 0 if the axes are no integers, or others.

    Args:
        shape: of the array.
        axis: one, or several of them in a tuple.
    """
    dim = len(shape)
    if type(axis) is int and -dim <= axis < dim:
        return shape[axis]
    axes = axis if type(axis) is tuple else (axis,)
    if not all([type(each) is int and -dim <= each < dim for each in axes]):
        return 0
    return prod([shape[each] for each in axes])


def _replace_mean(submission: Submission) -> None:
    client = submission.client

    def average(array: Any, options: tuple[Any, ...], named: Any) -> Any:
        """Return a mean, None if it is left to others."""
        view = client.settled_view_of(array)
        called = _called(options, named)
        if view is None or called is None:
            return None
        axis, keeps = called.get("axis"), called.get("keepdims", False)
        if view.root.dtype == HALF:
            return None
        if view.root.dtype not in _INEXACT:
            array = array.astype(np.float64)
        if axis is None and keeps is False and view.volume:
            total, count = array.sum(), view.volume
        else:
            count = _count(view.shape, axis)
            if not count or type(keeps) is not bool or not view.volume:
                return None
            total = array.sum(axis=axis, keepdims=keeps)
        total /= count
        return total

    def replace_mean(owner: Any) -> None:
        def mean(a: Any, *options: Any, **named: Any) -> Any:
            made = average(a, options, named)
            return original(a, *options, **named) if made is None else made

        submission.write_results(owner, "mean", submission.written.mean, 2)
        original = replace(owner, "mean", mean)

    replace_mean(client.ndarray)
    replace_mean(importlib.import_module("cupynumeric"))


# Around those that NumPy computes, which takes longer.
SHORTCUTS: Final = (
    Shortcut(
        "means",
        (
            ("_array.array", "ndarray.mean"),
            ("_module.stats_avgs_vars", "mean"),
            ("_array.array", "ndarray._summation_dtype"),
            ("_array.array", "ndarray._normalize_summation"),
            ("_array.array", "ndarray.__itruediv__"),
            *CALLED,
        ),
        _replace_mean,
    ),
)
