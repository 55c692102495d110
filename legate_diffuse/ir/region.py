# SPDX-License-Identifier: Apache-2.0
"""Regions: which elements of a store a view shows, without any extent.

Along each dimension of its store a view shows an interval. Its ends are written as
landmarks and small offsets: ``BEGIN`` and ``END`` of the dimension, and free landmarks,
which are wherever the program has put them: in ``A[k + 1:, k]`` the rows begin at a
landmark, one after the one that ``A[k, k]`` shows. So a loop over k has one plan.

What is known of landmarks is what the encoder (``ir/landmarks.py``) promises:

- Where a range ends with its dimension, that is written with ``END``. Else its ends are
  written with ``BEGIN`` where they are within ``NEAR_END`` of it, else with ``END``
  where they are within as much of that. A point is written with them where it is one of
  the first or last two; along another dimension than the first one only after a range.
- What is within ``NEAR`` of a landmark of a range is written with it. So landmarks that
  are in order are farther apart than that. A point has a landmark of its own where no
  range is near, so that ``A[:, j]`` and ``A[:, k]`` have one plan wherever they are.
  Points that are written differently are different.
- The order of landmarks is known up to points that no range separates. What is written
  with one of them lies before what is written with the next.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final, NamedTuple

NEAR_END: Final = 2
NEAR: Final = 16
POINTS_NEAR_END: Final = 2

BEGIN: Final = -2
END: Final = -1

# What a loop may run along beside dimensions of the store: the view repeats its
# elements, or has one only.
REPEATED: Final = -1
SINGLE: Final = -2


class Endpoint(NamedTuple):
    """A position along a dimension: ``BEGIN``, ``END`` or a free landmark, and more.

    Free landmarks are numbered, for each dimension of a store, as they appear.
    """

    landmark: int
    offset: int

    def __add__(self, distance: int) -> Endpoint:  # type: ignore[override]
        return Endpoint(self.landmark, self.offset + distance)


class Interval(NamedTuple):
    """The positions from ``low`` up to, but not including, ``high``.

    ``point`` tells a single position along which the view has no dimension; one that
    is all of its dimension is written as a range.
    """

    low: Endpoint
    high: Endpoint
    point: bool = False


Region = tuple[Interval, ...]


class Zones(tuple[tuple[int, ...], ...]):
    """What is known of the order of landmarks along one dimension.

    Those of one zone are only known to be different, and lie before those of the next
    zone. No zones stand for a single one.
    """

    @cached_property
    def ranks(self) -> dict[int, int]:
        """The numbers of zones by their landmarks."""
        return {landmark: rank for rank, zone in enumerate(self) for landmark in zone}


WHOLE: Final = Interval(Endpoint(BEGIN, 0), Endpoint(END, 0))


def point(low: Endpoint) -> Interval:
    """Return the interval of a single position."""
    return Interval(low, low + 1, point=True)
