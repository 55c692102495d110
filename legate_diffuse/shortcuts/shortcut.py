# SPDX-License-Identifier: Apache-2.0
"""A shortcut, and what it was written after."""

from __future__ import annotations

import hashlib
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
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
        return inspect.getsource(find(module, name))
    except (OSError, TypeError):
        return ""
