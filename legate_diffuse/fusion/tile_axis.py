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

from legate_diffuse.fusion.axis import Axis, Located, Touched
from legate_diffuse.ir import Privilege, View
from legate_diffuse.ir.nest import Nest
from legate_diffuse.ir.region import BEGIN, END, Endpoint

_BEGIN: Final = Endpoint(BEGIN, 0)
_END: Final = Endpoint(END, 0)


@dataclass(frozen=True, slots=True)
class TileAxis:
    """An axis, and the nests along it.

    Attributes:
        number: the dimension of the first nest's largest store.
        dims: of each store the dimension along the axis, None if it has none.
        axis: the places of stores.
        placements: where the nests are, in their order; None for one that is not on the
            axis, all of which every point runs.
        partial: the stores of which each point has a share of a sum, or the like.
        spread: how far apart what the nests touch is, summed; nobody needs rows that
            are farther from a tile.
    """

    number: int
    dims: dict[int, int | None] = field(default_factory=dict)
    axis: Axis = field(default_factory=Axis)
    placements: tuple[Located | None, ...] = ()
    partial: frozenset[int] = frozenset()
    spread: int = 0

    def joined(self, nest: Nest) -> TileAxis | None:
        """Return the axis with one nest more, None if the nest has no place on it."""
        arrays = [a for a in nest.accesses if not (a.whole or a.view.store.replicated)]
        views = [access.view for access in arrays]
        if any(view.store.id in self.partial for view in views):
            return None
        known = [
            (view, dim)
            for view in views
            if (dim := self.dims.get(view.store.id)) is not None
        ]
        loops = {view.dims.index(dim) for view, dim in known if dim in view.dims}
        # dimensions along the axis at which the nest has a single row
        standing = [dim for view, dim in known if dim not in view.dims]
        if not known:
            loops, standing = self._first_place(views)
        if len(loops) > 1 or (loops and standing):
            return None
        dims = dict(self.dims)
        if not (loops or standing):
            # all points would add what one of them is to add
            if any(
                a.whole or (a.privilege is Privilege.REDUCE and a.view.store.replicated)
                for a in nest.accesses
            ):
                return None
            for view in views:
                dims.setdefault(view.store.id, None)
            return self._beside(dims)
        loop = next(iter(loops), None)
        for view in views:
            dim = _dim_along(view, loop, next(iter(standing), None))
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
        place = self.axis.place(store, _BEGIN)
        return place.offset if place is not None and place.symbol is None else None

    def within(self, store: int, other: int) -> bool:
        """Whether all of a store is known to lie beside another one."""
        first, last = self._apart(store, other)
        if first is None or first < 0:
            return False
        return store == other or (last is not None and last <= 0)

    def fits(self, store: int, other: int) -> bool:
        """Whether a store is known to have at most as many rows as another one."""
        first, last = self._apart(store, other)
        if first is None or last is None:
            return store == other
        return last <= first

    def _apart(self, store: int, other: int) -> tuple[int | None, int | None]:
        """Return how far the ends of a store are behind those of another one."""
        place = self.axis.place
        ends = [(place(store, at), place(other, at)) for at in (_BEGIN, _END)]
        first, last = [one - two if one and two else None for one, two in ends]
        return first, last

    def beyond(self, placement: Located, leader: int) -> tuple[int | None, int | None]:
        """Return how far a nest's rows reach into a leader from both of its ends.

        Its first row, from the leader's last one, and its last row, from the leader's
        first one; None if that is unknown.
        """
        begin, end = self.axis.place(leader, _BEGIN), self.axis.place(leader, _END)
        first = None if end is None else self.axis.resolved(placement.first) - end
        last = None if begin is None else self.axis.resolved(placement.end) - begin
        return (
            None if first is None else first + 1,
            None if last is None else last - 1,
        )

    def _beside(self, dims: dict[int, int | None]) -> TileAxis:
        """Return the axis with a nest that is not on it."""
        return replace(self, dims=dims, placements=(*self.placements, None))

    def _first_place(self, views: list[View]) -> tuple[set[int], list[int]]:
        """Return where a nest is along the axis that uses nothing on it.

        The loop along the axis, or the dimension at which it has a single row, if any.
        """
        new = [v for v in views if v.store.id not in self.dims and v.region]
        largest = max(
            new,
            key=lambda v: (len(v.region or ()), self.number in v.dims),
            default=None,
        )
        if largest is None:
            return set(), []
        if self.number not in largest.dims:
            region = largest.region or ()
            stands = self.number < len(region) and region[self.number].point
            return set(), [self.number] if stands else []
        loop = largest.dims.index(self.number)
        if any(v.store.id in self.dims and v.dims[loop] >= 0 for v in views):
            return set(), []
        return {loop}, []

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
        located = next(self.axis.laid(loop, rows, complete=True), None)
        if located is None:
            return None
        known = [each for each in located.distances if isinstance(each, int)]
        return TileAxis(
            self.number,
            dims,
            located.axis,
            (*self.placements, located),
            partial,
            self.spread + (max(known) - min(known) if known else 0),
        )


def _dim_along(view: View, loop: int | None, standing: int | None) -> int | None:
    """Return the dimension of a view's store that lies along the axis of a loop."""
    if loop is not None:
        return view.dims[loop] if view.dims[loop] >= 0 else None
    region = view.region or ()
    if standing is None or standing >= len(region) or standing in view.dims:
        return None
    return standing if region[standing].point else None
