# SPDX-License-Identifier: Apache-2.0
"""Messages for the user.

What is true of all ranks is said by rank 0; what is true of one rank, by that one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, TextIO

from legate_diffuse import settings

# The launchers' variables for a process's rank, as Legate's launcher knows them
# (``legate/launcher/`` of Legate).
_RANK: Final = (
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "MV2_COMM_WORLD_RANK",
    "SLURM_PROCID",
)


def rank(environment: Mapping[str, str] = os.environ) -> int:
    """Return the rank of this process; Legate need not have been started."""
    found = next((environment[name] for name in _RANK if name in environment), "0")
    return int(found) if found.isdecimal() else 0


def say(message: str) -> None:
    """Print one line for the user, if there is anywhere to print it.

    It names the rank, unless that is the first. Nothing may depend on it: whoever says
    something has done what must be done.
    """
    if sys.stderr is None:
        return
    where = f" on rank {number}" if (number := rank()) else ""
    # it may be full, or closed, or unable to encode the message: nobody can be told
    with suppress(OSError, ValueError):
        print(f"legate_diffuse{where}: {message}", file=sys.stderr)


def say_once(message: str) -> None:
    """Print one line for the user that all ranks know."""
    if rank() == 0:
        say(message)


def note(text: str) -> None:
    """Print what a variable such as ``LEGATE_DIFFUSE_DUMP`` asks for.

    It goes to the rank's file if there is one, else to the standard error.
    """
    stream = notes()
    if stream is None:
        return
    with suppress(OSError, ValueError):
        print(text, file=stream, flush=True)


def notes() -> TextIO | None:
    """Return where notes go, which is opened the first time.

    What a file has is kept, and notes come behind it.

    Raises:
        SystemExit: the file that ``LEGATE_DIFFUSE_LOG_FILE`` names cannot be written.
    """
    global _file
    several = any(name in os.environ for name in _RANK)
    path = settings.log_file(rank(), several)
    if not path:
        return sys.stderr
    if _file is None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            handle = os.open(path, flags, 0o666)
        except OSError as error:
            raise SystemExit(
                f"legate_diffuse: LEGATE_DIFFUSE_LOG_FILE={path} cannot be written: "
                f"{error.strerror}"
            ) from None
        _file = os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace")
    return _file


_file: TextIO | None = None
