# SPDX-License-Identifier: Apache-2.0
"""Compiled objects on disk, shared by the processes of one user.

An entry is one file: a magic word, the HMAC-SHA-256 of the entry's key and the object
under a secret of the user's, and the object. A file that does not match is a miss.
Files appear by renaming, so nobody reads half a file. Processes that need an entry at
the same time, as the ranks of a node do, each make it.

What is loaded is run, so nobody else may write it: the folder, the secret and the
entries belong to the user, who alone may write to them, and the latter are plain files.

The folder has a tag, which it gets while there is nothing else in it, and what is
deleted there has a name that only the cache gives. So the user's files are left alone.
"""

import hmac
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from legate_diffuse import settings
from legate_diffuse.codegen.cache_files import (
    OTHERS_WRITE,
    SECRET,
    TEMPORARY,
    find_secret,
    make_folder,
    read_file,
    read_secret,
    rename,
    temporary_file,
)
from legate_diffuse.messages import say

_MAGIC: Final = b"legate_diffuse 2\n"
_SUFFIX: Final = ".kernel"
_TAG: Final = "CACHEDIR.TAG"
_TAG_CONTENT: Final = b"""Signature: 8a477f597d28d172789f06886806bc55
# Compiled kernels of legate_diffuse, which may delete what is here.
# See https://bford.info/cachedir for what this file is.
"""
_ENTRY_NAME: Final = re.compile(rf"[0-9a-f]+{re.escape(_SUFFIX)}")
_PASSING_NAME: Final = re.compile(rf"[0-9a-f]{{16}}{re.escape(TEMPORARY)}")
_DIGEST_BYTES: Final = 32
_STORES_BETWEEN_SCANS: Final = 64
_TEMPORARY_SECONDS: Final = 3600
"""Age of a file that a process was killed while writing."""


def default_folder(environment: Mapping[str, str]) -> Path:
    """Return the cache folder that the environment asks for.

    `LEGATE_DIFFUSE_CACHE_DIR` names it; otherwise it is `legate_diffuse` in
    `XDG_CACHE_HOME`, or in `.cache` of the home folder.
    """
    if named := environment.get("LEGATE_DIFFUSE_CACHE_DIR"):
        return Path(named)
    if shared := environment.get("XDG_CACHE_HOME"):
        return Path(shared) / "legate_diffuse"
    return Path(os.path.expanduser("~")) / ".cache" / "legate_diffuse"


class Miss(Enum):
    """Why there is no object on disk."""

    OFF = "the cache on disk is off"
    ABSENT = "the cache folder has none for this code, processor and LLVM"
    DAMAGED = "the one in the cache folder is not what was stored there"


@dataclass(frozen=True, slots=True)
class Entry:
    """An object on disk, which was used last at a time in seconds since 1970."""

    key: str
    size: int
    used: float


class UnsuitableError(Exception):
    """The folder is not the cache's alone; the message says why."""


class ObjectCache:
    """A folder of compiled objects, named by keys of hexadecimal digits."""

    def __init__(self, folder: Path, size_limit: int = settings.CACHE_LIMIT) -> None:
        """Use `folder`, which is made when the first entry is stored.

        Beyond `size_limit` bytes of all entries together, the oldest go.
        """
        self._folder = folder
        self._size_limit = size_limit
        self._stores = 0
        self._usable = True
        self._tagged = False
        self._secret = b""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "ObjectCache | None":
        """Return the cache that the environment asks for, None if it wants none.

        Raises:
            ValueError: a variable has a value that is not understood.
        """
        if not settings.flag("LEGATE_DIFFUSE_CACHE", environment, default=True):
            return None
        limit = settings.cache_limit(environment)
        return cls(default_folder(environment), limit)

    def load(self, key: str) -> bytes | None:
        """Return the object stored under `key`, or None when there is no intact one."""
        found = self.find(key)
        return None if isinstance(found, Miss) else found

    def find(self, key: str) -> bytes | Miss:
        """Return the object stored under `key`, or why there is none."""
        if not self._usable:
            return Miss.OFF
        try:
            with self._open_folder() as folder:
                secret = self._secret or read_secret(folder)
                content = read_file(folder, key + _SUFFIX)
        except OSError:
            return Miss.ABSENT
        except UnsuitableError as error:
            self._refuse(error)
            return Miss.OFF
        head = len(_MAGIC) + _DIGEST_BYTES
        payload = content[head:]
        digest = _MAGIC + _digest(secret, key, payload)
        if not secret or not hmac.compare_digest(content[:head], digest):
            return Miss.DAMAGED
        self._secret = secret
        return payload

    def store(self, key: str, payload: bytes) -> None:
        """Keep an object under `key`.

        If the folder cannot be written, say so once and do nothing from then on.
        """
        if not self._usable:
            return
        try:
            make_folder(self._folder)
            with self._open_folder() as folder:
                self._take(folder)
                self._secret = self._secret or find_secret(folder)
                content = _MAGIC + _digest(self._secret, key, payload) + payload
                with temporary_file(folder, content) as temporary:
                    rename(folder, temporary, key + _SUFFIX)
                if self._stores % _STORES_BETWEEN_SCANS == 0:
                    with suppress(OSError):
                        self._evict(folder)
        except OSError as error:
            self._usable = False
            say(
                f"cannot keep compiled kernels in {self._folder} ({error.strerror}); "
                "set LEGATE_DIFFUSE_CACHE_DIR to a folder that can be written"
            )
            return
        except UnsuitableError as error:
            self._refuse(error)
            return
        self._stores += 1

    def entries(self) -> list[Entry]:
        """Return what is kept, that which was used longest ago first.

        Raises:
            UnsuitableError: the folder is not used.
            OSError: it cannot be read.
        """
        try:
            with self._open_folder() as folder:
                return [
                    Entry(name.removesuffix(_SUFFIX), size, used / 1e9)
                    for used, size, name in _used(folder)
                ]
        except FileNotFoundError:
            return []

    def clear(self) -> list[Entry]:
        """Delete all entries, and return them; other files stay.

        Raises:
            UnsuitableError: the folder is not used.
            OSError: it cannot be read, or an entry cannot be deleted.
        """
        entries = self.entries()
        if entries:
            with self._open_folder() as folder:
                for entry in entries:
                    with suppress(FileNotFoundError):
                        os.unlink(entry.key + _SUFFIX, dir_fd=folder)
        return entries

    def _refuse(self, error: UnsuitableError) -> None:
        self._usable = False
        say(
            f"compiled kernels are not kept in {self._folder}, because {error}; "
            "set LEGATE_DIFFUSE_CACHE_DIR to a folder of your own"
        )

    @contextmanager
    def _open_folder(self) -> Iterator[int]:
        """Open the folder, if what is in it can be trusted.

        It stays open for as long as it is used, so that nobody can put another one in
        its place after it was looked at.
        """
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            handle = os.open(self._folder, flags)
        except OSError:
            if self._folder.is_symlink():
                raise UnsuitableError("it is a symbolic link") from None
            raise
        try:
            status = os.fstat(handle)
            if status.st_uid != os.geteuid():
                raise UnsuitableError("it belongs to another user")
            if status.st_mode & OTHERS_WRITE:
                raise UnsuitableError("other users may write to it (see chmod go-w)")
            yield handle
        finally:
            os.close(handle)

    def _take(self, folder: int) -> None:
        """Make a folder the cache's own, unless it is that already.

        Raises:
            UnsuitableError: there are other files in it.
        """
        if self._tagged:
            return
        if not _has_tag(folder):
            for name in os.listdir(folder):
                if not _is_own(name):
                    raise UnsuitableError(
                        f"there are other files in it, such as {name}"
                    )
            with temporary_file(folder, _TAG_CONTENT) as temporary:
                rename(folder, temporary, _TAG)
        self._tagged = True

    def _evict(self, folder: int) -> None:
        """Delete what killed processes have left, and the oldest entries.

        The entries that were used longest ago go until the rest fits.
        """
        killed_before = time.time() - _TEMPORARY_SECONDS
        for name in os.listdir(folder):
            if _PASSING_NAME.fullmatch(name):
                with suppress(FileNotFoundError):
                    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    if status.st_mtime < killed_before:
                        os.unlink(name, dir_fd=folder)
        entries = _used(folder)
        total = sum(size for _, size, _ in entries)
        for _, size, name in entries:
            if total <= self._size_limit:
                return
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            total -= size


def _used(folder: int) -> list[tuple[int, int, str]]:
    """Return when each entry was used, its bytes and its name, in this order."""
    found = []
    for name in filter(_ENTRY_NAME.fullmatch, os.listdir(folder)):
        with suppress(FileNotFoundError):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            found.append((status.st_mtime_ns, status.st_size, name))
    return sorted(found)


def _is_own(name: str) -> bool:
    """Whether a file may be the cache's, by its name."""
    return (
        name in (SECRET, _TAG)
        or _ENTRY_NAME.fullmatch(name) is not None
        or _PASSING_NAME.fullmatch(name) is not None
    )


def _has_tag(folder: int) -> bool:
    try:
        return read_file(folder, _TAG) == _TAG_CONTENT
    except OSError:
        return False


def _digest(secret: bytes, key: str, payload: bytes) -> bytes:
    return hmac.digest(secret, key.encode() + b"\n" + payload, "sha256")
