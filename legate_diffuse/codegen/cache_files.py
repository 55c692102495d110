# SPDX-License-Identifier: Apache-2.0
"""Files of the cache's folder, which nobody but the user may write.

They appear by renaming, and are plain files of the user's.
"""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

TEMPORARY: Final = ".tmp"
"""How the names of files end that are being written."""
SECRET: Final = "secret"
"""The name of the file with the user's secret."""
_SECRET_BYTES: Final = 32

# A link is not followed, and nobody is waited for.
FLAGS: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def make_folder(folder: Path) -> None:
    """Make the folder for nobody but the user, whatever others may be allowed."""
    with suppress(FileExistsError):
        try:
            folder.mkdir(mode=stat.S_IRWXU)
        except FileNotFoundError:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=stat.S_IRWXU)


def read_file(folder: int, name: str, forbidden: int = OTHERS_WRITE) -> bytes:
    """Return the content of a plain file of the user's, b"" if it is none.

    It counts as used now.
    """
    handle = os.open(name, os.O_RDONLY | FLAGS, dir_fd=folder)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if (
            not stat.S_ISREG(status.st_mode)
            or status.st_uid != os.geteuid()
            or status.st_mode & forbidden
        ):
            return b""
        with suppress(OSError):
            os.utime(handle)
        return file.read()


def read_secret(folder: int) -> bytes:
    """Return the user's secret, b"" if there is none that nobody else can read."""
    try:
        found = read_file(folder, SECRET, _OTHERS)
    except OSError:
        return b""
    return found if len(found) == _SECRET_BYTES else b""


def find_secret(folder: int) -> bytes:
    """Return the user's secret; there is one from then on, and never half of one."""
    found = read_secret(folder)
    if found:
        return found
    made = secrets.token_bytes(_SECRET_BYTES)
    with temporary_file(folder, made) as temporary:
        try:
            os.link(temporary, SECRET, src_dir_fd=folder, dst_dir_fd=folder)
        except FileExistsError:
            # another process was first, or it is not what it should be
            found = read_secret(folder)
            if not found:
                rename(folder, temporary, SECRET)
    return found or made


@contextmanager
def temporary_file(folder: int, content: bytes) -> Iterator[str]:
    """Write a file that nobody else can read; what is left of it goes at the end."""
    name = secrets.token_hex(8) + TEMPORARY
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | FLAGS
    handle = os.open(name, flags, stat.S_IRUSR | stat.S_IWUSR, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        yield name
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def rename(folder: int, name: str, new_name: str) -> None:
    """Give a file of the folder another name, in place of what had that."""
    os.replace(name, new_name, src_dir_fd=folder, dst_dir_fd=folder)
