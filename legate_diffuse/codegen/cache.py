# SPDX-License-Identifier: Apache-2.0
"""Compiled objects on disk, shared by processes.

An entry is one file: a magic word, the SHA-256 of the object, and the object. A file
that does not match is a miss. Files appear by renaming, so nobody reads half a file.
"""

import hashlib
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from legate_diffuse.messages import say

_MAGIC: Final = b"legate_diffuse 1\n"
_SUFFIX: Final = ".kernel"
_DIGEST_BYTES: Final = 32
SIZE_LIMIT: Final = 256 * 2**20
"""Bytes of all entries together, beyond which the oldest go."""
_STORES_BETWEEN_SCANS: Final = 64


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


class ObjectCache:
    """A folder of compiled objects, named by keys of hexadecimal digits."""

    def __init__(self, folder: Path, size_limit: int = SIZE_LIMIT) -> None:
        """Use `folder`, which is made when the first entry is stored."""
        self._folder = folder
        self._size_limit = size_limit
        self._stores = 0
        self._usable = True

    def load(self, key: str) -> bytes | None:
        """Return the object stored under `key`, or None when there is no intact one."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        head = len(_MAGIC) + _DIGEST_BYTES
        digest, payload = content[len(_MAGIC) : head], content[head:]
        if not content.startswith(_MAGIC) or hashlib.sha256(payload).digest() != digest:
            return None
        with suppress(OSError):
            os.utime(path)
        return payload

    def store(self, key: str, payload: bytes) -> None:
        """Keep an object under `key`.

        If the folder cannot be written, say so once and do nothing from then on.
        """
        if not self._usable:
            return
        content = _MAGIC + hashlib.sha256(payload).digest() + payload
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self._folder, suffix=".tmp")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                os.replace(temporary, self._path(key))
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary)
                raise
        except OSError as error:
            self._usable = False
            say(
                f"cannot keep compiled kernels in {self._folder} ({error.strerror}); "
                "set LEGATE_DIFFUSE_CACHE_DIR to a folder that can be written"
            )
            return
        if self._stores % _STORES_BETWEEN_SCANS == 0:
            self._evict()
        self._stores += 1

    def _path(self, key: str) -> Path:
        return self._folder / (key + _SUFFIX)

    def _evict(self) -> None:
        """Delete the entries that were used longest ago until the rest fits."""
        entries = []
        try:
            with os.scandir(self._folder) as listing:
                for entry in listing:
                    if entry.name.endswith(_SUFFIX):
                        with suppress(OSError):
                            status = entry.stat()
                            entries.append(
                                (status.st_mtime_ns, status.st_size, entry.path)
                            )
        except OSError:
            return
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self._size_limit:
                return
            with suppress(OSError):
                os.unlink(path)
            total -= size
