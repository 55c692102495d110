# SPDX-License-Identifier: Apache-2.0
"""Which nests points can run for their tiles, and whose tiles these are.

A launch is divided along those axes along which all of its nests have a place
(``tile_axis.py``): where a sum of each row is used in it, along rows only. Its points
have the tiles of one array, the leader; what else they write is divided as that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from legate_diffuse.fusion.few_rows import FEW, is_short_loop, row_loop
from legate_diffuse.fusion.halo import Halos, halos
from legate_diffuse.fusion.tile_axis import TileAxis
from legate_diffuse.ir import Privilege
from legate_diffuse.ir.nest import Nest

# To place a nest takes time in the number of those before it.
MAX_TILED_NESTS: Final = 96


@dataclass(frozen=True, slots=True, eq=False)
class Tiles:
    """Nests that points of a launch run, and the axes that divide them.

    ``changed`` are the arrays that the nests change, and ``gathered`` those of which
    points read elements to which indices point; no array is both.
    """

    nests: tuple[Nest, ...] = ()
    axes: tuple[TileAxis, ...] = ()
    changed: frozenset[int] = frozenset()
    gathered: frozenset[int] = frozenset()

    def joined(self, nest: Nest) -> Tiles | None:
        """Return the nests with one more, None if no axis divides them all."""
        if len(self.nests) >= MAX_TILED_NESTS:
            return None
        axes = self.axes
        if not self.nests:
            rank = max(
                (len(v.region or ()) for v in nest.views if not v.store.replicated),
                default=0,
            )
            axes = tuple(TileAxis(number) for number in range(rank))
        joined = [axis.joined(nest) for axis in axes]
        left = tuple(
            axis
            for axis in joined
            if axis is not None and any(dim is not None for dim in axis.dims.values())
        )
        gathered = self.gathered.union(
            a.view.store.id for a in nest.accesses if a.whole
        )
        changed = self.changed | _written(nest)
        # what points change is not there for others yet
        if not left or not changed.isdisjoint(gathered):
            return None
        tiles = Tiles((*self.nests, nest), left, changed, gathered)
        # Legate makes images along one dimension
        return None if gathered and max(tiles.ranks.values()) > 1 else tiles

    @property
    def divides_rows(self) -> bool:
        """Whether each point has some rows of the largest arrays."""
        return any(axis.number == 0 for axis in self.axes)

    @property
    def ranks(self) -> dict[int, int]:
        """How many dimensions each store has."""
        views = [view for nest in self.nests for view in nest.views]
        return {view.store.id: len(view.region or ()) for view in views}

    @property
    def has_few_rows(self) -> bool:
        """Whether all nests are along few rows."""
        return all(is_short_loop(row_loop(n.views), n.views) for n in self.nests)

    def is_near(self, results: AbstractSet[int], leader: int | None) -> bool:
        """Whether no point computes much that others compute, too."""
        return all(
            halo.width <= FEW
            for axis in self.axes
            if axis.spread > FEW
            for halo in halos(self.nests, axis, results, leader).stores.values()
        )


NO_NESTS: Final = Tiles()
"""The nests of a launch before it has any."""


def _written(nest: Nest) -> frozenset[int]:
    return frozenset(
        access.view.store.id
        for access in nest.accesses
        if access.changes and not access.view.store.replicated
    )


def leader_of(tiles: Tiles, arrays: Iterable[int]) -> int | None:
    """Return the store whose tiles are those of the points.

    The largest that is written, or else that is read, among those along all axes. One
    that is read, too, where points would else sum what others have summed already.
    """
    arrays = list(arrays)
    ranks = tiles.ranks
    along = [
        store
        for store in arrays
        if all(
            axis.dims.get(store) is not None and axis.begin(store) is not None
            for axis in tiles.axes
        )
    ]

    def rank(store: int) -> tuple[bool, int, int]:
        return _holds(tiles, store, arrays), ranks[store], -store

    written = [store for store in along if store in tiles.changed]
    best = max(written or along, key=rank, default=None)
    if written and not _adds_once(tiles, arrays, best):
        largest = max(along, key=rank)
        if _holds(tiles, largest, arrays) and _adds_once(tiles, arrays, largest):
            return largest
    return best


def _adds_once(tiles: Tiles, arrays: Iterable[int], leader: int | None) -> bool:
    """Whether no point adds to a sum of all what another one adds to it."""
    accesses = [access for nest in tiles.nests for access in nest.accesses]
    if not any(access.privilege is Privilege.REDUCE for access in accesses):
        return True
    changed = tiles.changed.intersection(arrays)
    return not any(
        halos(tiles.nests, axis, changed - axis.partial, leader).shared
        for axis in tiles.axes
    )


def _holds(tiles: Tiles, leader: int, arrays: Iterable[int]) -> bool:
    """Whether the tiles of an array are enough for all that is written."""
    return all(
        axis.fits(store, leader)
        for axis in tiles.axes
        for store in arrays
        if store in tiles.changed and axis.dims.get(store) is not None
    )


def leaders_of(tiles: Tiles, arrays: Sequence[int], leader: int) -> list[int]:
    """Return the arrays that lie along the axes as the leader does."""
    return [
        store
        for store in arrays
        if (store in tiles.changed) == (leader in tiles.changed)
        and all(
            axis.dims.get(store) is not None
            and axis.within(store, leader)
            and axis.within(leader, store)
            for axis in tiles.axes
        )
    ]


class Divided(NamedTuple):
    """Nests that points divide.

    Attributes:
        tiles: the nests, and the axes along which they are divided.
        leader: the store whose tiles are those of the points, None without any.
        along: for each axis what points compute.
    """

    tiles: Tiles
    leader: int | None
    along: tuple[Halos, ...]


def divide(nests: Sequence[Nest], scratch: AbstractSet[int]) -> Divided | None:
    """Return how points divide nests, None if no axis divides them all.

    ``scratch`` are the stores that live in the task.
    """
    tiles = NO_NESTS
    for nest in nests:
        if (joined := tiles.joined(nest)) is None:
            return None
        tiles = joined
    used = [a.view.store for nest in nests for a in nest.accesses]
    arrays = {s.id for s in used if not s.replicated} - scratch
    leader = leader_of(tiles, arrays)
    fitting = tuple(
        axis
        for axis in tiles.axes
        if leader is not None
        and all(axis.fits(s, leader) for s in tiles.changed - axis.partial - scratch)
    )
    # what lies at another place along one axis may be divided along the others
    if fitting and fitting != tiles.axes:
        tiles = replace(tiles, axes=fitting)
        leader = leader_of(tiles, arrays)
    along = [
        halos(nests, axis, tiles.changed - axis.partial - scratch, leader)
        for axis in tiles.axes
    ]
    return Divided(tiles, leader, tuple(along))
