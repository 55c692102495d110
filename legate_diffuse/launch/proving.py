# SPDX-License-Identifier: Apache-2.0
"""Has plans proven before they are used (``legate_diffuse/proof``)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from legate_diffuse import settings
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.plan import Plan
from legate_diffuse.fusion.translate import translate
from legate_diffuse.ir import Window
from legate_diffuse.launch.program import write_program
from legate_diffuse.launch.state import ClosedWindow
from legate_diffuse.messages import say
from legate_diffuse.observe.counters import Counters
from legate_diffuse.proof.extents import (
    LEAST,
    MANY_ROWS,
    ONE_MORE,
    SmallInstances,
)
from legate_diffuse.proof.instance import Instance
from legate_diffuse.proof.report import report
from legate_diffuse.proof.validator import (
    BY_ROWS,
    IN_ORDER,
    IN_SHORT_BANDS,
    IN_TILES,
    IN_TILES_BACKWARDS,
    Case,
    Refutation,
    refute,
)

_WAYS: Final = {
    LEAST: (IN_ORDER, BY_ROWS),
    ONE_MORE: (IN_TILES, IN_SHORT_BANDS),
    MANY_ROWS: (IN_TILES_BACKWARDS,),
}
# Elements of all arrays of a window up to which it is run with the extents it has.
_SMALL: Final = 1 << 16


class Prover:
    """Refutes plans, and says so.

    Args:
        meanings: of operations.
        counters: count what was proven and refuted.
    """

    def __init__(self, meanings: Meanings, counters: Counters) -> None:
        self._meanings = meanings
        self._counters = counters
        self._how = settings.proof()
        self._warned = False

    def is_due(self, plan: Plan) -> bool:
        """Whether a plan that is about to be used is to be proven first."""
        if plan.proven or self._how == settings.NEVER:
            return False
        return self._how == settings.ALWAYS or plan.last_use > 0

    def accepts(self, window: ClosedWindow, plan: Plan) -> bool:
        """Whether a plan does what its window says, as far as anybody knows."""
        plan.proven = True
        if not any(launch.fused for launch in plan.launches):
            return True
        begin = perf_counter()
        ir = translate(window, self._meanings)
        cases = list(self._cases(ir, window))
        found = refute(cases, plan.launches, self._meanings, write_program)
        self._counters.proof_seconds += perf_counter() - begin
        if found is None:
            self._counters.plans_proven += 1
            return True
        self._counters.plans_refuted += 1
        self._tell(ir, plan, found)
        return False

    def _cases(self, ir: Window, window: ClosedWindow) -> Iterator[Case]:
        """Yield the window with several extents, and ways to run it then."""
        small = SmallInstances(ir, len(window.views), len(window.shapes))
        for wanted, ways in _WAYS.items():
            instance = small.find(wanted)
            if instance is not None:
                yield instance, ways
        actual = actual_instance(ir, window)
        if actual.num_elements <= _SMALL:
            yield actual, (IN_ORDER, IN_TILES)

    def _tell(self, window: Window, plan: Plan, found: Refutation) -> None:
        """Leave a report, and say once where it is."""
        text = report(window, plan, found)
        handle, name = tempfile.mkstemp(".txt", "legate-diffuse-refuted-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        if not self._warned:
            self._warned = True
            say(
                "a group of operations runs unfused, as what was planned for it is "
                f"not what the program says; please report {Path(name)}"
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


def moments_of(launch: Any) -> list[int]:
    """Return moments for the words of a launch that is not run."""
    return [-1] * len(launch.tellers)
