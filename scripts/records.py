# SPDX-License-Identifier: Apache-2.0
"""What the programs that scripts start print of themselves."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
from typing import Any, Final

_BOTH_SIDES: Final = {
    # Legate's wheels need a CUDA driver, or its stand-in, on the unfused side too
    "LEGATE_DIFFUSE_DRIVER_STUB": "1",
    # no fusion, and faster on both sides
    "LEGATE_DIFFUSE_YIELD": "1",
}
# Of a trace: the first lines say where it ended, and the last ones of Python's why.
_LINES: Final = 12
_STARTS: Final = r"Signal \d|Traceback |Fatal |LEGATE ERROR|.*: Assertion `"
_TRACE: Final = re.compile(f"^({_STARTS})", re.MULTILINE)
_COLOURS: Final = re.compile(r"\x1b\[[\d;]*m")


class SideError(subprocess.CalledProcessError):
    """A program of one side has failed: its text says which, how, and the trace."""

    def __init__(
        self, done: subprocess.CompletedProcess[str], settings: dict[str, str]
    ) -> None:
        """Take the process that has ended, and the variables that it was given."""
        super().__init__(done.returncode, done.args, done.stdout, done.stderr)
        self.settings = settings

    def __str__(self) -> str:
        """Return the end, the command, and the first and last lines of the trace."""
        given = " ".join(f"{k}={shlex.quote(v)}" for k, v in self.settings.items())
        lines = self._trace().splitlines() or ["It has said nothing."]
        if len(lines) > 2 * _LINES:
            left_out = f"... {len(lines) - 2 * _LINES} lines ..."
            lines = [*lines[:_LINES], left_out, *lines[-_LINES:]]
        command = f"{given} {shlex.join(self.cmd)}"
        return "\n".join([f"the {self._side()} side {self.end}: {command}", *lines])

    @property
    def end(self) -> str:
        """With which signal or status the process has ended."""
        if self.returncode >= 0:
            return f"ended with status {self.returncode}"
        number = -self.returncode
        return f"ended with signal {number} ({signal.Signals(number).name})"

    @property
    def reason(self) -> str:
        """The last line of an exception, or else the end."""
        said = self._trace().splitlines()
        return said[-1] if said and self.returncode > 0 else self.end

    def _side(self) -> str:
        if "numpy" in self.cmd:
            return "numpy"
        switch = self.settings.get("LEGATE_DIFFUSE", "")
        return {"0": "unfused", "1": "fused"}.get(switch, "other")

    def _trace(self) -> str:
        text = _COLOURS.sub("", self.stderr).strip()
        start = _TRACE.search(text)
        return text[start.start() :] if start else text


def run_side(
    command: list[str], settings: dict[str, str], limit: float | None = None
) -> dict[str, Any]:
    """Run a program of one side of a comparison, and return its line of JSON.

    Raises:
        SideError: it has failed.
        subprocess.TimeoutExpired: it takes more seconds than the ``limit``.
    """
    done = subprocess.run(
        command,
        env=os.environ | _BOTH_SIDES | settings,
        check=False,
        capture_output=True,
        text=True,
        timeout=limit,
    )
    if done.returncode != 0:
        raise SideError(done, settings)
    return json_line(done.stdout)


def json_line(printed: str) -> dict[str, Any]:
    """Return the one line of JSON; Realm's own messages may come after it."""
    (line,) = (line for line in printed.splitlines() if line.startswith("{"))
    record: dict[str, Any] = json.loads(line)
    return record
