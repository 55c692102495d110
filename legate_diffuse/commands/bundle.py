# SPDX-License-Identifier: Apache-2.0
"""``legate-diffuse report``: runs a program, and packs what a bug report needs.

Windows, plans, counters and what failed are there as text. The program's values, its
output, its files and their names are not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile

from legate_diffuse.commands import info

DEFAULT: Final = "legate-diffuse-report.zip"

# What is asked of the program's process.
_ASKED: Final = {
    "LEGATE_DIFFUSE": "1",
    "LEGATE_DIFFUSE_DUMP": "pass,decisions",
    "LEGATE_DIFFUSE_LOG": "compile:debug,window:debug,fallback:debug",
    "LEGATE_DIFFUSE_STATS": "1",
}
# Variables that name files of the user's.
_PATHS: Final = (
    "LEGATE_DIFFUSE_CACHE_DIR",
    "LEGATE_DIFFUSE_EXPLAIN",
    "LEGATE_DIFFUSE_LOG_FILE",
)
_README: Final = """\
A report of legate_diffuse, to be attached to an issue.

info.json   versions, processor and settings
status.txt  how the program ended
log*        of each rank: its windows as text, what each pass made of them, what was
            decided and compiled, what ran as it was submitted, and why; what failed,
            as text that the tests of legate_diffuse can read; and the counters

There are no values of arrays, and neither the program nor its output nor the names of
its files. Names of tasks of other libraries are there.
"""


def write(target: str, command: Sequence[str]) -> int:
    """Run a command of ``legate-diffuse``, and write the report about it.

    Returns the status of the program, or 1 if the report cannot be written.
    """
    path = Path(target)
    try:
        # before the program runs; an earlier file is never lost
        archive = ZipFile(path, "x", ZIP_DEFLATED)
    except OSError as error:
        print(
            f"legate_diffuse: the report cannot be written to {path}: {error.strerror}",
            file=sys.stderr,
        )
        return 1
    with archive, tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        environment = os.environ | _ASKED | {"LEGATE_DIFFUSE_LOG_FILE": str(log)}
        done = subprocess.run(
            [sys.executable, "-m", "legate_diffuse", *command],
            env=environment,
            check=False,
        )
        archive.writestr("README.txt", _README)
        archive.writestr("info.json", json.dumps(_without_paths(info.find()), indent=2))
        archive.writestr("status.txt", f"{_ending(done.returncode)}\n")
        for part in sorted(Path(folder).glob("log*")):
            archive.write(part, part.name)
    print(f"legate_diffuse: the report is in {path}", file=sys.stderr)
    return done.returncode


def _ending(status: int) -> str:
    return f"ended by signal {-status}" if status < 0 else f"ended with {status}"


def _without_paths(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts without folders and files of the user's."""
    variables = {
        name: "(set)" if name in _PATHS else value
        for name, value in facts["variables"].items()
    }
    cache = {name: value for name, value in facts["cache"].items() if name != "folder"}
    return facts | {"variables": variables, "cache": cache}
