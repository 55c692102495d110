# SPDX-License-Identifier: Apache-2.0
"""Writes the views of one dimension of a store with landmarks, as they appear.

The encoder knows where its landmarks are; who decodes what it has written builds the
same landmarks from its tokens, and knows of them only what ``ir/region.py`` says.
"""

from __future__ import annotations

from typing import Final

from legate_diffuse.ir.region import (
    BEGIN,
    END,
    NEAR,
    POINTS_NEAR_END,
    Endpoint,
    Zones,
)

# Of an end of a dimension, or of a landmark, and an offset from -NEAR to NEAR.
_STEP: Final = 2 * NEAR + 1
# Where a point lies that is far from a new landmark.
_BEFORE, _BEHIND = NEAR + 1, NEAR + 2


def near_ends(value: int, extent: int, reach: int, *, point: bool) -> Endpoint | None:
    """Write the low end of an interval, or a point, with the ends of its dimension.

    None if it is farther from them than ``reach``.
    """
    # a point takes in the position behind it
    if value + point <= reach:
        return Endpoint(BEGIN, value)
    if extent - value <= reach:
        return Endpoint(END, value - extent)
    return None


class Landmarks:
    """The free landmarks of one dimension of a store.

    A point has a landmark of its own until there is that of a range near it, with
    which it is written from then on; ``moved`` tells so for each such point.
    """

    __slots__ = ("_below", "_count", "_points", "_ranges", "_values", "moved")

    def __init__(self) -> None:
        self.moved: dict[int, Endpoint] = {}
        # landmarks of ranges, by position
        self._ranges: list[int] = []
        # by landmark of a point: how many landmarks of ranges are below it
        self._below: dict[int, int] = {}
        self._count = 0
        # in an encoder: where landmarks of ranges are, in the order of their numbers,
        # and the landmark at a point
        self._values: dict[int, int] = {}
        self._points: dict[int, int] = {}

    def encode_range(self, value: int) -> tuple[int, ...]:
        """Return the tokens of an end of a range that is not near those of its dim."""
        near = self._near(value)
        if near is not None:
            return (near,)
        rank = self._rank(value)
        places = [
            offset if -NEAR <= offset <= NEAR else _BEHIND if offset > 0 else _BEFORE
            for offset in (
                where - value
                for where, landmark in self._points.items()
                if self._below.get(landmark) == rank
            )
        ]
        self._values[self._count] = value
        token = _token(self._count, 0)
        self._insert_range(rank, places)
        return token, rank, *places

    def encode_point(self, value: int, extent: int, ranged: bool) -> tuple[int, ...]:
        """Return the tokens of a point.

        With ``ranged``, which must not be taken back, it is written with the ends of
        its dimension where it is near them.
        """
        landmark = self._points.get(value)
        if landmark is not None:
            return (_token(landmark, 0),)
        if ranged:
            end = near_ends(value, extent, POINTS_NEAR_END, point=True)
            if end is not None:
                return (_token(*end),)
        near = self._near(value)
        if near is not None:
            return (near,)
        rank = self._rank(value)
        self._points[value] = self._count
        token = _token(self._count, 0)
        self._insert_point(rank)
        return token, rank

    def decode(self, tokens: list[int], *, point: bool) -> Endpoint:
        """Read a position off the end of ``tokens``, which are in reversed order."""
        landmark, offset = divmod(tokens.pop(), _STEP)
        found = Endpoint(landmark + BEGIN, offset - NEAR)
        if found.landmark == self._count:
            rank = tokens.pop()
            if point:
                self._insert_point(rank)
            else:
                places = [
                    tokens.pop() for below in self._below.values() if below == rank
                ]
                self._insert_range(rank, places)
        return found

    @property
    def zones(self) -> Zones:
        """The order of the landmarks, as far as it is known."""
        zones = []
        for rank in range(len(self._ranges) + 1):
            points = [mark for mark, below in self._below.items() if below == rank]
            zones += [tuple(points)] if points else []
            zones += [(mark,) for mark in self._ranges[rank : rank + 1]]
        return Zones(zones if len(zones) > 1 else ())

    def _near(self, value: int) -> int | None:
        """Return the token with the first landmark of a range that is near."""
        for landmark, base in self._values.items():
            if -NEAR <= (offset := value - base) <= NEAR:
                return _token(landmark, offset)
        return None

    def _rank(self, value: int) -> int:
        """Return how many landmarks of ranges are below a position."""
        return sum([other < value for other in self._values.values()])

    def _insert_point(self, rank: int) -> None:
        self._below[self._count] = rank
        self._count += 1

    def _insert_range(self, rank: int, places: list[int]) -> None:
        """Add a landmark behind ``rank`` ones of ranges.

        ``places`` tells, for each point between those before and behind it, where it
        is from the new one.
        """
        of_point = iter(places)
        for landmark, below in list(self._below.items()):
            place = next(of_point) if below == rank else _BEHIND
            if below < rank or place == _BEFORE:
                continue
            if place == _BEHIND:
                self._below[landmark] += 1
            else:
                self.moved[landmark] = Endpoint(self._count, place)
                del self._below[landmark]
        self._ranges.insert(rank, self._count)
        self._count += 1


def _token(landmark: int, offset: int) -> int:
    return (landmark - BEGIN) * _STEP + offset + NEAR
