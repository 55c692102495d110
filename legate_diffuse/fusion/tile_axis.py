# SPDX-License-Identifier: Apache-2.0
"""Lays the nests of a launch along an axis that its points divide among themselves.

    nest: write %1[:, :], read %0[:-1, :], read %0[1:, :]    axis 0: distances 0 0 1
    nest: reduce %2[:], read %1[:, :]                        axis 0: distances 0 0

Each axis is a dimension of the first nest's largest store, and of whatever lies beside
it. A nest that has no place on an axis cannot be divided along it, and then none of the
launch is. Places along an axis are those of ``axis.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from legate_diffuse.fusion.axis import Axis, Place, Touched
from legate_diffuse.ir import Access, Privilege, View
from legate_diffuse.ir.nest import Nest
from legate_diffuse.ir.region import BEGIN, END, WHOLE, Endpoint

_BEGIN: Final = Endpoint(BEGIN, 0)
_END: Final = Endpoint(END, 0)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a nest is on an axis.

    Attributes:
        present: whether it is on the axis at all; else every point runs all of it.
        loop: its loop along the axis, None if it has a single row.
        distances: for each access how far what it touches is from the row, None if its
            store does not lie along the axis.
    """

    present: bool
    loop: int | None
    distances: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class TileAxis:
    """An axis, and the nests along it.

    Attributes:
        number: the dimension of the first nest's largest store.
        dims: of each store the dimension along the axis, None if it has none.
        axis: the places of stores.
        placements: of the nests, in their order.
        partial: the stores of which each point has a share of a sum, or the like.
        spread: how far apart what the nests touch is, summed; nobody needs rows that
            are farther from a tile.
    """

    number: int
    dims: dict[int, int | None] = field(default_factory=dict)
    axis: Axis = field(default_factory=Axis)
    placements: tuple[Placement, ...] = ()
    partial: frozenset[int] = frozenset()
    spread: int = 0

    def joined(self, nest: Nest) -> TileAxis | None:
        """Return the axis with one nest more, None if the nest has no place on it."""
        if nest.image:
            # what it runs is no part of the axis
            absent = Placement(False, None, (None,) * len(nest.accesses))
            return replace(self, placements=(*self.placements, absent))
        arrays = [a for a in nest.accesses if not (a.whole or a.view.store.replicated)]
        if any(a.view.store.id in self.partial for a in arrays):
            return None
        loop = self._loop(nest, [a.view for a in arrays])
        if loop == _NOWHERE or (
            loop == _ABSENT and any(a.whole for a in nest.accesses)
        ):
            return None
        dims = dict(self.dims)
        standing = self._standing(arrays)
        if loop == _ABSENT:
            # all points would add what one of them is to add
            if any(
                a.privilege is Privilege.REDUCE and a.view.store.replicated
                for a in nest.accesses
            ):
                return None
            for access in arrays:
                dims.setdefault(access.view.store.id, None)
            absent = Placement(False, None, (None,) * len(nest.accesses))
            return replace(self, dims=dims, placements=(*self.placements, absent))
        for access in arrays:
            view = access.view
            dim = _dim_along(view, loop, standing)
            if dims.setdefault(view.store.id, dim) != dim:
                return None
        partial = {
            a.view.store.id
            for a in arrays
            if a.changes and dims[a.view.store.id] is None
        }
        if any(
            a.view.store.id in partial
            and (a.privilege is not Privilege.REDUCE or a.view.store.id in self.dims)
            for a in arrays
        ):
            return None
        return self._placed(nest, loop, dims, self.partial | partial)

    def begin(self, store: int) -> int | None:
        """Return the place where a store begins."""
        place = self._place(store, _BEGIN)
        return place.offset if place is not None and place.symbol is None else None

    def within(self, store: int, other: int) -> bool:
        """Whether all of a store is known to lie beside another one."""
        begin, end = self.begin(store), self._place(store, _END)
        others_begin, others_end = self.begin(other), self._place(other, _END)
        if begin is None or others_begin is None or begin < others_begin:
            return False
        if store == other:
            return True
        if end is None or others_end is None:
            return False
        behind = end - others_end
        return behind is not None and behind <= 0

    def fits(self, store: int, other: int) -> bool:
        """Whether a store is known to have at most as many rows as another one."""
        begin, end = self._place(store, _BEGIN), self._place(store, _END)
        others_begin, others_end = self._place(other, _BEGIN), self._place(other, _END)
        if begin is None or others_begin is None or end is None or others_end is None:
            return store == other
        first, last = begin - others_begin, end - others_end
        return first is not None and last is not None and last <= first

    def _place(self, store: int, at: Endpoint) -> Place | None:
        return self.axis.place(store, at)

    def _standing(self, arrays: list[Access]) -> int | None:
        """Return the dimension along the axis at which a nest stands at one place."""
        for access in arrays:
            dim = self.dims.get(access.view.store.id)
            if dim is not None and dim not in access.view.dims:
                return dim
        return None

    def _loop(self, nest: Nest, views: list[View]) -> int | None:
        """Return the nest's loop along the axis, None if it has a single row there."""
        known = [v for v in views if self.dims.get(v.store.id) is not None]
        loops = {
            v.dims.index(self.dims[v.store.id])
            for v in known
            if self.dims[v.store.id] in v.dims
        }
        stands = any(self.dims[v.store.id] not in v.dims for v in known)
        if len(loops) > 1 or (loops and stands):
            return _NOWHERE
        if loops:
            return loops.pop()
        if stands:
            return None
        new = [v for v in views if v.store.id not in self.dims and v.region]
        largest = max(
            new,
            key=lambda v: (len(v.region or ()), self.number in v.dims),
            default=None,
        )
        if largest is None or self.number not in largest.dims:
            return _ABSENT
        loop = largest.dims.index(self.number)
        if any(v.store.id in self.dims and v.dims[loop] >= 0 for v in views):
            return _ABSENT
        return loop

    def _placed(
        self,
        nest: Nest,
        loop: int | None,
        dims: dict[int, int | None],
        partial: frozenset[int],
    ) -> TileAxis | None:
        along = [
            None if a.whole or a.view.store.replicated else dims[a.view.store.id]
            for a in nest.accesses
        ]
        rows: list[Touched | None] = []
        for view, dim in zip(nest.views, along, strict=True):
            if dim is None:
                rows.append(None)
            elif view.region is None:
                return None
            else:
                rows.append(Touched(view.store.id, view.region[dim]))
        extent = _extent(nest.shape)
        extends = loop == 0 and len(nest.views[0].dims) == 1
        if (
            extends
            and any(a.whole for a in nest.accesses)
            and not any(row and row.store in self.axis.stores for row in rows)
        ):
            # sums of rows lie where as many rows do, although they share no array
            rows.append(extent)
        for located, axis in self.axis.laid(loop, rows, complete=True):
            if extends:
                axis.lay(extent, located)
            distances = located.constant_distances[: len(nest.accesses)]
            placement = Placement(True, loop, distances)
            known = [each for each in distances if each is not None]
            spread = max(known) - min(known) if known else 0
            return replace(
                self,
                dims=dims,
                axis=axis,
                placements=(*self.placements, placement),
                partial=partial,
                spread=self.spread + spread,
            )
        return None


# Instead of a loop: the nest has no place on the axis, or has nothing to do with it.
_NOWHERE = -1
_ABSENT = -2


def _extent(shape: int) -> Touched:
    """Return what lies where the first nest does that has a single loop of a shape."""
    return Touched(-1 - shape, WHOLE)


def _dim_along(view: View, loop: int | None, standing: int | None) -> int | None:
    """Return the dimension of a view's store that lies along the axis of a loop."""
    if loop is not None:
        return view.dims[loop] if view.dims[loop] >= 0 else None
    region = view.region or ()
    if standing is None or standing >= len(region) or standing in view.dims:
        return None
    return standing if region[standing].point else None
