# SPDX-License-Identifier: Apache-2.0
"""Has plans proven before they are used (``legate_diffuse/proof``)."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final
from zlib import crc32

from legate_diffuse import settings
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.plan import Plan
from legate_diffuse.fusion.translate import translate
from legate_diffuse.launch.failure import attempt
from legate_diffuse.launch.logs import Logs
from legate_diffuse.launch.state import ClosedWindow
from legate_diffuse.messages import say
from legate_diffuse.observe.counters import Counters

# Of plans that are used again one in so many is proven, as a proof takes about as long
# as planning. Which ones follows from their keys, so that ranks choose alike.
_ONE_IN: Final = 4


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
        from legate_diffuse.launch.refuting import cases_of, refutation

        ir = translate(window, self._meanings)
        cases = attempt(lambda: list(cases_of(ir, window, plan, self._how)))
        found = attempt(lambda: refutation(ir, plan, cases, self._meanings))
        if found is not None:
            self._counters.plans_refuted += 1
            self._tell(found)
            return False
        plan.proven = True
        # there may be none for which all relations hold, nor few elements
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

    def _tell(self, text: str) -> None:
        """Leave a report, and say once where it is."""
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
