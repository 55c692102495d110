# SPDX-License-Identifier: Apache-2.0
"""Lays the rows of stores along one axis, so that nests over them can take turns.

    nest: write %1[:], read %0[:-1], read %0[1:]      row x: %1[x], %0[x], %0[x + 1]
    nest: write %0[0], read %1[2]                     row 0: %0[0], %1[2]

The first nest that touches two stores lays them side by side, once and for all. What a
nest touches afterwards is at a constant distance from its row, or it has no place. So
whether two nests conflict at some rows is a matter of distances, whatever the extents.

Positions are places on the axis: a symbol, for what is not known, and a distance from
it. Different symbols cannot be compared, unless a nest shows how far apart they are, or
they are landmarks: how far these are apart is known when the program is launched.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from legate_diffuse.fusion.few_rows import row_loop, rows_of
from legate_diffuse.ir import View
from legate_diffuse.ir.distance import Distance, Rows, is_landmark
from legate_diffuse.ir.nest import Nest
from legate_diffuse.ir.region import BEGIN, END, Endpoint, Interval


class Place(NamedTuple):
    """A position on the axis; the rows of what has no other place begin at 0."""

    symbol: Hashable
    offset: int

    def __sub__(self, other: Place) -> int | None:
        """Return how far the place is behind another one, None if that is unknown."""
        return self.offset - other.offset if self.symbol == other.symbol else None

    def behind(self, other: Place) -> Rows | None:
        """Return how far it is behind another one, which may depend on landmarks."""
        rows: Rows = self.offset - other.offset
        if self.symbol == other.symbol:
            return rows
        for place, sign in ((self, 1), (other, -1)):
            if is_landmark(place.symbol):
                rows += Distance(0, ((place.symbol, sign),))
            elif place.symbol is not None:
                return None
        return rows

    def moved(self, distance: int) -> Place:
        """Return the place so much farther on."""
        return Place(self.symbol, self.offset + distance)


_START = Place(None, 0)


class Touched(NamedTuple):
    """What an access touches along the axis.

    ``moves`` if each row of the nest has a row of its own.
    """

    store: int
    interval: Interval
    moves: bool = True


_Ends = tuple[Place | None, Place | None]


@dataclass(frozen=True, slots=True)
class Located:
    """Where the rows of a nest are, and what each of them touches.

    Attributes:
        loop: the nest's loop along the rows, None if it has a single one.
        first: the place of the first row.
        end: the place behind the last row.
        distances: for each access how far what it touches is from the row, None if the
            access does not move along.
        axis: the axis with the nest, with nothing if that has no rows.
    """

    loop: int | None
    first: Place
    end: Place
    distances: tuple[Rows | None, ...]
    axis: Axis
    _touched: dict[int, _Ends] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def nowhere(cls, accesses: int) -> Located:
        """Return what is known of a nest that has no rows."""
        return cls(None, _START, _START, (None,) * accesses, Axis())

    def touched(self, view: View) -> _Ends:
        """Return the first row that is touched through a view, and the one behind all.

        None if it is not known.
        """
        found = self._touched.get(view.id)
        if found is None:
            found = self._touched[view.id] = self._ends(view)
        return found

    def _ends(self, view: View) -> _Ends:
        interval = rows_of(view)
        if interval is None:
            return None, None
        place, store = self.axis.place, view.store.id
        return place(store, interval.low), place(store, interval.high)


def _begins_at_landmark(row: Touched) -> bool:
    return row.interval.low.landmark not in (BEGIN, END)


def _rows(view: View, loop: int | None) -> Touched | None:
    interval = rows_of(view)
    if interval is None:
        return None
    if loop is None:
        # a single row
        return Touched(view.store.id, interval, interval.point)
    return Touched(view.store.id, interval, view.dims[loop] == 0)


@dataclass
class Axis:
    """The axis of a band.

    ``known`` are the places of landmarks, by store and landmark, and ``stores`` those
    of which some are known. ``same`` tells where symbols are, from others.
    """

    known: dict[tuple[int, int], Place] = field(default_factory=dict)
    stores: set[int] = field(default_factory=set)
    same: dict[Hashable, Place] = field(default_factory=dict)

    def add(self, other: Axis) -> None:
        """Take in what another axis knows of other stores."""
        self.known |= other.known
        self.stores |= other.stores
        self.same |= other.same

    def alternatives(self, nest: Nest) -> Iterator[Located]:
        """Yield the ways to lay a nest along the axis.

        They differ in which views lie beside one another, where not all of them can.
        In one of them the nest has nothing to do with what is on the axis; its rows
        are those of the first store that is not there yet. Those in which distances
        depend on landmarks come last. A part of a nest is nowhere.
        """
        if nest.rows:
            return
        loop = row_loop(nest.views)
        others = []
        for alternative in self.laid(loop, [_rows(view, loop) for view in nest.views]):
            if any([isinstance(each, Distance) for each in alternative.distances]):
                others.append(alternative)
            else:
                yield alternative
        yield from others

    def laid(
        self,
        loop: int | None,
        rows: Sequence[Touched | None],
        *,
        complete: bool = False,
    ) -> Iterator[Located]:
        """Yield the same for a nest that touches these rows, with its loop.

        With ``complete`` only those in which all that moves is at a constant distance.
        """
        # many accesses touch the same rows
        moving = [row for row in dict.fromkeys(rows) if row is not None and row.moves]
        moving.sort(key=lambda row: not self._knows(row))
        tried: set[tuple[Rows | None, ...]] = set()
        for leader in moving:
            axis = Axis(dict(self.known), set(self.stores), dict(self.same))
            located = axis._locate(loop, rows, leader, moving, complete)
            if located is not None and located.distances not in tried:
                tried.add(located.distances)
                yield located
            if not self._knows(leader):
                return

    def place(self, store: int, at: Endpoint) -> Place | None:
        """Return the place of a position in a store."""
        known = self.known.get((store, at.landmark))
        if known is None:
            begin = self.known.get((store, BEGIN))
            if begin is None or begin.symbol is not None:
                return None
            known = Place((store, at.landmark), begin.offset)
        if at.offset:
            known = known.moved(at.offset)
        return self.resolved(known) if known.symbol in self.same else known

    def resolved(self, place: Place) -> Place:
        """Return a place from the symbol that stands for all that are the same."""
        while place.symbol in self.same:
            place = self.same[place.symbol].moved(place.offset)
        return place

    def _locate(
        self,
        loop: int | None,
        rows: Sequence[Touched | None],
        leader: Touched,
        moving: Sequence[Touched],
        complete: bool,
    ) -> Located | None:
        """Lay a nest along the axis so that its row is that of one of its views."""
        store, interval = leader.store, leader.interval
        if not self._knows(leader):
            self._learn(store, Endpoint(BEGIN, 0), _START)
        first = self.place(store, interval.low)
        if first is None:
            return None
        end = self.place(store, interval.high)
        if end is None:
            end = Place(("high", store, interval.high.landmark), 0)
            self._learn(store, interval.high, end)
        apart: dict[Touched | None, Rows | None] = {}
        # where a store begins its landmarks have places, too
        for row in sorted(moving, key=_begins_at_landmark):
            apart[row] = distance = self._distance(row, first, end)
            if complete and distance is None:
                return None
        # once it is known which symbols are the same
        for row in moving:
            if apart[row] is None:
                apart[row] = self._far(row, first)
        distances = tuple([apart.get(row) for row in rows])
        return Located(loop, self.resolved(first), self.resolved(end), distances, self)

    def _far(self, row: Touched, first: Place) -> Rows | None:
        """Return how far what is touched is from the rows of a nest, by landmarks."""
        place = self.place(row.store, row.interval.low)
        return None if place is None else place.behind(self.resolved(first))

    def _knows(self, row: Touched) -> bool:
        return row.store in self.stores

    def _distance(self, row: Touched, first: Place, end: Place) -> int | None:
        """Return how far what is touched is from the rows of a nest.

        Where a nest touches a store for the first time, it is none at all.
        """
        store, (low, high, _) = row.store, row.interval
        if not self._knows(row):
            self._learn(store, low, first)
            self._learn(store, high, end)
            return 0
        for at, beside in ((low, first), (high, end)):
            place = self.place(store, at)
            distance = None if place is None else place - self.resolved(beside)
            if distance is not None:
                # as many rows lie between the ends of each view
                if at is high:
                    self._learn(store, low, first.moved(distance))
                else:
                    self._learn(store, high, end.moved(distance))
                return distance
        return None

    def _learn(self, store: int, at: Endpoint, place: Place) -> None:
        """Note where an end of a view is."""
        known = self.place(store, at)
        if known is None:
            self.known[store, at.landmark] = place.moved(-at.offset)
            self.stores.add(store)
            return
        place = self.resolved(place)
        if known.symbol == place.symbol:
            return
        if known.symbol is None:
            known, place = place, known
        self.same[known.symbol] = place.moved(-known.offset)
