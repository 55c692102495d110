# SPDX-License-Identifier: Apache-2.0
"""The environment variables of legate_diffuse.

Every Python process of the environment imports this module, so it imports nothing
but ``os``.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


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
    "LEGATE_DIFFUSE_CACHE",
)

# All environment variables, with those that have other values.
VARIABLES = (
    *FLAGS,
    "LEGATE_DIFFUSE_CACHE_BYTES",
    "LEGATE_DIFFUSE_CACHE_DIR",
    "LEGATE_DIFFUSE_CACHE_LIMIT",
    "LEGATE_DIFFUSE_DUMP",
    "LEGATE_DIFFUSE_EXPLAIN",
    "LEGATE_DIFFUSE_LOG",
    "LEGATE_DIFFUSE_LOG_FILE",
    "LEGATE_DIFFUSE_MATH",
    "LEGATE_DIFFUSE_PROOF",
    "LEGATE_DIFFUSE_SMALL_BYTES",
    "LEGATE_DIFFUSE_THREADS",
)

_PREFIX = "LEGATE_DIFFUSE_"

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


def refuse_mistakes() -> None:
    """Raise ``ValueError`` if a variable has a value that is not understood."""
    for name in FLAGS:
        flag(name)
    _refuse_contradictions()
    for read in (cache_bytes, cache_limit, threads, process_bytes):
        read()
    for read_words in (maths, proof, dump, log):
        read_words()


def _refuse_contradictions() -> None:
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


def unknown_variables(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return a sentence about each variable that has our prefix and no meaning."""
    found = [
        name
        for name in sorted(environment)
        if name.startswith(_PREFIX) and name not in VARIABLES
    ]
    return [
        f"there is no variable {name}, so it has no effect; did you mean "
        f"{nearest(name, VARIABLES)}?"
        for name in found
    ]


def nearest(word: str, words: Iterable[str]) -> str:
    """Return the word that is most like another one."""
    from difflib import SequenceMatcher

    return max(words, key=lambda each: SequenceMatcher(None, word, each).ratio())


# What LEGATE_DIFFUSE_DUMP may be: what each pass makes of a window, what was decided
# about it, and the code of each kernel as LLVM's assembly and as the machine's.
PASS, DECISIONS, LLVM, ASM = DUMPS = ("pass", "decisions", "llvm", "asm")


def dump() -> frozenset[str]:
    """Return what ``LEGATE_DIFFUSE_DUMP`` wants printed, words of ``DUMPS``.

    Raises:
        ValueError: a word is none of these.
    """
    return frozenset(_words("LEGATE_DIFFUSE_DUMP", DUMPS, ""))


# What LEGATE_DIFFUSE_LOG may name, and how much it may want of each.
TOPICS = ("compile", "window", "fallback")
LEVELS = ("info", "debug")


def log() -> dict[str, str]:
    """Return the level of each topic that ``LEGATE_DIFFUSE_LOG`` names.

    Raises:
        ValueError: a topic is none of ``TOPICS``, or a level none of ``LEVELS``.
    """
    name = "LEGATE_DIFFUSE_LOG"
    known = tuple(f"{topic}:{level}" for topic in TOPICS for level in LEVELS)
    words = _words(name, (*TOPICS, *known), ", each with :debug behind it for more")
    return {
        topic: level or LEVELS[0]
        for topic, _, level in (word.partition(":") for word in words)
    }


def _words(name: str, known: tuple[str, ...], more: str) -> list[str]:
    """Return the words of a variable, which commas separate."""
    value = os.environ.get(name, "")
    words = [word.strip() for word in value.split(",") if word.strip()]
    if not set(words).issubset(known):
        plain = ", ".join(word for word in known if ":" not in word)
        raise ValueError(
            f"{name}={value} is not understood; use one or several of {plain}{more}, "
            "with commas between them"
        )
    return words


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
    """Return which plans ``LEGATE_DIFFUSE_PROOF`` wants proven; check mode wants all.

    Raises:
        ValueError: the value is none of 0, 1, all.
    """
    wanted = ALWAYS if flag("LEGATE_DIFFUSE_CHECK") else AGAIN
    return _word("LEGATE_DIFFUSE_PROOF", (NEVER, AGAIN, ALWAYS)) or wanted


def cache_bytes() -> int | None:
    """Return the bytes of cache that loops are blocked for; None: the machine's own.

    Raises:
        ValueError: the value of ``LEGATE_DIFFUSE_CACHE_BYTES`` is no such number.
    """
    advice = "a number of bytes, or 0 to turn the blocking of loops off"
    return _number("LEGATE_DIFFUSE_CACHE_BYTES", 0, 10**18 - 1, advice)


# The bytes of all compiled kernels on disk together, by default, and at least: the
# oldest go only when some were added.
CACHE_LIMIT, _LEAST_CACHE_LIMIT = 2**28, 2**20


def cache_limit(environment: Mapping[str, str] = os.environ) -> int:
    """Return how many bytes of compiled kernels are kept on disk.

    Raises:
        ValueError: the value of ``LEGATE_DIFFUSE_CACHE_LIMIT`` is no such number.
    """
    advice = (
        f"a number of bytes from {_LEAST_CACHE_LIMIT} on, or LEGATE_DIFFUSE_CACHE=0 "
        "to keep nothing"
    )
    name = "LEGATE_DIFFUSE_CACHE_LIMIT"
    found = _number(name, _LEAST_CACHE_LIMIT, 10**18 - 1, advice, environment)
    return CACHE_LIMIT if found is None else found


def log_file(rank: int, several: bool) -> str:
    """Return the file for what a rank logs and prints of itself, '' for none.

    ``LEGATE_DIFFUSE_LOG_FILE`` names it; of several ranks each has one of its own.
    """
    name = os.environ.get("LEGATE_DIFFUSE_LOG_FILE", "")
    return f"{name}.{rank}" if name and several else name


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


def _number(
    name: str,
    least: int,
    most: int,
    advice: str,
    environment: Mapping[str, str] = os.environ,
) -> int | None:
    value = environment.get(name, "")
    if not value:
        return None
    is_number = value.isascii() and value.isdigit() and len(value) < 19
    if not (is_number and least <= int(value) <= most):
        raise ValueError(f"{name}={value} is not understood; use {advice}")
    return int(value)


# What ``LEGATE_DIFFUSE_EXPLAIN`` says in a notebook, and for all windows on the
# standard output.
CELLS, ALL = "%%diffuse", "all"

# Files with these endings get a page, or data.
PAGE, DATA = ".html", ".json"


def explanation_path(rank: int = 0) -> str:
    """Return where ``LEGATE_DIFFUSE_EXPLAIN`` asks for an explanation of a rank.

    '-' and ``ALL`` are the standard output at the end of the program, '' is nowhere,
    and ``CELLS`` the output of a notebook's cells, all three for the first rank only;
    another rank has its number in the name of its file. Like the other variables it may
    be 1 or 0; a file of such a name is written as ./1.
    """
    value = os.environ.get("LEGATE_DIFFUSE_EXPLAIN", "")
    if value.lower() in _ON:
        value = "-"
    if value.lower() in _OFF:
        return ""
    if rank == 0:
        return value
    if value in ("", "-", ALL, CELLS):
        return ""
    name, ending = os.path.splitext(value)
    return f"{name}.{rank}{ending}"


def explanation_is_measured() -> bool:
    """Whether the explanation has times, and comes when the program has ended."""
    path = explanation_path()
    return path in ("-", ALL, CELLS) or path.endswith((PAGE, DATA))
