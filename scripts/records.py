# SPDX-License-Identifier: Apache-2.0
"""What the programs that scripts start print of themselves."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any, Final

_BOTH_SIDES: Final = {
    # Legate's wheels need a CUDA driver, or its stand-in, on the unfused side too
    "LEGATE_DIFFUSE_DRIVER_STUB": "1",
    # no fusion, and faster on both sides
    "LEGATE_DIFFUSE_YIELD": "1",
}


def run_side(
    command: list[str], settings: dict[str, str], limit: float | None = None
) -> dict[str, Any]:
    """Run a program of one side of a comparison, and return its line of JSON.

    Raises:
        subprocess.CalledProcessError: it has failed.
        subprocess.TimeoutExpired: it takes more seconds than the ``limit``.
    """
    done = subprocess.run(
        command,
        env=os.environ | _BOTH_SIDES | settings,
        check=True,
        capture_output=True,
        text=True,
        timeout=limit,
    )
    return json_line(done.stdout)


def json_line(printed: str) -> dict[str, Any]:
    """Return the one line of JSON; Realm's own messages may come after it."""
    (line,) = (line for line in printed.splitlines() if line.startswith("{"))
    record: dict[str, Any] = json.loads(line)
    return record
