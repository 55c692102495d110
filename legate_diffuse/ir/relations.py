# SPDX-License-Identifier: Apache-2.0
"""What is known of two views of a store, whatever the extents are.

An answer of True, or a distance, holds wherever the landmarks may be; False and None
say that it is not known. These functions are the only ones that compare regions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from legate_diffuse.ir.region import (
    BEGIN,
    END,
    WHOLE,
    Endpoint,
    Interval,
    Region,
    Zones,
)
from legate_diffuse.ir.store import Points, View

# Pieces to which the rest of a view may fall while parts are taken away from it.
_MAX_PIECES: Final = 64
_NO_ZONES: Final = Zones()


def may_overlap(one: View, other: View) -> bool:
    """Whether two views of a store may have an element in common."""
    if one.region is None or other.region is None or one.region == other.region:
        return True
    zones = one.store.zones
    for dim, (a, b) in enumerate(zip(one.region, other.region, strict=True)):
        if _are_apart(a, b, zones[dim] if zones else _NO_ZONES):
            return False
    return True


def covers_store(view: View) -> bool:
    """Whether a view shows all elements of its store."""
    region = view.region
    if region is None or view.points is Points.NONE:
        return False
    if region.count(WHOLE) == len(region):
        return True
    return _covers(region, (WHOLE,) * len(region), _zones(view))


def shows_store(view: View) -> bool:
    """Whether a view shows its store as it is."""
    region = view.region
    return (
        region is not None
        and region.count(WHOLE) == len(region)
        and view.dims == tuple(range(len(region)))
    )


def shows_rows_of(one: View, other: View) -> bool:
    """Whether a view of a store shows all rows that another one shows."""
    if not one.region or not other.region:
        return False
    return _covers(one.region[:1], other.region[:1], _zones(one)[:1])


def rows_are_apart(one: View, other: View) -> bool:
    """Whether two views of a store have no row in common."""
    if not one.region or not other.region:
        return False
    return _are_apart(one.region[0], other.region[0], _zones(one)[0])


def are_covered(views: Iterable[View], parts: Mapping[int, View]) -> bool:
    """Whether parts of a store together show all elements of each of its views.

    The parts are given by their numbers.
    """
    return all(
        view.id in parts or _left(view, parts.values()).nothing for view in views
    )


def distance(one: View, other: View) -> tuple[int, ...] | None:
    """Return how far behind the first view the second one is at every point of a loop.

    Along each dimension of the store; None if that is not known, or not the same
    everywhere.
    """
    if one.region is None or other.region is None or one.dims != other.dims:
        return None
    found = []
    for a, b in zip(one.region, other.region, strict=True):
        if a.low.landmark != b.low.landmark:
            return None
        found.append(b.low.offset - a.low.offset)
    return tuple(found)


def aligned(one: View, other: View) -> bool:
    """Whether two views show the same element at every point of one loop."""
    if one.shape != other.shape:
        return False
    apart = distance(one, other)
    return apart is not None and not any(apart)


def _zones(view: View) -> Sequence[Zones]:
    return view.store.zones or (_NO_ZONES,) * len(view.region or ())


def _covers(one: Region, other: Region, of_store: Sequence[Zones]) -> bool:
    return all(
        _at_most(a.low, b.low, a, b, zones) and _at_most(b.high, a.high, b, a, zones)
        for a, b, zones in zip(one, other, of_store, strict=True)
    )


def _are_apart(a: Interval, b: Interval, zones: Zones) -> bool:
    if a.point and b.point:
        return a != b
    return _at_most(a.high, b.low, a, b, zones) or _at_most(b.high, a.low, b, a, zones)


def _at_most(
    x: Endpoint, y: Endpoint, of_x: Interval, of_y: Interval, zones: Zones
) -> bool:
    """Whether x <= y; they are ends of the intervals ``of_x`` and ``of_y``.

    Intervals are not empty.
    """
    if x.landmark == y.landmark:
        return x.offset <= y.offset
    high = of_x.high
    if x == of_x.low and high.landmark == y.landmark and high.offset - 1 <= y.offset:
        return True
    # only ranges are never nearer to the ends of the dimension than they are written
    if x.landmark == BEGIN:
        return x.offset == 0 or not of_y.point
    if y.landmark == END:
        return y.offset == 0 or not of_x.point
    if x.landmark == END or y.landmark == BEGIN:
        return False
    return _rank(x.landmark, zones) < _rank(y.landmark, zones)


def _rank(landmark: int, zones: Zones) -> int:
    return zones.ranks.get(landmark, 0)


def _left(view: View, parts: Iterable[View]) -> Uncovered:
    left = Uncovered(view)
    for part in parts:
        left.take(part)
    return left


class _Bound(NamedTuple):
    """Where a piece of a view ends, which is an end of an interval."""

    at: Endpoint
    of: Interval


_Piece = tuple[tuple[_Bound, _Bound], ...]


class Uncovered:
    """What parts of a store, which are taken away one by one, leave of a view.

    Attributes:
        nothing: whether it is known that the parts together show all of the view.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        # None if nobody knows, as it has no region or falls to too many pieces
        self._pieces = None if view.region is None else [_piece(view.region)]
        self.nothing = False

    def take(self, part: View) -> None:
        """Take away what a part shows."""
        if part.id == self._view.id:
            self.nothing = True
        if self.nothing or self._pieces is None:
            return
        if part.region is None or part.points is Points.NONE:
            return
        taken, zones = _piece(part.region), _zones(part)
        self._pieces = [
            left for piece in self._pieces for left in _without(piece, taken, zones)
        ]
        self.nothing = not self._pieces
        if len(self._pieces) > _MAX_PIECES:
            self._pieces = None


def _piece(region: Region) -> _Piece:
    return tuple((_Bound(each.low, each), _Bound(each.high, each)) for each in region)


def _without(piece: _Piece, taken: _Piece, of_store: Sequence[Zones]) -> list[_Piece]:
    """Return pieces that hold what a piece does not share with another one.

    They may hold more, but nothing that is not in the piece.
    """
    found: list[_Piece] = []
    rest = piece
    dimensions = zip(piece, taken, of_store, strict=True)
    for dim, ((low, high), (first, last), zones) in enumerate(dimensions):
        apart = _precedes(high, first, zones) or _precedes(last, low, zones)
        meet = _precedes(first, high, zones) and _precedes(low, last, zones)
        if apart or not meet:
            return [piece]
        if not _precedes(first, low, zones):
            found.append((*rest[:dim], (low, first), *rest[dim + 1 :]))
            low = first
        if not _precedes(high, last, zones):
            found.append((*rest[:dim], (last, high), *rest[dim + 1 :]))
            high = last
        rest = (*rest[:dim], (low, high), *rest[dim + 1 :])
    return found


def _precedes(x: _Bound, y: _Bound, zones: Zones) -> bool:
    return _at_most(x.at, y.at, x.of, y.of, zones)
