# SPDX-License-Identifier: Apache-2.0
"""What a window's key says of a layout.

All roots of one shape share their layouts, so where a layout begins and ends in its
root is written once: but for ends that lie at free landmarks, which are the window's.
"""

from __future__ import annotations

from typing import NamedTuple

from legate_diffuse.ir.landmarks import near_ends
from legate_diffuse.ir.outline import Ends, Outline, number_of
from legate_diffuse.ir.region import (
    NEAR_END,
    POINTS_NEAR_END,
    REPEATED,
    SINGLE,
    WHOLE,
)
from legate_diffuse.stores.layout import Layout


class Free(NamedTuple):
    """A position at a free landmark of a dimension of the root."""

    dim: int
    value: int
    point: bool


class Placed(NamedTuple):
    """The number of a layout's outline, and the positions that it leaves out.

    ``ranged`` are the dimensions of the root of which the layout shows a part that is
    no point.
    """

    outline: int
    ranged: tuple[int, ...]
    free: tuple[Free, ...]


def place(layout: Layout, extents: tuple[int, ...]) -> Placed:
    """Return what a key says of a layout of a root with these extents."""
    found: Placed | None = layout.placed
    if found is None:
        found = layout.placed = _place(layout, extents)
    return found


def _place(layout: Layout, extents: tuple[int, ...]) -> Placed:
    if not layout.affine:
        return Placed(number_of(Outline((), None)), (), ())
    dims = tuple(
        dim if dim >= 0 else (SINGLE if extent == 1 else REPEATED)
        for dim, extent in zip(layout.dims, layout.shape, strict=True)
    )
    ends: list[Ends] = []
    free: list[Free] = []
    for dim, (low, count, extent) in enumerate(
        zip(layout.low, layout.extents, extents, strict=True)
    ):
        point = dim not in dims and count != extent
        found = _ends(low, low + count, extent, dim, point)
        ends.append(found)
        if found.low is None:
            free.append(Free(dim, low, point))
        if not point and found.high is None:
            free.append(Free(dim, low + count, False))
    ranged = (
        dim
        for dim, end in enumerate(ends)
        if not end.point and end[:2] != (WHOLE.low, WHOLE.high)
    )
    return Placed(number_of(Outline(dims, tuple(ends))), tuple(ranged), tuple(free))


def _ends(low: int, high: int, extent: int, dim: int, point: bool) -> Ends:
    if point:
        row = None
        if dim == 0:
            row = near_ends(low, extent, POINTS_NEAR_END, point=True)
        return Ends(row, None, True)
    return Ends(
        near_ends(low, extent, NEAR_END, point=False),
        WHOLE.high
        if high == extent
        else near_ends(high, extent, NEAR_END, point=False),
        False,
    )
