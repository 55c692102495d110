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
from types import CodeType, FrameType
from typing import Final

_frame: Final = sys._getframe

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
    return _walk(_frame(1))[0]


def locate_operation() -> str:
    """Return what ``locate`` does, faster if the program was at this place before.

    A frame that is looked at takes time. So those are tried first that were the
    program's, counted from here, when it submitted operations before.
    """
    try:
        for depth in _depths:
            frame = _frame(depth)
            place = _places.get((id(frame.f_code), frame.f_lasti))
            if place:
                return place
            if place is None:
                break
    except ValueError:
        pass  # there are fewer frames
    place, depth = _walk(_frame())
    if depth not in _depths and len(_depths) < _MAX_DEPTHS:
        _depths.append(depth)
        _depths.sort()
    return place


# Places in the program by the id of the code and the instruction, '' for what is not
# the program's. The codes are kept, so that their ids stay their own.
_places: Final[dict[tuple[int, int], str]] = {}
_codes: Final[dict[int, CodeType]] = {}
# where the program's frames were, the nearest first
_depths: Final[list[int]] = []
_MAX_DEPTHS: Final = 4


def _walk(frame: FrameType | None) -> tuple[str, int]:
    """Return the place of the user's innermost frame, and how far up it is."""
    installed = "", 0
    depth = 0
    while frame is not None:
        code = frame.f_code
        name = code.co_filename
        key = id(code), frame.f_lasti
        place = _places.get(key)
        if place is None:
            _codes[id(code)] = code
            ours = _is_ours(name) or _is_installed(name)
            place = _places[key] = "" if ours else _describe(frame)
        if place:
            return place, depth
        if not installed[0] and not _is_ours(name):
            installed = _describe(frame), depth
        frame = frame.f_back
        depth += 1
    return installed


def _describe(frame: FrameType) -> str:
    return f"{_shorten(frame.f_code.co_filename)}:{frame.f_lineno}"


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
