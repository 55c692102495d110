# SPDX-License-Identifier: Apache-2.0
"""All that a page tells, before it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from legate_diffuse.observe.facts import WindowFacts
from legate_diffuse.observe.iterations import Iteration, LineCounts
from legate_diffuse.observe.ledger import Measured
from legate_diffuse.observe.lines import Line
from legate_diffuse.observe.processors import ProcessorFacts


@dataclass(frozen=True, slots=True)
class Report:
    """What a page tells.

    ``folder`` is what names of files are relative to. ``windows`` have how often
    each was submitted. ``iteration`` is what the program's loop takes, if it has one.
    ``advise`` says what to write instead of a task.
    """

    program: str
    folder: str
    windows: Sequence[tuple[WindowFacts, int]]
    iteration: Iteration | None
    measured: Measured
    processors: ProcessorFacts
    advise: Callable[[str], str]

    def in_iteration(self, line: Line) -> LineCounts | None:
        """Return what an iteration takes of a line, None if it has none of it."""
        return None if self.iteration is None else self.iteration.lines.get(line)
