# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for window functions, which are loops over the places of their points.

The task of the original computes them as these do, with the C library's cosine.

Follows: cuPyNumeric (cupynumeric/_module/window.py, src/cupynumeric/nullary)
"""

from __future__ import annotations

import importlib
from functools import partial
from math import pi
from typing import Any, Final

from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import MADE, Submission, replace


def _bartlett(n: Any, place: Any, last: int) -> Any:
    height = place / (last / 2)
    return n.minimum(height, 2.0 - height)


def _blackman(n: Any, place: Any, last: int) -> Any:
    angle = place * (2 * pi / last)
    return 0.42 - 0.5 * n.cos(angle) + 0.08 * n.cos(2 * angle)


def _hamming(n: Any, place: Any, last: int) -> Any:
    return 0.54 - 0.46 * n.cos(place * (2 * pi / last))


def _hanning(n: Any, place: Any, last: int) -> Any:
    return 0.5 - 0.5 * n.cos(place * (2 * pi / last))


_WINDOWS: Final = {
    "bartlett": _bartlett,
    "blackman": _blackman,
    "hamming": _hamming,
    "hanning": _hanning,
}


def _replace_window(name: str, submission: Submission) -> None:
    package, doctor = importlib.import_module("cupynumeric"), submission.client.doctor
    compute = _WINDOWS[name]

    def window(M: Any) -> Any:  # noqa: N803
        if type(M) is not int or M < 2 or doctor.is_on:
            return original(M)
        return compute(package, package.arange(0.0, M), M - 1)

    original = replace(package, name, window)


SHORTCUTS: Final = tuple(
    Shortcut(
        f"the window function {name}",
        (("_module.window", name), ("_module.window", "_create_window"), *MADE),
        partial(_replace_window, name),
    )
    for name in _WINDOWS
)
