# SPDX-License-Identifier: Apache-2.0
"""The file of an explanation, which is opened once, before the program begins.

So what was found out about it then holds until it is written, whatever becomes of its
name: an explanation replaces an earlier one, and nothing else.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Final, TextIO

from legate_diffuse.observe.wording import DATA_MARK, PAGE_MARK, TITLE

_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC

# by its name
_opened: dict[str, TextIO] = {}


def open_destination(path: str) -> TextIO:
    """Return the file of an explanation, which is opened the first time.

    A link is followed only to what is no file, such as a terminal.

    Raises:
        SystemExit: it cannot be written, or something else would be lost.
    """
    if path not in _opened:
        try:
            handle = _open(path)
        except OSError as error:
            raise SystemExit(
                f"legate_diffuse: the explanation cannot be written to {path}: "
                f"{error.strerror}"
            ) from None
        _opened[path] = os.fdopen(handle, "w", encoding="utf-8")
        if _is_file(handle) and not _is_explanation(handle):
            raise SystemExit(
                f"legate_diffuse: {path} is no explanation, and would be overwritten; "
                "name another file in LEGATE_DIFFUSE_EXPLAIN, or remove this one"
            )
    return _opened[path]


def clear(file: TextIO) -> None:
    """Remove an earlier explanation from a file.

    Raises:
        OSError: it cannot be removed.
    """
    if _is_file(file.fileno()):
        file.truncate(0)
        file.seek(0)


def _open(path: str) -> int:
    try:
        return os.open(path, _FLAGS, 0o666)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
    handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    if _is_file(handle):
        os.close(handle)
        raise OSError(errno.ELOOP, "it is a symbolic link")
    return handle


def _is_file(handle: int) -> bool:
    return stat.S_ISREG(os.fstat(handle).st_mode)


def _is_explanation(handle: int) -> bool:
    """Whether there is nothing but an explanation in a file."""
    marks = [mark.encode() for mark in (TITLE, PAGE_MARK, DATA_MARK)]
    beginning = os.pread(handle, max(map(len, marks)), 0)
    return not beginning or beginning.startswith(tuple(marks))
