# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for norms.

For a norm cuPyNumeric shows arrays in one dimension, for which those of several must be
there, and multiplies that by itself. Their squares can be summed where they are
computed. What its function does for the usual norms of real vectors and rows is a call
or two: its checks would take longer.

Follows: cuPyNumeric (cupynumeric/linalg)
"""

from __future__ import annotations

import importlib
from math import inf
from typing import Any, Final

from legate_diffuse.interpose.window import window
from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import CALLED, Submission, replace
from legate_diffuse.shortcuts.templates import FLOATS


def _replace_norm(submission: Submission) -> None:
    client = submission.client
    package = importlib.import_module("cupynumeric")

    def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
        view = client.view_of(x)
        if (
            view is None
            or keepdims is not False
            or type(ord) not in (type(None), int, float)
            or view.volume < 2
            or view.root.dtype not in FLOATS
        ):
            return original(x, ord, axis, keepdims)
        dim = len(view.shape)
        is_squared = ord is None or ord == 2
        if type(axis) is int and is_squared and -dim <= axis < dim:
            return package.sqrt((x * x).sum(axis=axis))
        if axis is None and dim == 1:
            if is_squared:
                return package.sqrt(x.dot(x))
            if ord == 1:
                return abs(x).sum()
            if ord == inf:
                return abs(x).max()
        if axis is ord is None and window.is_waited_for(view.root):
            return package.sqrt((x * x).sum())
        return original(x, ord, axis, keepdims)

    original = replace(package.linalg, "norm", norm)


SHORTCUTS: Final = (
    Shortcut(
        "norms",
        (("linalg.linalg", "norm"), *CALLED),
        _replace_norm,
    ),
)
