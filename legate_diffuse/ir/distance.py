# SPDX-License-Identifier: Apache-2.0
"""Numbers of rows, also of those that landmarks lie apart.

How far a row is behind another one is an ``int`` where it is the same for all extents.
Where it depends on where the program has put a landmark, it is a ``Distance``, which
becomes a number at launch: ``x[k:]`` lies ``%0.a`` rows behind ``x[:-k]`` if k is
landmark a of store 0. Positions are not negative; nothing else is known of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeGuard

from legate_diffuse.ir.region import END
from legate_diffuse.ir.region_text import landmark_name

_FACTORS: Final = {1: "+", -1: "-"}
Landmark = tuple[int, int]
"""A free landmark along the first dimension of a store: the store's id, its number."""


@dataclass(frozen=True, slots=True)
class Distance:
    """So many rows, and the positions of landmarks, each so many times.

    ``factors`` are in order, none is 0, and there is one at least.
    """

    rows: int
    factors: tuple[tuple[Landmark, int], ...]

    def __add__(self, other: Rows) -> Rows:
        return _sum(self, other, 1)

    __radd__ = __add__

    def __sub__(self, other: Rows) -> Rows:
        return _sum(self, other, -1)

    def __rsub__(self, other: Rows) -> Rows:
        return _sum(other, self, -1)

    def __rmul__(self, factor: int) -> Rows:
        factors = {mark: factor * own for mark, own in self.factors}
        return _rows(factor * self.rows, factors)

    def __neg__(self) -> Rows:
        return _sum(0, self, -1)

    def __str__(self) -> str:
        """Return the text: ``2*%0.a-%1.b+3``."""
        text = "".join(
            f"{_FACTORS.get(factor, f'{factor:+d}*')}%{store}.{landmark_name(landmark)}"
            for (store, landmark), factor in self.factors
        )
        text += f"{self.rows:+d}" if self.rows else ""
        return text.removeprefix("+")


Rows = int | Distance


def is_landmark(place: object) -> TypeGuard[Landmark]:
    """Whether a place is that of a free landmark, and no end of a dimension."""
    match place:
        case int(), int(landmark):
            return landmark > END
    return False


def position(landmark: Landmark) -> Distance:
    """Return how far a landmark is from the beginning of its dimension."""
    return Distance(0, ((landmark, 1),))


def greatest(rows: Iterable[Rows]) -> Rows:
    """Return a number that is not less than any of these, wherever landmarks are."""
    return _bound(rows, max)


def least(rows: Iterable[Rows]) -> Rows:
    """Return a number that is not more than any of these, wherever landmarks are."""
    return _bound(rows, min)


def at_most(one: Rows, other: Rows) -> bool:
    """Whether a number is at most another one, wherever landmarks are."""
    apart = other - one
    if isinstance(apart, int):
        return apart >= 0
    return apart.rows >= 0 and all(factor > 0 for _, factor in apart.factors)


def landmarks_of(rows: Rows | None) -> frozenset[Landmark]:
    """Return the landmarks on which a number depends."""
    if not isinstance(rows, Distance):
        return frozenset()
    return frozenset(landmark for landmark, _ in rows.factors)


def at(rows: Rows, positions: Mapping[Landmark, int]) -> int:
    """Return the number for landmarks at these positions."""
    if isinstance(rows, int):
        return rows
    return rows.rows + sum(factor * positions[mark] for mark, factor in rows.factors)


def follows_from(rows: Rows, zeros: Iterable[Rows]) -> bool:
    """Whether a number is zero wherever these are."""
    pivots: list[tuple[Landmark, Distance]] = []

    def reduced(number: Rows) -> Rows:
        for mark, pivot in pivots:
            factors = dict(number.factors) if isinstance(number, Distance) else {}
            if mark in factors:
                number = dict(pivot.factors)[mark] * number - factors[mark] * pivot
        return number

    for zero in zeros:
        left = reduced(zero)
        if isinstance(left, Distance):
            pivots.append((left.factors[0][0], left))
    return reduced(rows) == 0


def _sum(one: Rows, other: Rows, sign: int) -> Rows:
    factors: dict[Landmark, int] = {}
    total = 0
    for rows, times in ((one, 1), (other, sign)):
        if isinstance(rows, int):
            total += times * rows
            continue
        total += times * rows.rows
        for mark, factor in rows.factors:
            factors[mark] = factors.get(mark, 0) + times * factor
    return _rows(total, factors)


def _bound(rows: Iterable[Rows], choose: Callable[[Iterable[int]], int]) -> Rows:
    found = list(rows)
    constants = [each if isinstance(each, int) else each.rows for each in found]
    if all(isinstance(each, int) for each in found):
        return choose(constants)
    factors = [
        dict(each.factors) if isinstance(each, Distance) else {} for each in found
    ]
    landmarks = {landmark for own in factors for landmark in own}
    return _rows(
        choose(constants),
        {mark: choose(own.get(mark, 0) for own in factors) for mark in landmarks},
    )


def _rows(rows: int, factors: Mapping[Landmark, int]) -> Rows:
    left = tuple(sorted(each for each in factors.items() if each[1]))
    return Distance(rows, left) if left else rows
