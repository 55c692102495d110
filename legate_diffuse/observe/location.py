# SPDX-License-Identifier: Apache-2.0
"""Where in the user's program an operation comes from."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import sys
import sysconfig
from functools import cache, lru_cache
from types import FrameType
from typing import Any, Final

_frame: Final = sys._getframe

# Packages, and modules of decorators, whose lines are not the user's.
_PACKAGES: Final = ("cupynumeric", "legate", "legate_diffuse")
_MODULES: Final = (contextlib.__file__, functools.__file__)

# Cells of notebooks, and what `exec` runs, are always new files. So many places are
# told apart; all others are one.
_MAX_FILES: Final = 4096
_MAX_PLACES: Final = 1 << 14
_OTHER_PLACE: Final = "other lines"
_known: Final[set[str]] = set()


def locate() -> str:
    """Return ``file:line`` of the user's innermost frame, '' if there is none.

    A function of an installed library counts as part of the line that called it. If
    the whole program is installed, it is the innermost frame outside of Legate.
    Files below the current directory are named relative to it. What is no UTF-8 in a
    name is escaped.
    """
    return _walk(_frame(1), None)[0]


def locate_operation(places: Any, kind: int) -> str:
    """Return what ``locate`` does, and let ``places`` (``_native.Places``) learn it."""
    place, depth = _walk(_frame(1), places)
    places.learn_depth(kind, depth)
    return place


def _walk(frame: FrameType | None, places: Any) -> tuple[str, int]:
    """Return the place of the user's innermost frame, and how far up it is."""
    installed = "", 0
    depth = 0
    while frame is not None:
        name = frame.f_code.co_filename
        ours = _is_ours(name)
        place = "" if ours or _is_installed(name) else _describe(frame)
        if places is not None:
            places.learn(frame.f_code, frame.f_lasti, place)
        if place:
            return place, depth
        if not installed[0] and not ours:
            installed = _describe(frame), depth
        frame = frame.f_back
        depth += 1
    return installed


def _describe(frame: FrameType) -> str:
    place = f"{_shorten(frame.f_code.co_filename)}:{frame.f_lineno}"
    if place not in _known:
        if len(_known) >= _MAX_PLACES:
            return _OTHER_PLACE
        _known.add(place)
    return place


@lru_cache(_MAX_FILES)
def _is_ours(name: str) -> bool:
    return name.startswith((*_folders(), *_MODULES, "<frozen "))


@lru_cache(_MAX_FILES)
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


@lru_cache(_MAX_FILES)
def _shorten(path: str) -> str:
    if os.path.isabs(path):
        relative = os.path.relpath(path)
        path = path if relative.startswith(os.pardir) else relative
    return escaped(path)


def escaped(name: str) -> str:
    """Return a name in which what is no UTF-8 is escaped."""
    return name.encode(errors="backslashreplace").decode()
