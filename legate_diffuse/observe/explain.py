# SPDX-License-Identifier: Apache-2.0
"""Tells a person what fusion makes of a program.

Each distinct window is described when it is first submitted. How often it was
submitted is told at the end of the program.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TextIO

from legate_diffuse import settings
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.plan import Plan
from legate_diffuse.messages import rank, say
from legate_diffuse.observe.counters import Counters
from legate_diffuse.observe.data import data_lines
from legate_diffuse.observe.destination import clear, open_destination
from legate_diffuse.observe.facts import WindowFacts, describe
from legate_diffuse.observe.iterations import MAX_TRACE, Submission, find_iteration
from legate_diffuse.observe.ledger import Ledger, Measured, measure, times_of_runs
from legate_diffuse.observe.location import escaped
from legate_diffuse.observe.page import page_lines
from legate_diffuse.observe.processors import ProcessorFacts, processor_lines
from legate_diffuse.observe.report import Report
from legate_diffuse.observe.summary import summarize
from legate_diffuse.observe.text import summary_lines, total_lines, window_lines
from legate_diffuse.observe.wording import TITLE

# At most so many windows are described; the others are only counted.
MAX_DESCRIBED: Final = 200


def open_explanation(
    legate: Any,
    meanings: Meanings,
    counters: Counters,
    fused: Collection[str],
    processors: Callable[[], ProcessorFacts],
) -> Explanation | None:
    """Return the explanation that ``LEGATE_DIFFUSE_EXPLAIN`` asks for, if it does.

    ``-`` stands for the standard output, after the program's own. Of several ranks
    each has a file, and the first the standard output. ``fused`` has the names of all
    fused tasks in the end, and ``processors`` tells how these use them.
    """
    path = settings.explanation_path(rank())
    if not path:
        return None
    if not settings.explanation_is_measured():
        return TextExplanation(open_destination(path), legate.native, processors)
    if path in ("-", settings.ALL):
        write: Callable[[Report], None] | None = partial(_print, path == settings.ALL)
    elif path == settings.CELLS:
        write = None
    else:
        lines = data_lines if path.endswith(settings.DATA) else page_lines
        write = partial(_write, open_destination(path), lines)
    return MeasuredExplanation(write, legate, meanings, counters, fused, processors)


@dataclass(slots=True)
class _Described:
    """A plan, kept so that its id stays its own, and how often it was submitted."""

    plan: Plan
    number: int
    facts: WindowFacts
    submissions: int = 0


class Explanation:
    """Describes windows.

    Attributes:
        ledger: the clocks of the program's thread, if times are wanted.
    """

    ledger: Ledger | None = None

    def __init__(self) -> None:
        self._described: dict[int, _Described] = {}
        # registered before the last flush, hence run after it
        atexit.register(self._finish)

    def add(self, window: Any, plan: Plan) -> None:
        """Take note of a window that was submitted."""
        found = self._described.get(id(plan))
        if found is None:
            facts = describe(window, plan)
            number = len(self._described)
            found = self._described[id(plan)] = _Described(plan, number, facts)
            if number < MAX_DESCRIBED:
                self._tell(number + 1, facts)
        found.submissions += 1
        self._note(found.number)

    def _windows(self) -> list[tuple[WindowFacts, int]]:
        return [(one.facts, one.submissions) for one in self._described.values()]

    def _tell(self, number: int, facts: WindowFacts) -> None:
        """Describe a window when it is first submitted."""

    def _note(self, number: int) -> None:
        """Take note of the number of a window that was submitted, from 0 on."""

    def _finish(self) -> None:
        """Write the rest when the program ends."""


class TextExplanation(Explanation):
    """Writes windows to a file as they come, and the totals when the program ends."""

    def __init__(
        self, file: TextIO, native: Any, processors: Callable[[], ProcessorFacts]
    ) -> None:
        super().__init__()
        self._file = file
        self._native = native
        self._processors = processors
        self._broken = False
        clear(file)
        self._write(f"{TITLE}{_program()}\n")

    def _tell(self, number: int, facts: WindowFacts) -> None:
        self._write("\n".join(window_lines(number, facts)) + "\n")

    def _finish(self) -> None:
        runs = times_of_runs(self._native)
        processors = [*processor_lines(self._processors())]
        lines = total_lines(self._windows(), MAX_DESCRIBED, runs, processors)
        self._write("\n".join(lines))

    def _write(self, block: str) -> None:
        try:
            print(block, file=self._file, flush=True)
        except (OSError, ValueError) as error:
            if not self._broken:
                self._broken = True
                _say_broken(error)


class MeasuredExplanation(Explanation):
    """Writes an explanation with times when the program ends."""

    ledger: Ledger

    def __init__(
        self,
        write: Callable[[Report], None] | None,
        legate: Any,
        meanings: Meanings,
        counters: Counters,
        fused: Collection[str],
        processors: Callable[[], ProcessorFacts],
    ) -> None:
        super().__init__()
        self._write = write
        # the program may change it
        self._folder = os.getcwd()
        self._legate = legate
        self._advise: Callable[[str], str] = meanings.advise
        self._counters = counters
        self._fused = fused
        self._processors = processors
        self._before = Measured()
        self._trace: deque[Submission] = deque(maxlen=MAX_TRACE)
        self.ledger = Ledger()
        self.ledger.clock(self, "add", "explanation")

    def begin(self) -> None:
        """Forget what was explained and measured, before a part with its own page."""
        self._described.clear()
        self._trace.clear()
        self._before = self._measure()
        self.ledger.clear()

    def page(self, program: str) -> Iterator[str]:
        """Yield the lines of the page of what ran since ``begin``."""
        return page_lines(self._report(program))

    def _note(self, number: int) -> None:
        counters = self._counters
        counters.add_runs(*self._legate.native.take_runs())
        self._trace.append(
            Submission(number, counters.tasks_seen, counters.tasks_submitted)
        )

    def _report(self, program: str) -> Report:
        windows = self._windows()
        return Report(
            program,
            self._folder,
            windows,
            find_iteration(self._trace, [facts for facts, _ in windows]),
            self._measure().since(self._before),
            self._processors(),
            self._advise,
        )

    def _finish(self) -> None:
        if self._write is None:
            return
        try:
            self._write(self._report(_program()))
        except (OSError, ValueError) as error:
            _say_broken(error)

    def _measure(self) -> Measured:
        return measure(self._legate, self.ledger, self._fused, self._counters)


def _print(shows_all: bool, report: Report) -> None:
    """Print the summary, and all windows before it if they are wanted."""
    lines = [f"{TITLE}{report.program}", ""]
    if shows_all:
        for number, (window, _) in enumerate(report.windows[:MAX_DESCRIBED], 1):
            lines += [*window_lines(number, window), ""]
        runs = report.measured.runs
        lines += [*total_lines(report.windows, MAX_DESCRIBED, runs), ""]
    lines += summary_lines(report, summarize(report))
    if not shows_all:
        lines += [
            "",
            "explain --all shows each window, --html FILE.html writes a page, --json "
            "FILE.json data.",
        ]
    print("\n".join(lines), flush=True)


def _write(
    file: TextIO, lines: Callable[[Report], Iterable[str]], report: Report
) -> None:
    """Write a report to a file, in place of what is in it."""
    clear(file)
    file.writelines(f"{line}\n" for line in lines(report))
    file.flush()


def _say_broken(error: Exception) -> None:
    say(f"the explanation cannot be written: {error}")


def _program() -> str:
    program = " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]).strip()
    return escaped(program) or "the program"
