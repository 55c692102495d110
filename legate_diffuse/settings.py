# SPDX-License-Identifier: Apache-2.0
"""The environment variables of legate_diffuse.

Every Python process of the environment imports this module, so it imports nothing
but ``os``.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class DiffuseError(RuntimeError):
    """legate_diffuse cannot do what was asked; the message says what to do."""

    __module__ = "legate_diffuse"


# Legate versions [lowest, first beyond) that were tested.
LEGATE_RANGE = ((26, 1), (26, 7))

# Environment variables that are on or off. The first three decide at start-up.
FLAGS = (
    "LEGATE_DIFFUSE",
    "LEGATE_DIFFUSE_DRIVER_STUB",
    "LEGATE_DIFFUSE_YIELD",
    "LEGATE_DIFFUSE_CHECK",
    "LEGATE_DIFFUSE_STATS",
    "LEGATE_DIFFUSE_SYNC_COMPILE",
    "LEGATE_DIFFUSE_FAST_MATH",
    "LEGATE_DIFFUSE_GPU",
)

# What LEGATE_DIFFUSE_MATH may be; the first is what it is when it is not set.
MATHS = ("vector", "libm")

_ON = ("1", "on", "true", "yes")
_OFF = ("0", "off", "false", "no")


def flag(
    name: str, environment: Mapping[str, str] = os.environ, default: bool = False
) -> bool:
    """Return a boolean environment variable, ``default`` if it is not set or empty.

    Raises:
        ValueError: the value is none of 1, 0, on, off, true, false, yes, no.
    """
    value = environment.get(name, "")
    if not value:
        return default
    if value.lower() in _ON:
        return True
    if value.lower() in _OFF:
        return False
    raise ValueError(f"{name}={value} is not understood; use {name}=1 or {name}=0")


def refuse_contradictions() -> None:
    """Raise ``ValueError`` if two flags contradict each other."""
    if flag("LEGATE_DIFFUSE_CHECK") and flag("LEGATE_DIFFUSE_FAST_MATH"):
        raise ValueError(
            "LEGATE_DIFFUSE_CHECK=1 compares bits, which LEGATE_DIFFUSE_FAST_MATH=1 "
            "changes; set only one of them"
        )


def maths(environment: Mapping[str, str] = os.environ) -> str:
    """Return how ``LEGATE_DIFFUSE_MATH`` wants maths functions computed.

    Raises:
        ValueError: the value is neither ``vector`` nor ``libm``.
    """
    return _word("LEGATE_DIFFUSE_MATH", MATHS, environment) or MATHS[0]


# What LEGATE_DIFFUSE_DUMP may be: what each pass makes of a window, and what was
# decided about it.
PASS, DECISIONS = "pass", "decisions"


def dump() -> str:
    """Return what ``LEGATE_DIFFUSE_DUMP`` wants printed of each window, '' for nothing.

    Raises:
        ValueError: the value is neither ``pass`` nor ``decisions``.
    """
    return _word("LEGATE_DIFFUSE_DUMP", (PASS, DECISIONS))


def _word(
    name: str, words: tuple[str, ...], environment: Mapping[str, str] = os.environ
) -> str:
    value = environment.get(name, "")
    if value not in ("", *words):
        raise ValueError(f"{name}={value} is not understood; use {' or '.join(words)}")
    return value


# Which plans LEGATE_DIFFUSE_PROOF wants proven: none, those that are used again, or
# all.
NEVER, AGAIN, ALWAYS = "0", "1", "all"


def proof() -> str:
    """Return which plans ``LEGATE_DIFFUSE_PROOF`` wants proven.

    Raises:
        ValueError: the value is none of 0, 1, all.
    """
    return _word("LEGATE_DIFFUSE_PROOF", (NEVER, AGAIN, ALWAYS)) or AGAIN


def cache_bytes() -> int | None:
    """Return the bytes of cache that loops are blocked for; None: the machine's own.

    Raises:
        ValueError: the value of ``LEGATE_DIFFUSE_CACHE_BYTES`` is no such number.
    """
    advice = "a number of bytes, or 0 to turn the blocking of loops off"
    return _number("LEGATE_DIFFUSE_CACHE_BYTES", 0, 10**18 - 1, advice)


def threads() -> int | None:
    """Return how many threads share the loops of a task; None: one for each CPU.

    Raises:
        ValueError: the value of ``LEGATE_DIFFUSE_THREADS`` is no such number.
    """
    advice = "a number of threads, or 1 to let Legate partition arrays over the CPUs"
    return _number("LEGATE_DIFFUSE_THREADS", 1, 1024, advice)


# How large arrays may be that live in the process. The C library keeps the memory of
# larger ones for nobody, so that each would be cleared by the system first.
_PROCESS_BYTES = 2**25


def process_bytes() -> int:
    """Return the bytes of arrays that may live in the process, 0 if none may.

    Raises:
        ValueError: the value of ``LEGATE_DIFFUSE_SMALL_BYTES`` is no such number.
    """
    advice = "a number of bytes, or 0 to let Legate hold all arrays"
    found = _number("LEGATE_DIFFUSE_SMALL_BYTES", 0, 2**30, advice)
    return _PROCESS_BYTES if found is None else found


def _number(name: str, least: int, most: int, advice: str) -> int | None:
    value = os.environ.get(name, "")
    if not value:
        return None
    is_number = value.isascii() and value.isdigit() and len(value) < 19
    if not (is_number and least <= int(value) <= most):
        raise ValueError(f"{name}={value} is not understood; use {advice}")
    return int(value)


# What ``LEGATE_DIFFUSE_EXPLAIN`` says in a notebook.
CELLS = "%%diffuse"


def explanation_path() -> str:
    """Return where ``LEGATE_DIFFUSE_EXPLAIN`` asks for an explanation.

    '-' is the standard output at the end of the program, '' is nowhere, and ``CELLS``
    the output of a notebook's cells. Like the other variables it may be 1 or 0; a file
    of such a name is written as ./1.
    """
    value = os.environ.get("LEGATE_DIFFUSE_EXPLAIN", "")
    if value.lower() in _ON:
        return "-"
    return "" if value.lower() in _OFF else value


def explains_on_page() -> bool:
    """Whether the explanation is a page of HTML, which needs measured times."""
    path = explanation_path()
    return path == CELLS or path.endswith(".html")
