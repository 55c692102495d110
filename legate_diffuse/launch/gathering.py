# SPDX-License-Identifier: Apache-2.0
"""Whether points compute again what they gather, instead of in a task before.

That pays where the indices of a point's rows lie near its tile, as with most matrices
of grids. Where they lie far away, all points would compute almost all. Tasks find that
out when they run; from then on windows that gather as these indices tell are planned
without, as results are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from legate_diffuse.fusion.plan import Plan
from legate_diffuse.launch.tiling import tellers_of
from legate_diffuse.stores.view import View


class Gathering:
    """What tasks have found out in this process.

    Processes must plan alike, so if there are several nothing that one of them has
    found out counts.
    """

    def __init__(self, native: Any, *, several: bool) -> None:
        self._native = native
        self._several = several
        # the numbers of the roots whose elements are such indices
        self._far: set[int] = set()

    def review(self) -> None:
        """Take note of what tasks have found out."""
        if not self._several:
            self._far.update(self._native.take_far())

    def is_far(self, plan: Plan, views: Sequence[View]) -> bool:
        """Whether a plan's points would compute much that others compute, too."""
        return bool(self._far) and any(
            views[number].root.number in self._far
            for launch in plan.launches
            for number in tellers_of(launch)
        )
