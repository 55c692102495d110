# SPDX-License-Identifier: Apache-2.0
"""A terminal shows what a program waits for, for as long as it does."""

from __future__ import annotations

from io import StringIO

import pytest

from legate_diffuse.observe.progress import PATIENCE, Progress

LINE = (
    "\r\x1b[Klegate_diffuse: compiling kernel 8, 3 s so far; the next run finds them "
    "on disk"
)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_is_erased_when_the_kernel_is_there() -> None:
    terminal = Terminal()
    with Progress(terminal).compiling(7, 3.0):
        assert terminal.getvalue() == LINE
    assert terminal.getvalue() == LINE + "\r\x1b[K"


def test_the_line_is_erased_after_a_failure() -> None:
    terminal = Terminal()
    with pytest.raises(RuntimeError), Progress(terminal).compiling(7, 3.0):
        raise RuntimeError
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_short_compiles_show_nothing() -> None:
    terminal = Terminal()
    with Progress(terminal).compiling(7, PATIENCE / 2):
        pass
    assert terminal.getvalue() == ""


def test_what_is_no_terminal_stays_silent() -> None:
    stream = StringIO()
    for each in (stream, None):
        with Progress(each).compiling(7, 3.0):
            pass
    assert stream.getvalue() == ""


def test_a_terminal_that_goes_away_stops_nothing() -> None:
    terminal = Terminal()
    progress = Progress(terminal)
    terminal.close()
    for each in (progress, Progress(terminal)):
        with each.compiling(7, 3.0):
            pass
