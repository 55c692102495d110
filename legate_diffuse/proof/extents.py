# SPDX-License-Identifier: Apache-2.0
"""Small extents for which all that is known of a window holds.

A plan knows of its window what the IR says, and nothing of extents, so it is right for
all extents if it is right for some that differ enough. What is known of regions is in
``ir/region.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

from legate_diffuse.kernel.dtypes import ITEMSIZE
from legate_diffuse.proof.constraints import FAR_APART, NEAREST, Constraints
from legate_diffuse.proof.instance import Instance

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from legate_diffuse.ir.store import View
    from legate_diffuse.ir.window import Window
    from legate_diffuse.proof.solver import Sum


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
        self._counts = num_views, num_shapes
        self._places = _Places(window, FAR_APART)
        # by the numbers of all variables
        self._found: dict[tuple[int, ...], Instance] = {}

    def find(self, wanted: Wanted) -> Instance | None:
        """Return the window with some extents, None if none were found.

        It is one object for all wishes that the same extents come closest to.
        """
        found = self._find(wanted)
        if found is None and self._places.constraints.apart != NEAREST:
            self._places = _Places(self._window, NEAREST)
            self._found.clear()
            found = self._find(wanted)
        return found

    def _find(self, wanted: Wanted) -> Instance | None:
        values = self._places.constraints.solve(
            lambda dim: wanted.columns if dim else wanted.rows, wanted.most
        )
        if values is None:
            return None
        key = tuple(values.values())
        if key not in self._found:
            self._found[key] = _instance(
                self._places, values, *self._counts, wanted.name
            )
        return self._found[key]


Sums = tuple["Sum", ...]


class _Places:
    """Where everything in a window is, for numbers that are not known yet.

    Args:
        window: the window.
        apart: how far landmarks are apart at least.

    Attributes:
        window: the window.
        constraints: what holds of the numbers.
        stores: the extents of each store.
        shapes: those of each shape.
        views: the first places of each view, and those behind the last ones, along each
            dimension of its store; None if nobody knows.
    """

    def __init__(self, window: Window, apart: int) -> None:
        self.window = window
        self.constraints = constraints = Constraints(window, apart)
        self.stores: dict[int, Sums] = {
            store.id: tuple(
                constraints.extent(store.id, dim)
                for dim in range(constraints.ranks[store.id])
            )
            for store in window.stores
        }
        self.shapes: dict[int, Sums] = {
            shape: tuple(constraints.extent_of_shape(shape, dim) for dim in range(rank))
            for shape, rank in constraints.shape_ranks.items()
        }
        self.views: list[tuple[View, tuple[Sums, Sums] | None]] = [
            (view, self._ends(view)) for view in window.views
        ]

    def _ends(self, view: View) -> tuple[Sums, Sums] | None:
        if view.region is None:
            return None
        at, store = self.constraints.at, view.store.id
        return (
            tuple(at(store, dim, each.low) for dim, each in enumerate(view.region)),
            tuple(at(store, dim, each.high) for dim, each in enumerate(view.region)),
        )


def _instance(
    places: _Places,
    values: Mapping[Hashable, int],
    num_views: int,
    num_shapes: int,
    name: str,
) -> Instance:
    def numbers(sums: Sums) -> tuple[int, ...]:
        return tuple([each.at(values) for each in sums])

    extents = {store: numbers(sums) for store, sums in places.stores.items()}
    roots = {
        store.id: SmallRoot(
            extents[store.id],
            SmallType(ITEMSIZE.get(store.dtype, 8)),
            store.replicated,
        )
        for store in places.window.stores
    }
    shapes: list[tuple[int, ...]] = [()] * num_shapes
    for shape, sums in places.shapes.items():
        shapes[shape] = numbers(sums)
    views: list[Any] = [None] * num_views
    stores = [0] * num_views
    for view, ends in places.views:
        store = view.store.id
        stores[view.id] = store
        own = shapes[view.shape]
        if ends is None:
            count = len(extents[store])
            layout = SmallLayout(own, (), (0,) * count, extents[store], affine=False)
        else:
            low, high = map(numbers, ends)
            layout = SmallLayout(
                own,
                tuple([max(dim, -1) for dim in view.dims]),
                low,
                tuple([end - begin for begin, end in zip(low, high, strict=True)]),
            )
        views[view.id] = SmallView(roots[store], layout)
    # views that show the same as others have the place of one of these
    first = next(view for view in views if view is not None)
    views = [first if view is None else view for view in views]
    return Instance(places.window, extents, views, stores, shapes, name)
