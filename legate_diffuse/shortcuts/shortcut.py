# SPDX-License-Identifier: Apache-2.0
"""A shortcut, and what it was written after."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import linecache
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from io import StringIO
from types import CodeType, FunctionType
from typing import Any, Final

from legate_diffuse.interpose.known import KNOWN

# Tokens that mean nothing, and those of which only the kind matters.
_NO_CHANGE: Final = frozenset((tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER))
_LAYOUT: Final = frozenset((tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT))

# A function of cuPyNumeric: the module that defines it, and its name there.
Source = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A short way that takes the place of functions of cuPyNumeric.

    Attributes:
        name: what it shortens, in words for the user.
        sources: the functions whose work it does, of which it needs all.
        apply: puts it in place, given a ``Submission``.
        places: those whose places it takes, each of which it leaves alone if that
            was changed (``submission.replace``).
    """

    name: str
    sources: tuple[Source, ...]
    apply: Callable[[Any], None]
    places: tuple[Source, ...] = ()

    def fits(self) -> bool:
        """Return whether the installed cuPyNumeric has the functions that it needs."""
        return all([is_known(*each) for each in self.sources])

    def read(self) -> tuple[Source, ...]:
        """Return the functions that it was written after."""
        return *self.sources, *self.places

    def off(self) -> list[str]:
        """Return what is off of it: all, or functions whose places it does not take."""
        if not self.fits():
            return [self.name]
        return [name for module, name in self.places if not is_known(module, name)]


def find(module: str, name: str) -> Any:
    """Return a function of cuPyNumeric, None if this version has none."""
    try:
        found: Any = importlib.import_module(f"cupynumeric.{module}")
    except ImportError:
        return None
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


@cache
def is_known(module: str, name: str) -> bool:
    """Return whether a function of cuPyNumeric is the one of the table.

    It is if it consists of the same tokens: comments and white space are no change.
    """
    text = source(module, name)
    exact, meaning = KNOWN.get(module, {}).get(name, ("", ""))
    return digest(text) == exact or digest(tokens_of(text)) == meaning


def array_places(function: Any) -> int:
    """Return a bit for the place of each argument of which a function makes an array.

    Those of functions around cuPyNumeric's are those of its own (``add_boilerplate``);
    ``out``, which is shared, has none.
    """
    while function is not None:
        code = getattr(function, "__code__", None)
        names = getattr(code, "co_freevars", ())
        if {"indices", "out_index"} <= set(names):
            cells = dict(zip(names, function.__closure__, strict=True))
            places = set(cells["indices"].cell_contents)
            return sum(
                1 << each for each in places - {cells["out_index"].cell_contents}
            )
        function = getattr(function, "__wrapped__", None)
    return 0


def digest(text: str) -> str:
    """Return what the table has for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def tokens_of(text: str) -> str:
    """Return the tokens of a source, one a line, without comments and docstrings.

    The text itself if it is no source.
    """
    try:
        tokens = [each for each in _tokens(text) if each[0] not in _NO_CHANGE]
    except (tokenize.TokenError, SyntaxError):
        return text
    kinds = [tokenize.NEWLINE, *[kind for kind, _ in tokens], tokenize.NEWLINE]
    words = []
    for number, (kind, word) in enumerate(tokens, 1):
        before, after = kinds[number - 1], kinds[number + 1]
        # a text that is a statement, and the end of its line
        if kind == tokenize.STRING and before in _LAYOUT and after == tokenize.NEWLINE:
            kinds[number] = tokenize.NEWLINE
        elif not (kind == before == tokenize.NEWLINE):
            words.append(tokenize.tok_name[kind] if kind in _LAYOUT else word)
    return "\n".join(words)


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    """Yield the kinds and texts of tokens; an f-string is one, whatever Python says."""
    lines, depth = text.splitlines(keepends=True), 0
    first = (0, 0)
    for kind, word, start, end, _ in tokenize.generate_tokens(StringIO(text).readline):
        name = tokenize.tok_name[kind]
        if name.endswith("STRING_START"):
            first = first if depth else start
            depth += 1
        elif name.endswith("STRING_END"):
            depth -= 1
            if not depth:
                (row, column), (last, stop) = first, end
                whole = [*lines[row - 1 : last - 1], lines[last - 1][:stop]]
                yield tokenize.STRING, "".join(whole)[column:]
        elif not depth:
            yield kind, word


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
    if isinstance(function, property):
        function = function.fget
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
