# SPDX-License-Identifier: Apache-2.0
"""Which nests of a program may run as a whole on one row after the other.

    nest 0: reduce(max) %1[:] @0, read %0[:, :] @0
    nest 1: write %2[:, :] @0, read %0[:, :] @0, read %1[:] @0
    nest 2: reduce(add) %3[:] @0, read %2[:, :] @0

What conflicts in a run of such nests is on the same row, so that rows may run in any
order, and beside each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from legate_diffuse.fusion.axis import Located
from legate_diffuse.fusion.schedule import Use, Uses, uses_of
from legate_diffuse.ir.nest import Program, Turn

_MOST: Final = 16
"""Nests of a run."""


def row_runs(program: Program) -> Iterator[range]:
    """Yield the runs of at least two nests, by their places in the program.

    Every nest of a run has a loop along rows.
    """
    first = 0
    for band in program.bands:
        begin = first
        uses = Uses()
        for place, turn in enumerate(band.turns, first):
            own = _uses(turn)
            if place - begin == _MOST or own is None or _depends(own, uses):
                yield from _run(begin, place)
                begin, uses = place, Uses()
            if own is None:
                begin = place + 1
                continue
            uses.note(own)
        first += len(band.turns)
        yield from _run(begin, first)


def _run(begin: int, end: int) -> Iterator[range]:
    if end - begin > 1:
        yield range(begin, end)


def _uses(turn: Turn) -> list[Use] | None:
    """Return what a nest uses, None if its rows are not independent."""
    nest = turn.nest
    uses = uses_of(0, nest, replace(Located.nowhere(0), distances=turn.distances))
    stays = any(use.changes and use.distance is None for use in uses)
    return None if stays or turn.row_loop is None else uses


def _depends(own: list[Use], uses: Uses) -> bool:
    """Whether a row of a nest may depend on another row of those before it."""
    return any(
        earlier.distance is None or earlier.distance != later.distance
        for earlier, later in uses.conflicts(own)
    )
