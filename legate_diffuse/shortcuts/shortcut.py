# SPDX-License-Identifier: Apache-2.0
"""A shortcut, and what it was written after."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import linecache
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType
from typing import Any

# A function of cuPyNumeric: the module that defines it, and its name there.
Source = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A short way that takes the place of functions of cuPyNumeric.

    Attributes:
        name: what it shortens, in words for the user.
        sources: the functions whose work it does.
        known: the digest of the version of them that it was written after.
        apply: puts it in place, given a ``Submission``.
    """

    name: str
    sources: tuple[Source, ...]
    known: str
    apply: Callable[[Any], None]

    def fits(self) -> bool:
        """Return whether the installed cuPyNumeric has the known functions."""
        return digest(self.sources) == self.known


def find(module: str, name: str) -> Any:
    """Return a function of cuPyNumeric, None if this version has none."""
    try:
        found: Any = importlib.import_module(f"cupynumeric.{module}")
    except ImportError:
        return None
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def digest(functions: tuple[Source, ...]) -> str:
    """Return a digest of the source of functions."""
    made = hashlib.sha256()
    for module, name in functions:
        made.update(source(module, name).encode())
    return made.hexdigest()[:16]


@cache
def source(module: str, name: str) -> str:
    """Return the source of a function of cuPyNumeric, '' if it has none."""
    try:
        return source_of(find(module, name))
    except (OSError, TypeError):
        return ""


def source_of(function: Any) -> str:
    """Return what ``inspect.getsource`` does, up to the last line that has code.

    That of a Python function is found by the lines of its code: to read its tokens
    takes 20 times as long, and most of the time in which cuPyNumeric is imported.

    Raises:
        OSError: the source cannot be found.
        TypeError: it is nothing that has a source.
    """
    own = inspect.unwrap(function) if callable(function) else function
    if isinstance(own, FunctionType):
        first = own.__code__.co_firstlineno
        lines = linecache.getlines(own.__code__.co_filename)
        last = _last_line(own.__code__)
        if last and lines:
            return "".join(lines[first - 1 : last])
    return inspect.getsource(function)


def _last_line(code: CodeType) -> int:
    """Return the last line of code and of what is defined in it.

    0 if Python was told to leave out where expressions end.
    """
    ends = [end for _, end, column, _ in code.co_positions() if end and column]
    inner = [_last_line(one) for one in code.co_consts if isinstance(one, CodeType)]
    return max([*ends, *inner], default=0)
