# SPDX-License-Identifier: Apache-2.0
"""What is known of the indices that tell points what they gather.

Points compute again what they gather, instead of in a task before. That pays where the
indices of a point's rows lie near its tile, as with most matrices of grids. Where they
lie far away, all points would compute almost all. Tasks find that out when they run;
from then on windows that gather as these indices tell are planned without, as results
are the same. So are those whose indices NumPy may have changed in place: Legate keeps
the images that it has made of indices until an operation changes them, and points would
compute too little.

Tasks look through the indices, and remember what they have found for as long as these
are the same. A moment is a number that stands for the elements of two arrays, rows and
the indices that they have, from when they were changed last until they change again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, Final

from legate_diffuse.fusion.plan import Plan, PlannedLaunch
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View

# Of those who were used longest ago nothing is known any more.
_MOST: Final = 1024

_State = tuple[int, ...]


class Gathering:
    """What tasks have found out in this process.

    Processes must plan alike, so if there are several nothing that one of them has
    found out counts.
    """

    def __init__(self, native: Any, *, several: bool) -> None:
        self._native = native
        self._several = several
        # the numbers of the roots whose elements are indices that lie far away
        self._far: set[int] = set()
        self._moments: dict[_State, int] = {}
        # the numbers of the indices, by moment
        self._indices: dict[int, int] = {}
        self._numbers = count(1)

    def allows(self, plan: Plan, views: Sequence[View]) -> bool:
        """Whether a plan's points may compute again what they gather."""
        if not self._several:
            for moment in self._native.take_far():
                self._far.add(self._indices.get(abs(moment), 0))
        for launch in plan.launches:
            for indices, rows, _ in launch.images:
                root = views[indices].root
                if root.was_lent or views[rows].root.was_lent:
                    return False
                if root.number in self._far:
                    return False
        return True

    def moments(
        self, launch: PlannedLaunch, views: Sequence[View], unseen: int
    ) -> list[int]:
        """Return moments for the nests of a launch that run for images.

        A moment is negative if somebody may change the arrays unseen, or does so in the
        same window. ``unseen`` is how many operations ran that were not recorded.
        """
        return [
            self._moment(views[indices].root, views[rows].root, steady, unseen)
            for indices, rows, steady in launch.images
        ]

    def _moment(self, indices: Root, rows: Root, steady: bool, unseen: int) -> int:
        steady = steady and indices.is_intact and rows.is_intact
        state: _State = (indices.number,)
        if steady:
            state = (indices.number, indices.version, rows.number, rows.version, unseen)
        moment = self._moments.get(state)
        if moment is None:
            if len(self._moments) >= _MOST:
                oldest = next(iter(self._moments))
                del self._indices[self._moments.pop(oldest)]
            moment = self._moments[state] = next(self._numbers)
            self._indices[moment] = indices.number
        return moment if steady else -moment
