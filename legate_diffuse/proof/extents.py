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
from legate_diffuse.proof.constraints import NEAREST, Constraints
from legate_diffuse.proof.instance import Instance

if TYPE_CHECKING:
    from collections.abc import Callable

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
        self._constraints = Constraints(window)
        self._counts = num_views, num_shapes

    def find(self, wanted: Wanted) -> Instance | None:
        """Return the window with some extents, None if none were found."""
        found = self._find(wanted)
        if found is None and self._constraints.apart != NEAREST:
            self._constraints = Constraints(self._window, NEAREST)
            found = self._find(wanted)
        return found

    def _find(self, wanted: Wanted) -> Instance | None:
        number = self._constraints.solve(
            lambda dim: wanted.columns if dim else wanted.rows, wanted.most
        )
        if number is None:
            return None
        return _instance(
            self._window, self._constraints, number, *self._counts, wanted.name
        )


def _instance(
    window: Window,
    constraints: Constraints,
    number: Callable[[Sum], int],
    num_views: int,
    num_shapes: int,
    name: str,
) -> Instance:
    extents = {
        store.id: tuple(
            number(constraints.extent(store.id, dim))
            for dim in range(constraints.ranks[store.id])
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
    for shape, rank in constraints.shape_ranks.items():
        shapes[shape] = tuple(
            number(constraints.extent_of_shape(shape, dim)) for dim in range(rank)
        )
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
                    number(constraints.at(view.store.id, dim, interval.low)),
                    number(constraints.at(view.store.id, dim, interval.high)),
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
