# SPDX-License-Identifier: Apache-2.0
"""Gives points a copy of their own of what others read while they change it.

Two nests of a launch on several points, ``g[1:-1] = w``, where ``w`` is of ``g``:

    nest 0: write %1[:], read %0[:-2], read %0[2:]
    nest 1: write %0[1:-1], read %1[:]

A point may not write what another one still reads beside its own tile. So it writes a
fresh store, which takes the place of the old one when the task was submitted:

    nest 0: write %1[:], read %0[:-2], read %0[2:]
    nest 2: write %2[:], read %0[:]
    nest 1: write %2[1:-1], read %1[:]

If what was written is read at a distance afterwards, too, it is computed in scratch
memory, for the tile and beyond it, and copied from there. What nobody uses after the
launch stays in scratch memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import NamedTuple

from legate_diffuse.fusion.gathered import compute_gathered
from legate_diffuse.fusion.localized import Localized
from legate_diffuse.fusion.lowering import LoweredNest
from legate_diffuse.fusion.nest_rewriter import NestRewriter
from legate_diffuse.fusion.nests import nests_of
from legate_diffuse.fusion.reach import Reach, Reaches, own_of, reaches
from legate_diffuse.fusion.tile_axis import TileAxis
from legate_diffuse.fusion.tile_nests import Tiles, leader_of
from legate_diffuse.ir import Points, Store, View
from legate_diffuse.ir.privilege import READ, WRITE
from legate_diffuse.ir.region import WHOLE
from legate_diffuse.ir.relations import covers_store
from legate_diffuse.kernel.copying import copying


def localize(
    nests: Sequence[LoweredNest],
    views: Mapping[int, View],
    scratch: AbstractSet[int],
    undefined: AbstractSet[int],
    incomplete: AbstractSet[int],
    last: AbstractSet[int],
    numbers: Iterator[int],
) -> Localized | None:
    """Return nests whose points do not write what others read.

    None if that cannot be, as an array may not move to another store, or be copied.

    Args:
        nests: the nests.
        views: what they use, by number.
        scratch: the stores that live in the task.
        undefined: the stores that nothing was written to before.
        incomplete: the stores of which only parts may have been written before.
        last: the stores that nobody uses afterwards.
        numbers: gives numbers to new stores and views.
    """
    placer = _Placer(scratch)
    again = compute_gathered(nests, views, numbers)
    start = again and placer.place(again)
    if start is None:
        return None
    along = placer.reaches(start)
    ways = _crossed(along)
    if not ways:
        return _without_unneeded(start, along, placer)
    fixed = {view.store.id for view in views.values() if view.store.fixed}
    found = start
    for store, way in sorted(ways.items()):
        if store in last:
            way = _Way(False, True)
        if (way.moves and store in fixed) or store in start.origins:
            return None
        localizer = _Localizer(found, store, numbers)
        if store in incomplete and localizer.copies:
            return None
        found = localizer.run(
            way, defined=store not in undefined, returns=store not in last
        )
    placed = placer.place(found)
    if placed is None:
        return None
    along = placer.reaches(placed)
    return None if _crossed(along) else _without_unneeded(placed, along, placer)


class _Along(NamedTuple):
    """What points compute along an axis, and what they have of results."""

    axis: TileAxis
    reaches: Reaches
    results: Mapping[int, Reach]


def _without_unneeded(
    found: Localized, along: Sequence[_Along], placer: _Placer
) -> Localized:
    """Drop nests that only write scratch memory that nobody reads."""
    needed = {
        place
        for axis, computed, _ in along
        for place, reach in enumerate(computed.nests)
        if reach is not None or not axis.placements[place].present
    }
    if len(needed) == len(found.nests):
        return found
    nests = tuple(nest for place, nest in enumerate(found.nests) if place in needed)
    return placer.place(replace(found, nests=nests)) or found


class _Way(NamedTuple):
    """Whether a store moves, and whether it is computed in scratch memory."""

    moves: bool
    in_scratch: bool

    def joined(self, other: _Way | None) -> _Way:
        """Return what does both."""
        if other is None:
            return self
        moves = self.moves or other.moves
        return _Way(moves, self.in_scratch or other.in_scratch)


class _Placer:
    """Places nests that begin as others did, which need not be placed again."""

    def __init__(self, scratch: AbstractSet[int]) -> None:
        self._scratch = scratch
        self._nests: list[LoweredNest] = []
        # before each of the nests, and after the last one
        self._tiles = [Tiles()]

    def place(self, found: Localized) -> Localized | None:
        """Return nests that know where they are; None if that is nowhere."""
        same = 0
        for one, other in zip(found.nests, self._nests, strict=False):
            if one is not other:
                break
            same += 1
        del self._nests[same:], self._tiles[same + 1 :]
        for number in range(same, len(found.nests)):
            (nest,) = nests_of(found.nests[number : number + 1], found.views)
            tiles = self._tiles[-1].joined(replace(nest, number=number))
            if tiles is None:
                return None
            self._nests.append(found.nests[number])
            self._tiles.append(tiles)
        return replace(found, tiles=self._tiles[-1])

    def reaches(self, found: Localized) -> list[_Along]:
        """Return what points compute along each axis of nests that are placed."""
        tiles = found.tiles
        assert tiles is not None, "the nests are placed"
        local = self._scratch | found.scratch
        used = {view.store for nest in tiles.nests for view in nest.views}
        arrays = {store.id for store in used if not store.replicated} - local
        leader = leader_of(tiles, arrays)
        along = []
        for axis in tiles.axes:
            results = tiles.changed - axis.partial - local
            computed = reaches(tiles.nests, axis, results, leader)
            own = {store: own_of(axis, store, leader) for store in results}
            along.append(_Along(axis, computed, own))
        return along


def _crossed(along: Sequence[_Along]) -> dict[int, _Way]:
    """Return the arrays that points change, and use beside their own tiles.

    What is used so as it was before must move, and what is used so afterwards must be
    computed in scratch memory.
    """
    crossed: dict[int, _Way] = {}
    for _, computed, results in along:
        for store, own in results.items():
            way = _Way(
                computed.before.get(store, own).joined(own) != own,
                computed.after.get(store, own) != own,
            )
            if any(way):
                crossed[store] = way.joined(crossed.get(store))
    return crossed


class _Localizer(NestRewriter):
    """Gives points a copy of their own of one store."""

    def __init__(self, found: Localized, store: int, numbers: Iterator[int]) -> None:
        super().__init__(found.nests, found.views, numbers, found.shown)
        self._found = found
        self._old = next(v.store for v in self._views.values() if v.store.id == store)

    @property
    def copies(self) -> bool:
        """Whether the first nest that changes the store leaves anything as it was."""
        return not self._is_covered(self._nests[self._first()])

    def run(self, way: _Way, *, defined: bool, returns: bool) -> Localized:
        """Return the nests with a copy in scratch memory, in a fresh store, or both.

        What was never written to is not copied: Legion ends programs that read it. What
        is in scratch memory in the end is copied from there only if it ``returns``.
        """
        found, old = self._found, self._old
        first = self._first()
        target = self._store() if way.moves else old
        local = self._store() if way.in_scratch else target
        before = self._nests[:first]
        after = [self._renamed(nest, local) for nest in self._nests[first:]]
        if defined and self.copies:
            before.append(self._copy(local, old))
        if way.in_scratch and returns:
            after.append(self._copy(target, local))
        return replace(
            found,
            nests=(*before, *after),
            views=self._views,
            shown=self._shown,
            origins=found.origins
            | {new.id: old.id for new in (target, local) if new is not old},
            scratch=found.scratch | ({local.id} if way.in_scratch else set()),
        )

    def _first(self) -> int:
        """Return the place of the first nest that changes the store."""
        return next(n for n, nest in enumerate(self._nests) if self._changes(nest))

    def _store(self) -> Store:
        return replace(self._old, id=next(self._numbers), live=False, undefined=True)

    def _changes(self, nest: LoweredNest) -> bool:
        return any(
            self._views[view].store.id == self._old.id and privilege != READ
            for view, privilege in nest.accesses
        )

    def _is_covered(self, nest: LoweredNest) -> bool:
        """Whether a nest writes all of the store, and reads nothing of it."""
        own = [
            (self._views[view], privilege)
            for view, privilege in nest.accesses
            if self._views[view].store.id == self._old.id
        ]
        return all(p == WRITE for _, p in own) and any(covers_store(v) for v, _ in own)

    def _renamed(self, nest: LoweredNest, store: Store) -> LoweredNest:
        arguments = tuple(
            self._view(number, store)
            if self._views[number].store.id == self._old.id
            else number
            for number in nest.arguments
        )
        return replace(nest, arguments=arguments)

    def _copy(self, target: Store, source: Store) -> LoweredNest:
        """Return a nest that copies all of a store."""
        like = next(v for v in self._views.values() if v.store.id == self._old.id)
        rank = len(like.region or ())
        shape = next(self._numbers)
        numbers = []
        for store in (target, source):
            view = View(
                next(self._numbers),
                store,
                shape,
                Points.MANY,
                (WHOLE,) * rank,
                tuple(range(rank)),
            )
            self._views[view.id] = view
            self._shown[view.id] = self._shown.get(like.id, like.id)
            numbers.append(view.id)
        kernel = copying(self._old.dtype)
        privileges = bytes((WRITE, READ))
        return LoweredNest(
            (), kernel, shape, tuple(numbers), privileges, (), whole=True
        )
