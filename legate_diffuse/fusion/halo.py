# SPDX-License-Identifier: Apache-2.0
"""What a point of a launch must compute for its tile: overlapped tiling.

    nest 0: write %1[:], read %0[:-1], read %0[1:]    halo 0 1, reads %0 within 0 2
    nest 1: write %2[:], read %1[:-1], read %1[1:]    halo 0 0, reads %1 within 0 1

A tile lies between two places of an axis. What is written for others is written there,
and what comes before it is computed within a halo: so far from the tile's beginning,
and so far from its end. This follows from distances alone, back from the last nest.
Rows near an end of the leader are needed near that end only:

    nest 0: write %0[0], read %0[1]                   halo 0 0, reads %0 within 0 1
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from legate_diffuse.fusion.tile_axis import TileAxis
from legate_diffuse.ir import Access, Privilege
from legate_diffuse.ir.nest import Nest
from legate_diffuse.ir.relations import covers_store


class Halo(NamedTuple):
    """Distances from the beginning and from the end of a tile."""

    low: int
    high: int

    def moved(self, distance: int) -> Halo:
        """Return what lies so much farther on."""
        return Halo(self.low + distance, self.high + distance)

    def joined(self, other: Halo | None) -> Halo:
        """Return what holds both."""
        if other is None:
            return self
        return Halo(min(self.low, other.low), max(self.high, other.high))

    def within(self, low: int | None, high: int | None) -> Halo:
        """Return what of it is no farther away than these, if they are known."""
        return Halo(
            self.low if low is None else max(self.low, low),
            self.high if high is None else min(self.high, high),
        )

    @property
    def width(self) -> int:
        """How far it goes beyond the tile, on the side where it goes farthest."""
        return max(-self.low, self.high, 0)


NO_HALO = Halo(0, 0)


@dataclass(frozen=True, slots=True)
class Halos:
    """What points compute along one axis.

    Attributes:
        axis: the axis, with the places of the nests.
        results: what a point has of each store that others read later.
        nests: what each nest runs; None if it isn't on the axis, or nobody needs it.
        stores: what is used of each store, at any time.
        before: what is used of each store as it was before the launch.
        after: what is used of each store from the first nest on that changes it.
        shared: the nests that reduce for all points, and would do so more than once.
    """

    axis: TileAxis
    results: dict[int, Halo]
    nests: tuple[Halo | None, ...]
    stores: dict[int, Halo]
    before: dict[int, Halo]
    after: dict[int, Halo]
    shared: bool


def halos(
    nests: Sequence[Nest], axis: TileAxis, results: AbstractSet[int], leader: int | None
) -> Halos:
    """Return what a point computes for the tile that it has of the results.

    Args:
        nests: the nests, in their order, with their places on the axis.
        axis: see above.
        results: the stores that others read later.
        leader: the store whose tiles are those of the launch, if it is known yet.
    """
    own = {store: _tile_of(axis, store, leader) for store in results}
    need = {
        store: tile for store, tile in own.items() if axis.dims.get(store) is not None
    }
    # any result, as long as the leader is not known
    ends = leader if leader is not None else min(need, default=None)
    used = dict(need)
    after = dict(need)
    of_nests: list[Halo | None] = []
    shared = False
    for nest, placement in zip(reversed(nests), reversed(axis.placements), strict=True):
        if placement is None:
            of_nests.append(None)
            continue
        along = [
            (access, distance)
            for access, distance in zip(nest.accesses, placement.distances, strict=True)
            if isinstance(distance, int)
        ]
        halo: Halo | None = None
        for access, distance in along:
            wanted = need.get(access.view.store.id)
            if access.changes and wanted is not None:
                halo = wanted.moved(-distance).joined(halo)
        if any(_is_for_all(access, axis) for access in nest.accesses):
            rows = _own_rows(along, axis, leader)
            shared |= rows is None or halo not in (None, rows)
            halo = (rows or NO_HALO).joined(halo)
        if halo is not None and ends is not None:
            # a tile has rows, so none ends before the first or begins after the last
            halo = halo.within(*axis.beyond(placement, ends))
        of_nests.append(halo)
        if halo is None:
            continue
        for access, distance in along:
            store = access.view.store.id
            touched = halo.moved(distance)
            used[store] = touched.joined(used.get(store))
            if access.privilege & Privilege.WRITE and covers_store(access.view):
                need.pop(store, None)
        for access, distance in along:
            store = access.view.store.id
            if access.changes:
                after[store] = used[store]
            if access.privilege is not Privilege.WRITE:
                need[store] = halo.moved(distance).joined(need.get(store))
    return Halos(axis, own, tuple(reversed(of_nests)), used, need, after, shared)


def _tile_of(axis: TileAxis, store: int, leader: int | None) -> Halo:
    """Return what a point has of a result, which is divided as the leader is."""
    if leader is None:
        return NO_HALO
    begin, leaders = axis.begin(store), axis.begin(leader)
    if begin is None or leaders is None:
        return NO_HALO
    return NO_HALO.moved(begin - leaders)


def _is_for_all(access: Access, axis: TileAxis) -> bool:
    """Whether an access reduces what all points have together."""
    store = access.view.store
    return access.privilege is Privilege.REDUCE and (
        store.replicated or store.id in axis.partial
    )


def _own_rows(
    along: Sequence[tuple[Access, int]], axis: TileAxis, leader: int | None
) -> Halo | None:
    """Return the rows of a nest such that each belongs to one point."""
    for access, distance in along:
        store = access.view.store.id
        if leader is None or axis.within(store, leader):
            return NO_HALO.moved(-distance)
    return None
