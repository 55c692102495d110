# SPDX-License-Identifier: Apache-2.0
"""A shortcut for norms of arrays that wait.

cuPyNumeric shows them in one dimension, for which those of several must be there, and
multiplies that by itself. Their squares can be summed where they are computed.

Follows: cuPyNumeric (cupynumeric/linalg)
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


SHORTCUTS: Final = (
    Shortcut(
        "norms",
        (("linalg.linalg", "norm"), *CALLED),
        _replace_norm,
    ),
)
