# SPDX-License-Identifier: Apache-2.0
"""Fills in where landmarks are, when a launch's program is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.ir.distance import Distance, Landmark, Rows, at
from legate_diffuse.ir.nest import Turn
from legate_diffuse.stores.view import View

# A landmark behind so many of the rows of its array is not worth a shift: threads
# could not divide rows that wait for others so far away.
_NEAR_PART: Final = 64


class Filled:
    """The numbers of a launch's turns for concrete views.

    Nests that only landmarks far away keep apart are in different bands. Within a band
    all shifts and margins have the same of these, which are left out.

    Attributes:
        bands: how many of the nests are in each band; negative where these lie on the
            axis of the band before.
    """

    def __init__(self, launch: PlannedLaunch, views: Sequence[View]) -> None:
        self.bands = launch.bands
        self._positions: dict[Landmark, int] = {}
        # of those that are far away it has zeros
        self._near: Mapping[Landmark, int] = self._positions
        if not launch.landmarks:
            return
        far = set()
        for mark, number, is_end, offset in launch.landmarks:
            layout, rows = views[number].layout, views[number].root.shape[0]
            position = layout.low[0] - offset
            if is_end:
                position += layout.extents[0]
            self._positions[mark] = position
            if position * _NEAR_PART > rows:
                far.add(mark)
        if far:
            self._near = self._positions | dict.fromkeys(far, 0)
            turns = [nest.turn for nest in launch.nests]
            self.bands = _cut(launch.bands, turns, far)

    def time(self, rows: Rows) -> int:
        """Return a shift or a margin."""
        return at(rows, self._near)

    def distance(self, rows: Rows) -> int:
        """Return how far rows are apart, or how many there are."""
        return at(rows, self._positions)


def _cut(
    bands: Sequence[int], turns: Sequence[Turn], far: set[Landmark]
) -> tuple[int, ...]:
    """Return bands of turns that nothing but landmarks nearby keeps apart.

    What was one band keeps one axis, as distances tell only together where rows lie.
    """
    found = []
    first = 0
    for count in bands:
        of_band = [_far_factors(turn, far) for turn in turns[first : first + count]]
        cuts = [n + 1 for n, (one, two) in enumerate(pairwise(of_band)) if one != two]
        counts = [end - begin for begin, end in pairwise((0, *cuts, count))]
        found += [counts[0], *(-each for each in counts[1:])]
        first += count
    return tuple(found)


def _far_factors(turn: Turn, far: set[Landmark]) -> tuple[object, ...]:
    margin = turn.margin
    numbers = (turn.shift, *((margin.before, margin.after) if margin else ()))
    return tuple(
        tuple(each for each in rows.factors if each[0] in far)
        if isinstance(rows, Distance)
        else ()
        for rows in numbers
    )
