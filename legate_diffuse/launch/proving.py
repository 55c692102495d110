# SPDX-License-Identifier: Apache-2.0
"""Has plans proven before they are used (``legate_diffuse/proof``)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final
from zlib import crc32

from legate_diffuse import settings
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.plan import Plan
from legate_diffuse.fusion.translate import translate
from legate_diffuse.ir import Window
from legate_diffuse.launch.failure import attempt
from legate_diffuse.launch.logs import Logs
from legate_diffuse.launch.program import write_program
from legate_diffuse.launch.state import ClosedWindow
from legate_diffuse.messages import say
from legate_diffuse.observe.counters import Counters
from legate_diffuse.proof.cases import (
    IN_LARGE_TILES,
    ONE_WAY,
    all_ways,
    small_cases,
)
from legate_diffuse.proof.instance import Instance
from legate_diffuse.proof.report import report
from legate_diffuse.proof.validator import Case, Refutation, refute

# Of plans that are used again one in so many is proven, as a proof takes about as long
# as planning. Which ones follows from their keys, so that ranks choose alike.
_ONE_IN: Final = 4
# Elements of all arrays of a window up to which it is run with the extents it has.
_SMALL: Final = 1 << 16


class Prover:
    """Refutes plans, and says so.

    Ranks refute the same plans: what decides is the same on all of them.

    Args:
        meanings: of operations.
        counters: count what was proven and refuted.
        logs: take reports as well.
    """

    def __init__(self, meanings: Meanings, counters: Counters, logs: Logs) -> None:
        self._logs = logs
        self._meanings = meanings
        self._counters = counters
        self._how = settings.proof()
        self._warned = False

    def accepts(self, window: ClosedWindow, plan: Plan) -> bool:
        """Whether a plan that is about to be used may be used.

        It may be before it is proven, and after that if it was not refuted.

        Raises:
            FailureError: it can be neither proven nor refuted.
        """
        if plan.proven or not self._is_due(plan):
            return True
        if not self._is_chosen(window) or not any(
            launch.fused for launch in plan.launches
        ):
            plan.proven = True
            return True
        ir = translate(window, self._meanings)
        cases = attempt(lambda: list(self._cases(ir, window, plan)))
        found = attempt(
            lambda: refute(cases, plan.launches, self._meanings, write_program)
        )
        if found is not None:
            self._counters.plans_refuted += 1
            self._tell(ir, plan, found)
            return False
        plan.proven = True
        # there may be no small extents for which all relations hold
        self._counters.plans_proven += bool(cases)
        return True

    def _is_due(self, plan: Plan) -> bool:
        if self._how == settings.AGAIN:
            return plan.last_use > 0
        return self._how == settings.ALWAYS

    def _is_chosen(self, window: ClosedWindow) -> bool:
        if self._how == settings.ALWAYS:
            return True
        return crc32(repr(window.key).encode()) % _ONE_IN == 0

    def _cases(self, ir: Window, window: ClosedWindow, plan: Plan) -> Iterator[Case]:
        """Yield the window with several extents, and ways to run it then."""
        counts = len(window.views), len(window.shapes)
        if self._how == settings.AGAIN:
            yield from small_cases(ir, *counts, ONE_WAY)
            return
        yield from small_cases(ir, *counts, all_ways(plan.launches))
        actual = actual_instance(ir, window)
        if actual.num_elements <= _SMALL:
            yield actual, (IN_LARGE_TILES,)

    def _tell(self, window: Window, plan: Plan, found: Refutation) -> None:
        """Leave a report, and say once where it is."""
        text = report(window, plan, found)
        self._logs.refuted(text)
        where = "nothing, as no file can be written"
        with suppress(OSError):
            handle, where = tempfile.mkstemp(".txt", "legate-diffuse-refuted-")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
        if not self._warned:
            self._warned = True
            say(
                "a group of operations runs unfused, as what was planned for it is "
                f"not what the program says; please report {Path(where)}"
            )


def actual_instance(window: Window, closed: ClosedWindow) -> Instance:
    """Return a window with the extents that it has in the program."""
    numbers = {root: number for number, root in enumerate(closed.roots)}
    return Instance(
        window,
        {number: tuple(root.shape) for root, number in numbers.items()},
        closed.views,
        [numbers[view.root] for view in closed.views],
        [tuple(shape) for shape in closed.shapes],
        "the program's own extents",
    )
