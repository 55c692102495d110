# SPDX-License-Identifier: Apache-2.0
"""Native code of tests, built once for each text of it, whichever process needs it."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path


def built(name: str, command: Sequence[str], sources: Iterable[Path]) -> Path:
    """Return a file of this name that a compiler makes, ``-o`` apart, of sources.

    It is in a folder of its own. What the sources include is to be among them, and may
    be elsewhere if it has another path when it is another version. Copies of sources
    are the same.
    """
    given = {str(source): source for source in sources}
    own = [given[each].name if each in given else each for each in command]
    text = hashlib.sha256(repr((name, *own)).encode())
    for source in given.values():
        text.update(source.read_bytes())
    common = Path(tempfile.gettempdir()) / f"legate_diffuse_tests_{os.getuid()}"
    folder = common / text.hexdigest()[:16]
    for each in (common, folder):
        each.mkdir(mode=0o700, exist_ok=True)
    path = folder / name
    with (common / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            made = path.with_suffix(".new")
            subprocess.run([*command, "-o", str(made)], check=True)
            made.rename(path)
    return path
