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
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TextIO

from legate_diffuse import settings
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.plan import Plan
from legate_diffuse.messages import rank, say
from legate_diffuse.observe.counters import Counters
from legate_diffuse.observe.data import write_data
from legate_diffuse.observe.destination import clear, open_destination
from legate_diffuse.observe.facts import WindowFacts, describe
from legate_diffuse.observe.iterations import MAX_TRACE, Submission, find_iteration
from legate_diffuse.observe.ledger import Ledger, Measured, measure, times_of_runs
from legate_diffuse.observe.location import escaped
from legate_diffuse.observe.page import page_lines, write_page
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
    if settings.explanation_is_measured():
        write: Callable[[Report], None] | None = None
        if path in ("-", settings.ALL):
            write = partial(_print, path == settings.ALL)
        elif path != settings.CELLS:
            writer = write_data if path.endswith(settings.DATA) else write_page
            write = partial(writer, open_destination(path))
        measured = _Measured(write, legate, meanings, counters, fused, processors)
        return Explanation(measured)
    file = open_destination(path)
    clear(file)
    return Explanation(_Text(file, legate.native, processors))


class Explanation:
    """Describes windows, as text or on a page."""

    def __init__(self, writer: _Text | _Measured) -> None:
        self._writer = writer
        self._described: dict[int, _Described] = {}
        if self.ledger is not None:
            self.ledger.clock(self, "add", "explanation")
        # registered before the last flush, hence run after it
        atexit.register(self._finish)

    @property
    def ledger(self) -> Ledger | None:
        """The clocks of the program's thread, if times are wanted."""
        return self._writer.ledger if isinstance(self._writer, _Measured) else None

    def add(self, window: Any, plan: Plan) -> None:
        """Take note of a window that was submitted."""
        found = self._described.get(id(plan))
        if found is None:
            facts = describe(window, plan)
            number = len(self._described)
            found = self._described[id(plan)] = _Described(plan, number, facts)
            if number < MAX_DESCRIBED:
                self._writer.add(number + 1, facts)
        found.submissions += 1
        self._writer.submitted(found.number)

    def begin(self) -> None:
        """Forget what was explained, before a part that has a page of its own."""
        assert isinstance(self._writer, _Measured)
        self._described = {}
        self._writer.begin()

    def page(self, program: str) -> Iterator[str]:
        """Yield the lines of the page of what ran since ``begin``."""
        assert isinstance(self._writer, _Measured)
        return page_lines(self._writer.report(program, self._windows()))

    def _windows(self) -> list[tuple[WindowFacts, int]]:
        return [(one.facts, one.submissions) for one in self._described.values()]

    def _finish(self) -> None:
        self._writer.finish(self._windows())


@dataclass(slots=True)
class _Described:
    """A plan, kept so that its id stays its own, and how often it was submitted."""

    plan: Plan
    number: int
    facts: WindowFacts
    submissions: int = 0


class _Text:
    """Writes windows to a file as they come, and the totals when the program ends."""

    def __init__(
        self, file: TextIO, native: Any, processors: Callable[[], ProcessorFacts]
    ) -> None:
        self._file = file
        self._native = native
        self._processors = processors
        self._broken = False
        self._write(f"{TITLE}{_program()}\n")

    def add(self, number: int, facts: WindowFacts) -> None:
        self._write("\n".join(window_lines(number, facts)) + "\n")

    def submitted(self, number: int) -> None:
        """Do nothing: text tells how often windows came, and not in which order."""

    def finish(self, windows: list[tuple[WindowFacts, int]]) -> None:
        runs = times_of_runs(self._native)
        processors = [*processor_lines(self._processors())]
        self._write("\n".join(total_lines(windows, MAX_DESCRIBED, runs, processors)))

    def _write(self, block: str) -> None:
        try:
            print(block, file=self._file, flush=True)
        except (OSError, ValueError) as error:
            if not self._broken:
                self._broken = True
                say(f"the explanation cannot be written: {error}")


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


class _Measured:
    """Writes an explanation with times when the program ends."""

    def __init__(
        self,
        write: Callable[[Report], None] | None,
        legate: Any,
        meanings: Meanings,
        counters: Counters,
        fused: Collection[str],
        processors: Callable[[], ProcessorFacts],
    ) -> None:
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

    def add(self, number: int, facts: WindowFacts) -> None:
        """Do nothing: times are known in the end."""

    def submitted(self, number: int) -> None:
        counters = self._counters
        counters.add_runs(*self._legate.native.take_runs())
        self._trace.append(
            Submission(number, counters.tasks_seen, counters.tasks_submitted)
        )

    def begin(self) -> None:
        """Let all that was counted and measured count no more."""
        self._trace.clear()
        self._before = self._measure()
        self.ledger.clear()

    def report(self, program: str, windows: list[tuple[WindowFacts, int]]) -> Report:
        """Return what there is to tell since the beginning."""
        return Report(
            program,
            self._folder,
            windows,
            find_iteration(self._trace, [facts for facts, _ in windows]),
            self._measure().since(self._before),
            self._processors(),
            self._advise,
        )

    def finish(self, windows: list[tuple[WindowFacts, int]]) -> None:
        if self._write is None:
            return
        try:
            self._write(self.report(_program(), windows))
        except (OSError, ValueError) as error:
            say(f"the explanation cannot be written: {error}")

    def _measure(self) -> Measured:
        return measure(self._legate, self.ledger, self._fused, self._counters)


def _program() -> str:
    program = " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]).strip()
    return escaped(program) or "the program"
