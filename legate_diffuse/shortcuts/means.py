# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for means: a sum that is divided by how many elements there are.

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

# The arguments of a mean, in their order.
_ARGUMENTS: Final = ("axis", "dtype", "out", "keepdims", "where")
_NAMES: Final = frozenset(_ARGUMENTS)
# Types whose mean is of their type.
_INEXACT: Final = FLOATS | COMPLEX


def _replace_mean(submission: Submission) -> None:
    client = submission.client

    def average(array: Any, options: tuple[Any, ...], named: Any) -> Any:
        """Return a mean, None if it is left to others."""
        view = client.settled_view_of(array)
        called = {**dict(zip(_ARGUMENTS, options, strict=False)), **named}
        axis, keeps = called.get("axis"), called.get("keepdims", False)
        if (
            view is None
            or len(called) < len(options) + len(named)
            or not called.keys() <= _NAMES
            or any(
                [
                    called[each] is not DEFAULTS[each]
                    for each in called
                    if each not in AXIS
                ]
            )
        ):
            return None
        dim = len(view.shape)
        if view.root.dtype == HALF:
            return None
        if view.root.dtype not in _INEXACT:
            return array.astype(np.float64).mean(**called)
        if axis is None and keeps is False and view.volume > 1:
            total, count = array.sum(), view.volume
        else:
            axes = axis if type(axis) is tuple else (axis,)
            if (
                not all([type(each) is int and -dim <= each < dim for each in axes])
                or type(keeps) is not bool
                or not view.volume
            ):
                return None
            total = array.sum(axis=axis, keepdims=keeps)
            count = prod([view.shape[each] for each in axes])
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


# Around those that NumPy computes.
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
