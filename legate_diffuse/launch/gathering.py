# SPDX-License-Identifier: Apache-2.0
"""Whether points compute again what they gather, instead of in a task before.

That pays where the indices of a point's rows lie near its tile, as with most matrices
of grids, and tiles stay in the caches. Where they lie far away, all points would
compute almost all. Tasks find that out when they run; from then on plans are made
without, as results are the same.
"""

from __future__ import annotations

from typing import Any

from legate_diffuse.fusion.plan import Plan
from legate_diffuse.fusion.tiles import TOLD


class Gathering:
    """What tasks have found out in this process.

    Processes must plan alike, so if there are several nothing that one of them has
    found out counts.
    """

    def __init__(self, native: Any, *, several: bool) -> None:
        self.computes = True
        self._native = native
        self._several = several

    def review(self, plans: dict[tuple[int, ...], Plan]) -> None:
        """Forget plans whose points compute much that others compute, too."""
        if self._several or not self.computes or not self._native.gathers_far():
            return
        self.computes = False
        for key, plan in list(plans.items()):
            if any(
                part.loop == TOLD
                for launch in plan.launches
                if launch.tiling is not None
                for nest in launch.tiling.nests
                for part in nest
            ):
                del plans[key]
