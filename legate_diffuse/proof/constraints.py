# SPDX-License-Identifier: Apache-2.0
"""What is known of the extents of a window, as equations and inequalities.

Follows what ``ir/region.py`` promises of regions and their landmarks.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final

from legate_diffuse.ir.region import (
    BEGIN,
    END,
    NEAR,
    NEAR_END,
    POINTS_NEAR_END,
    SINGLE,
    WHOLE,
    Endpoint,
    Interval,
)
from legate_diffuse.ir.store import Points
from legate_diffuse.proof.solver import Relations, Sum, variable

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from legate_diffuse.ir.store import Store, View
    from legate_diffuse.ir.window import Window

# How far landmarks of ranges are apart at least, and so far that no position that is
# written with one of them is near another one.
NEAREST: Final = NEAR + 1
FAR_APART: Final = 2 * NEAR + 2
# What each landmark adds to the greatest extents.
_PER_LANDMARK: Final = FAR_APART + 8


class Constraints:
    """The relations of a window's extents.

    What a view shows as a whole has the extents of its shape, so that few variables
    are left.

    Args:
        window: the window.
        apart: how far landmarks are apart at least that are in order.

    Attributes:
        ranks: how many dimensions each store has.
        shape_ranks: how many each shape has.
        apart: see above.
    """

    def __init__(self, window: Window, apart: int = FAR_APART) -> None:
        self.apart = apart
        self.ranks: dict[int, int] = {}
        self.shape_ranks: dict[int, int] = {}
        self._relations = Relations()
        self._extents: dict[tuple[int, int], Sum] = {}
        self._shapes: dict[tuple[int, int], Sum] = {}
        # the landmarks of ranges
        self._ranged: dict[tuple[int, int], set[int]] = {}
        # dimensions of shapes along which views repeat more than one element
        self._repeated: set[tuple[int, int]] = set()
        self._marks: dict[tuple[int, int], set[int]] = {}
        # with which offsets each landmark of a dimension is written
        self._offsets: dict[tuple[int, int, int], set[int]] = {}
        self._points: dict[tuple[int, int], set[Endpoint]] = {}
        views = window.views
        for view in views:
            self._add_ranks(view)
        for view in views:
            self._add(view)
        for store_id, rank in self.ranks.items():
            for dim in range(rank):
                self.extent(store_id, dim)
        for shape, points in {view.shape: view.points for view in views}.items():
            self._add_points(shape, points)
        for store in window.stores:
            if store.replicated:
                # it has one element
                for dim in range(self.ranks[store.id]):
                    self._relations.equal(self.extent(store.id, dim), 1)
            for dim, zones in enumerate(store.zones):
                self._add_zones(store, dim, zones)
        self._add_differences()

    def solve(
        self, wanted: Callable[[int], int], most: int
    ) -> dict[Hashable, int] | None:
        """Return numbers for all variables; None if no extents were found.

        Args:
            wanted: returns what the extent along a dimension should be if it can.
            most: what no extent exceeds, beside what landmarks need.
        """
        first: dict[Hashable, int] = {}
        for (store, dim), marks in self._marks.items():
            for place, mark in enumerate(sorted(marks)):
                first["mark", store, dim, mark] = POINTS_NEAR_END + place
        for kind, sums in (("extent", self._extents), ("shape", self._shapes)):
            for (number, dim), extent in sums.items():
                name = kind, number, dim
                if extent == variable(name):
                    first[name] = wanted(dim)
        total = max((len(marks) for marks in self._marks.values()), default=0)
        return self._relations.solve(first, most + _PER_LANDMARK * total)

    def extent(self, store: int, dim: int) -> Sum:
        """Return the extent of a store along a dimension."""
        return _remembered(self._extents, "extent", store, dim)

    def extent_of_shape(self, shape: int, dim: int) -> Sum:
        """Return the extent of a shape along a dimension."""
        return _remembered(self._shapes, "shape", shape, dim)

    def at(self, store: int, dim: int, end: Endpoint) -> Sum:
        """Return where a position is."""
        if end.landmark == BEGIN:
            return Sum(end.offset)
        if end.landmark == END:
            return self.extent(store, dim) + end.offset
        self._marks.setdefault((store, dim), set()).add(end.landmark)
        self._offsets.setdefault((store, dim, end.landmark), set()).add(end.offset)
        return variable(("mark", store, dim, end.landmark)) + end.offset

    def _add_ranks(self, view: View) -> None:
        store = view.store.id
        for dim, (low, high, is_point) in enumerate(view.region or ()):
            if not is_point:
                ranged = self._ranged.setdefault((store, dim), set())
                ranged |= {end.landmark for end in (low, high) if end.landmark > END}
        if view.region is not None:
            self.ranks[store] = len(view.region)
            self.shape_ranks[view.shape] = len(view.dims)
        else:
            self.ranks.setdefault(store, 1)
            self.shape_ranks.setdefault(view.shape, 1)

    def _add(self, view: View) -> None:
        """Add what a view tells of the extents of its store and of its shape."""
        if view.region is None:
            if view.points is not Points.NONE:
                # nobody knows which elements it shows, but there are some
                for dim in range(self.ranks[view.store.id]):
                    self._relations.at_least(self.extent(view.store.id, dim), 1)
            return
        self._add_region(view)
        if view.points is Points.NONE and any(i != WHOLE for i in view.region):
            # it keeps the elements that it showed before
            return
        for loop, dim in enumerate(view.dims):
            if dim >= 0:
                self._show(view, loop, dim, view.region[dim])
            elif dim == SINGLE:
                self._equal(view.shape, loop, Sum(1))
            elif view.points is not Points.NONE:
                self._repeated.add((view.shape, loop))
        for dim, interval in enumerate(view.region):
            if dim not in view.dims and not interval.point:
                length = self._length(view, dim, interval)
                self._relations.equal(length, 1)

    def _show(self, view: View, loop: int, dim: int, interval: Interval) -> None:
        """Let a shape be as long as what a view shows along a dimension."""
        of_shape = self._shapes.get((view.shape, loop))
        key = view.store.id, dim
        if interval == WHOLE and of_shape is not None and key not in self._extents:
            self._extents[key] = of_shape
        else:
            self._equal(view.shape, loop, self._length(view, dim, interval))

    def _equal(self, shape: int, loop: int, length: Sum) -> None:
        known = self._shapes.setdefault((shape, loop), length)
        if known != length:
            self._relations.equal(known, length)

    def _add_points(self, shape: int, points: Points) -> None:
        """Add what is known of the number of a shape's points."""
        relations = self._relations
        rank = self.shape_ranks[shape]
        extents = [self.extent_of_shape(shape, dim) for dim in range(rank)]
        if points is Points.NONE:
            for extent in extents[:1]:
                relations.equal(extent, 0)
        elif points is Points.ONE:
            for extent in extents:
                relations.equal(extent, 1)
        else:
            several = Sum(-1 - len(extents))
            for dim, extent in enumerate(extents):
                relations.at_least(extent, 2 if (shape, dim) in self._repeated else 1)
                several = several + extent
            # some extent is more than 1
            relations.at_least(several, 0)

    def _length(self, view: View, dim: int, interval: Interval) -> Sum:
        if interval == WHOLE:
            return self.extent(view.store.id, dim)
        high = self.at(view.store.id, dim, interval.high)
        return high - self.at(view.store.id, dim, interval.low)

    def _add_region(self, view: View) -> None:
        """Add what is known of where the intervals of a view begin and end."""
        assert view.region is not None
        relations, store = self._relations, view.store.id
        for dim, interval in enumerate(view.region):
            if interval == WHOLE:
                continue
            extent = self.extent(store, dim)
            low = self.at(store, dim, interval.low)
            high = self.at(store, dim, interval.high)
            relations.at_least(extent, high)
            relations.at_least(low, 0)
            relations.at_least(high - low, 1)
            if interval.point:
                # else it would be written as all of its dimension
                relations.at_least(extent, 2)
                self._points.setdefault((store, dim), set()).add(interval.low)
                ranged = self._ranged.get((store, dim), ())
                if interval.low.landmark > END and (
                    dim == 0
                    # unless it was seen before the range
                    or (interval.low.landmark in ranged and self.apart == FAR_APART)
                ):
                    relations.at_least(low, POINTS_NEAR_END)
                    relations.at_least(extent - low, POINTS_NEAR_END + 1)
                if interval.low.landmark == END:
                    relations.at_least(low, POINTS_NEAR_END)
                continue
            for end, position in ((interval.low, low), (interval.high, high)):
                is_end = end == WHOLE.high
                if end.landmark > END:
                    relations.at_least(extent - position, NEAR_END + 1)
                if end.landmark != BEGIN and not is_end:
                    relations.at_least(position, NEAR_END + 1)
            if interval.high.landmark == BEGIN:
                # else it would be written as the end
                relations.at_least(extent - high, 1)

    def _add_zones(
        self, store: Store, dim: int, zones: Sequence[Sequence[int]]
    ) -> None:
        for before, after in pairwise(zones):
            for one in before:
                for other in after:
                    apart = self._mark(store, other, dim) - self._mark(store, one, dim)
                    self._relations.at_least(apart, self.apart)
                    if {one, other} <= self._ranged.get((store.id, dim), set()):
                        # what is near the first one of them is written with it
                        offsets = self._offsets[store.id, dim, max(one, other)]
                        nearest = min(offsets) if other > one else -max(offsets)
                        self._relations.at_least(apart + nearest, NEAREST)

    def _mark(self, store: Store, landmark: int, dim: int) -> Sum:
        return self.at(store.id, dim, Endpoint(landmark, 0))

    def _add_differences(self) -> None:
        """Let points that are written in different ways be different."""
        for (store, dim), points in self._points.items():
            marks = [p for p in points if p.landmark > END]
            for one, other in combinations(sorted(points), 2):
                if one in marks or other in marks:
                    self._relations.differ(
                        self.at(store, dim, one), self.at(store, dim, other)
                    )


def _remembered(
    memory: dict[tuple[int, int], Sum], kind: str, number: int, dim: int
) -> Sum:
    key = number, dim
    if key not in memory:
        memory[key] = variable((kind, number, dim))
    return memory[key]
