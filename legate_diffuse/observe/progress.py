# SPDX-License-Identifier: Apache-2.0
"""One line on a terminal while a program waits for its kernels."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, TextIO

# Seconds of compiling after which a person wonders what the program does.
PATIENCE: Final = 1.0

_ERASE_LINE: Final = "\r\x1b[K"


class Progress:
    """Says what the program waits for; nothing if there is no terminal."""

    def __init__(self, stream: TextIO | None = sys.stderr) -> None:
        self._terminal: TextIO | None = None
        # a closed stream is no terminal
        with suppress(ValueError):
            if stream is not None and stream.isatty():
                self._terminal = stream

    @contextmanager
    def compiling(self, kernels: int, seconds: float) -> Iterator[None]:
        """Show a line while a kernel is compiled.

        Args:
            kernels: how many were compiled before.
            seconds: how long compiling has taken before.
        """
        if self._terminal is None or seconds < PATIENCE:
            yield
            return
        self._show(
            f"{_ERASE_LINE}legate_diffuse: compiling kernel {kernels + 1:,}, "
            f"{seconds:.0f} s so far; the next run finds them on disk"
        )
        try:
            yield
        finally:
            self._show(_ERASE_LINE)

    def _show(self, text: str) -> None:
        # nothing may depend on it, as in ``messages.say``
        with suppress(OSError, ValueError):
            print(text, end="", file=self._terminal, flush=True)
