# SPDX-License-Identifier: Apache-2.0
"""What shows few rows, whatever the extents are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from legate_diffuse.ir import View
from legate_diffuse.ir.region import Interval

FEW: Final = 24
"""So many rows may be computed twice, or wait in a cache until somebody reads them.

That takes less time than a task or a pass over memory does. It is more than the sweeps
of a stencil that programs do between two looks at the result, each of which needs a row
more on each side of a tile.
"""


def rows_of(view: View) -> Interval | None:
    """Return the rows of its store that a view shows, None if nobody knows."""
    return view.region[0] if view.region and not view.store.replicated else None


def is_short(interval: Interval) -> bool:
    """Whether an interval has few positions, as its ends tell."""
    low, high = interval.low, interval.high
    return low.landmark == high.landmark and high.offset - low.offset <= FEW


def row_loop(views: Iterable[View]) -> int | None:
    """Return the loop over views that runs along rows, None if there is none.

    It is that of the view of the store with most dimensions.
    """
    loop: int | None = None
    most = 0
    for view in views:
        rank = 0 if view.store.replicated else len(view.region or ())
        if 0 in view.dims and rank > most:
            loop, most = view.dims.index(0), rank
    return loop


def is_short_loop(loop: int | None, views: Iterable[View]) -> bool:
    """Whether a loop over views is along few positions, as one of them tells.

    No loop is along a single one.
    """
    return loop is None or any(
        view.region is not None
        and view.dims[loop] >= 0
        and is_short(view.region[view.dims[loop]])
        for view in views
    )
