# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for norms and comparisons of whole arrays that wait.

For a norm cuPyNumeric shows them in one dimension, for which those of several must be
there, and multiplies that by itself. Their squares can be summed where they are
computed, and what compares elements can be, too.

Follows: cuPyNumeric (cupynumeric/linalg, _module/logic_comparison.py)
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from legate_diffuse.interpose.window import window
from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import CALLED, Submission, replace
from legate_diffuse.shortcuts.templates import FLOATS


def _replace_norm(submission: Submission) -> None:
    client = submission.client
    package = importlib.import_module("cupynumeric")

    def norm(x: Any, *options: Any, **named: Any) -> Any:
        view = None if options or named else client.view_of(x)
        if (
            view is None
            or view.volume < 2
            or view.root.dtype not in FLOATS
            or not window.is_waited_for(view.root)
        ):
            return original(x, *options, **named)
        is_vector = len(view.shape) == 1
        return package.sqrt(x.dot(x) if is_vector else (x * x).sum())

    original = replace(package.linalg, "norm", norm)


def _replace_array_equal(submission: Submission) -> None:
    client = submission.client

    def array_equal(a1: Any, a2: Any, *options: Any, **named: Any) -> Any:
        views = client.view_of(a1), client.view_of(a2)
        if (
            options
            or named
            or None in views
            or a1.shape != a2.shape
            or a1.dtype != a2.dtype
            # those are the original's affair
            or a1.size < 2
        ):
            return original(a1, a2, *options, **named)
        return (a1 == a2).all()

    package = importlib.import_module("cupynumeric")
    original = replace(package, "array_equal", array_equal)


SHORTCUTS: Final = (
    Shortcut(
        "comparisons of arrays",
        (("_module.logic_comparison", "array_equal"), *CALLED),
        _replace_array_equal,
    ),
    Shortcut(
        "norms",
        (("linalg.linalg", "norm"), *CALLED),
        _replace_norm,
    ),
)
