# SPDX-License-Identifier: Apache-2.0
"""Refutes plans, or finds nothing against them (``legate_diffuse/proof``).

In a module of its own, as most runs prove nothing, and it takes 20 ms to import.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from legate_diffuse import settings
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.plan import Plan
from legate_diffuse.ir import Window
from legate_diffuse.launch.program import write_program
from legate_diffuse.launch.state import ClosedWindow
from legate_diffuse.proof.cases import (
    IN_LARGE_TILES,
    ONE_WAY,
    all_ways,
    small_cases,
)
from legate_diffuse.proof.instance import Instance
from legate_diffuse.proof.report import report
from legate_diffuse.proof.validator import Case, refute

# Elements of all arrays of a window up to which it is run with the extents it has.
_SMALL: Final = 1 << 16


def refutation(
    window: Window, plan: Plan, cases: list[Case], meanings: Meanings
) -> str | None:
    """Return a report of what a plan does wrong in one of the cases, if it does."""
    found = refute(cases, plan.launches, meanings, write_program)
    return None if found is None else report(window, plan, found)


def cases_of(
    window: Window, closed: ClosedWindow, plan: Plan, how: str
) -> Iterator[Case]:
    """Yield a window with several extents, and ways to run it then."""
    counts = len(closed.views), len(closed.shapes)
    ways = ONE_WAY if how == settings.AGAIN else all_ways(plan.launches)
    found = list(small_cases(window, *counts, ways))
    yield from found
    if how == settings.AGAIN and found:
        return
    # also where no small extents are found for which all relations hold
    actual = _actual_instance(window, closed)
    if actual.num_elements <= _SMALL:
        yield actual, (IN_LARGE_TILES,)


def _actual_instance(window: Window, closed: ClosedWindow) -> Instance:
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
