# SPDX-License-Identifier: Apache-2.0
"""Where in the user's program an operation comes from."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import sys
import sysconfig
from functools import cache
from typing import Final

# Packages, and modules of decorators, whose lines are not the user's.
_PACKAGES: Final = ("cupynumeric", "legate", "legate_diffuse")
_MODULES: Final = (contextlib.__file__, functools.__file__)


def locate() -> str:
    """Return ``file:line`` of the user's innermost frame, '' if there is none.

    A function of an installed library counts as part of the line that called it. If
    the whole program is installed, it is the innermost frame outside of Legate.
    Files below the current directory are named relative to it. What is no UTF-8 in a
    name is escaped.
    """
    frame = sys._getframe(1)
    innermost = ""
    while frame is not None:
        name = frame.f_code.co_filename
        if not _is_ours(name):
            if not _is_installed(name):
                return f"{_shorten(name)}:{frame.f_lineno}"
            innermost = innermost or f"{_shorten(name)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return innermost


@cache
def _is_ours(name: str) -> bool:
    return name.startswith((*_folders(), *_MODULES, "<frozen "))


@cache
def _is_installed(name: str) -> bool:
    paths = sysconfig.get_paths()
    kinds = ("purelib", "platlib", "stdlib", "platstdlib")
    return name.startswith(tuple(os.path.join(paths[kind], "") for kind in kinds))


@cache
def _folders() -> tuple[str, ...]:
    """Return the folders of the packages; an editable install has two."""
    folders: list[str] = []
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is not None:
            folders += spec.submodule_search_locations or ()
    return tuple(os.path.join(folder, "") for folder in folders)


@cache
def _shorten(path: str) -> str:
    if os.path.isabs(path):
        relative = os.path.relpath(path)
        path = path if relative.startswith(os.pardir) else relative
    return escaped(path)


def escaped(name: str) -> str:
    """Return a name in which what is no UTF-8 is escaped."""
    return name.encode(errors="backslashreplace").decode()
