# SPDX-License-Identifier: Apache-2.0
"""Small extents for which all that is known of a window holds.

A plan knows of its window what the IR says, and nothing of extents, so it is right for
all extents if it is right for some that differ enough. What is known of regions is in
``ir/region.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, pairwise
from math import prod
from typing import TYPE_CHECKING, Any, Final

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
from legate_diffuse.kernel.dtypes import ITEMSIZE
from legate_diffuse.proof.instance import Instance
from legate_diffuse.proof.solver import Relations, Sum, variable

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from legate_diffuse.ir.store import Store, View
    from legate_diffuse.ir.window import Window

# What each landmark adds to the greatest extents.
_PER_LANDMARK: Final = 2 * NEAR + 8


@dataclass(frozen=True)
class Wanted:
    """Extents that are wanted where relations leave a choice.

    Attributes:
        rows: of the first dimension of stores.
        columns: of the others.
        name: of such extents.
        most: what no extent exceeds, beside what landmarks need.
    """

    rows: int
    columns: int
    name: str
    most: int = 96


@dataclass
class SmallLayout:
    """Which elements of its store a view shows."""

    shape: tuple[int, ...]
    dims: tuple[int, ...]
    low: tuple[int, ...]
    extents: tuple[int, ...]
    affine: bool = True
    # writers remember words here
    packed: bytes = b""


@dataclass(frozen=True)
class SmallType:
    """The type of a store's elements."""

    size: int


@dataclass(frozen=True)
class SmallRoot:
    """A store with extents, as writers of programs take it."""

    shape: tuple[int, ...]
    type: SmallType
    scalar_storage: bool

    @property
    def volume(self) -> int:
        """The number of elements."""
        return prod(self.shape)


@dataclass(frozen=True)
class SmallView:
    """A view of a store with extents, as writers of programs take it."""

    root: SmallRoot
    layout: SmallLayout = field(hash=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the view."""
        return self.layout.shape


class SmallInstances:
    """A window with small extents.

    Args:
        window: the window.
        num_views: how many views its key has; some may be alike.
        num_shapes: how many shapes its key has.
    """

    def __init__(self, window: Window, num_views: int, num_shapes: int) -> None:
        self._window = window
        self._system = _System(window)
        self._counts = num_views, num_shapes

    def find(self, wanted: Wanted) -> Instance | None:
        """Return the window with some extents, None if none were found."""
        values = self._system.solve(wanted)
        if values is None:
            return None
        return _instance(self._window, self._system, values, *self._counts, wanted.name)


def _instance(
    window: Window,
    system: _System,
    values: dict[Hashable, int],
    num_views: int,
    num_shapes: int,
    name: str,
) -> Instance:
    extents = {
        store.id: tuple(
            values["extent", store.id, dim] for dim in range(system.ranks[store.id])
        )
        for store in window.stores
    }
    roots = {
        store.id: SmallRoot(
            extents[store.id],
            SmallType(ITEMSIZE.get(store.dtype, 8)),
            store.replicated,
        )
        for store in window.stores
    }
    shapes: list[tuple[int, ...]] = [()] * num_shapes
    for shape, rank in system.shape_ranks.items():
        shapes[shape] = tuple(values["shape", shape, dim] for dim in range(rank))
    views: list[Any] = [None] * num_views
    stores = [0] * num_views
    for view in window.views:
        stores[view.id] = view.store.id
        own = shapes[view.shape]
        if view.region is None:
            count = len(extents[view.store.id])
            layout = SmallLayout(
                own, (), (0,) * count, extents[view.store.id], affine=False
            )
        else:
            ends = [
                (
                    system.at(view.store, dim, interval.low).at(values),
                    system.at(view.store, dim, interval.high).at(values),
                )
                for dim, interval in enumerate(view.region)
            ]
            layout = SmallLayout(
                own,
                tuple(max(dim, -1) for dim in view.dims),
                tuple(low for low, _ in ends),
                tuple(high - low for low, high in ends),
            )
        views[view.id] = SmallView(roots[view.store.id], layout)
    # views that show the same as others have the place of one of these
    first = next(view for view in views if view is not None)
    views = [first if view is None else view for view in views]
    return Instance(window, extents, views, stores, shapes, name)


class _System:
    """The relations of a window's extents.

    Variables are ``("extent", store, dim)``, ``("shape", shape, dim)`` and ``("mark",
    store, dim, landmark)``.
    """

    def __init__(self, window: Window) -> None:
        self.relations = Relations()
        self.ranks: dict[int, int] = {}
        self.shape_ranks: dict[int, int] = {}
        self._extents: dict[tuple[int, int], Sum] = {}
        self._shapes: dict[int, list[Sum]] = {}
        self._marks: dict[tuple[int, int], set[int]] = {}
        self._ranged: dict[tuple[int, int], set[int]] = {}
        self._points: dict[tuple[int, int], set[Endpoint]] = {}
        for view in window.views:
            self._add_ranks(view)
        for view in window.views:
            self._add(view)
        for store in window.stores:
            for dim, zones in enumerate(store.zones):
                self._add_zones(store, dim, zones)
        self._add_differences()

    def solve(self, wanted: Wanted) -> dict[Hashable, int] | None:
        """Return the extents and where landmarks are; None if none were found."""
        first: dict[Hashable, int] = {}
        for (store, dim), marks in self._marks.items():
            for place, mark in enumerate(sorted(marks)):
                first["mark", store, dim, mark] = POINTS_NEAR_END + place
        for store, rank in self.ranks.items():
            for dim in range(rank):
                first["extent", store, dim] = wanted.columns if dim else wanted.rows
        for shape, rank in self.shape_ranks.items():
            for dim in range(rank):
                first["shape", shape, dim] = wanted.columns if dim else wanted.rows
        total = max((len(marks) for marks in self._marks.values()), default=0)
        return self.relations.solve(first, wanted.most + _PER_LANDMARK * total)

    def at(self, store: Store, dim: int, end: Endpoint) -> Sum:
        """Return where a position is."""
        if end.landmark == BEGIN:
            return Sum(end.offset)
        if end.landmark == END:
            return self._extent(store.id, dim) + end.offset
        self._marks.setdefault((store.id, dim), set()).add(end.landmark)
        return variable(("mark", store.id, dim, end.landmark)) + end.offset

    def _extent(self, store: int, dim: int) -> Sum:
        key = store, dim
        if key not in self._extents:
            self._extents[key] = variable(("extent", store, dim))
        return self._extents[key]

    def _add_ranks(self, view: View) -> None:
        store = view.store.id
        if view.region is not None:
            self.ranks[store] = len(view.region)
            self.shape_ranks[view.shape] = len(view.dims)
        else:
            self.ranks.setdefault(store, 1)
            self.shape_ranks.setdefault(view.shape, 1)

    def _add(self, view: View) -> None:
        relations = self.relations
        own = self._shapes.get(view.shape)
        if own is None:
            rank = self.shape_ranks[view.shape]
            own = [variable(("shape", view.shape, dim)) for dim in range(rank)]
            self._shapes[view.shape] = own
            self._add_points(own, view.points)
        is_whole = all(interval == WHOLE for interval in view.region or ())
        if view.points is Points.NONE and not is_whole:
            # it keeps the elements that it showed before
            self._add_region(view)
            return
        if view.region is None:
            return
        self._add_region(view)
        for extent, dim in zip(own, view.dims, strict=True):
            if dim >= 0:
                interval = view.region[dim]
                relations.equal(extent, self._length(view, dim, interval))
            elif dim == SINGLE:
                relations.equal(extent, 1)
        for dim, interval in enumerate(view.region):
            if dim not in view.dims and not interval.point:
                relations.equal(self._length(view, dim, interval), Sum(1))

    def _add_points(self, extents: Sequence[Sum], points: Points) -> None:
        """Add what is known of the number of a shape's points."""
        relations = self.relations
        if points is Points.NONE:
            for extent in extents[:1]:
                relations.equal(extent, 0)
        elif points is Points.ONE:
            for extent in extents:
                relations.equal(extent, 1)
        else:
            several = Sum(-1 - len(extents))
            for extent in extents:
                relations.at_least(extent, 1)
                several = several + extent
            # some extent is more than 1
            relations.at_least(several, 0)

    def _length(self, view: View, dim: int, interval: Interval) -> Sum:
        if interval == WHOLE:
            return self._extent(view.store.id, dim)
        high = self.at(view.store, dim, interval.high)
        return high - self.at(view.store, dim, interval.low)

    def _add_region(self, view: View) -> None:
        """Add what is known of where the intervals of a view begin and end."""
        assert view.region is not None
        relations, store = self.relations, view.store
        for dim, interval in enumerate(view.region):
            if interval == WHOLE:
                continue
            extent = self._extent(store.id, dim)
            low = self.at(store, dim, interval.low)
            high = self.at(store, dim, interval.high)
            relations.at_least(extent, high)
            relations.at_least(low, 0)
            relations.at_least(high - low, 1)
            if interval.point:
                self._points.setdefault((store.id, dim), set()).add(interval.low)
                if dim == 0 and interval.low.landmark > END:
                    relations.at_least(low, POINTS_NEAR_END)
                    relations.at_least(extent - low, POINTS_NEAR_END + 1)
                if interval.low.landmark == END:
                    relations.at_least(low, POINTS_NEAR_END)
                continue
            for end, position in ((interval.low, low), (interval.high, high)):
                is_end = end == WHOLE.high
                if end.landmark > END:
                    self._ranged.setdefault((store.id, dim), set()).add(end.landmark)
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
                    apart = self._mark(store, dim, other) - self._mark(store, dim, one)
                    self.relations.at_least(apart, NEAR + 1)

    def _mark(self, store: Store, dim: int, landmark: int) -> Sum:
        return self.at(store, dim, Endpoint(landmark, 0))

    def _add_differences(self) -> None:
        """Let points that are written in different ways be different."""
        for (store, dim), points in self._points.items():
            marks = [p for p in points if p.landmark > END]
            for one, other in combinations(sorted(points), 2):
                if one in marks or other in marks:
                    self.relations.differ(
                        self._point(store, dim, one), self._point(store, dim, other)
                    )

    def _point(self, store: int, dim: int, end: Endpoint) -> Sum:
        if end.landmark == BEGIN:
            return Sum(end.offset)
        if end.landmark == END:
            return self._extent(store, dim) + end.offset
        return variable(("mark", store, dim, end.landmark)) + end.offset
