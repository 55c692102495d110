# SPDX-License-Identifier: Apache-2.0
"""Launches of several nests, each point of which computes what its tile needs.

What lies between the nests lives in the task, and is computed by each point for its
tile and as far beyond it as others of its nests read (``reach.py``). Which nests may
share a launch is in ``tile_nests.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from legate_diffuse.fusion.few_rows import FEW
from legate_diffuse.fusion.passed import Passed, indices_of
from legate_diffuse.fusion.reach import OWN, Reach, Reaches, own_of, reaches
from legate_diffuse.fusion.tile_axis import TileAxis
from legate_diffuse.fusion.tile_nests import (
    Tiles,
    leader_of,
    leaders_of,
)
from legate_diffuse.ir import Privilege, Store
from legate_diffuse.ir.nest import Nest
from legate_diffuse.ir.relations import shows_store


class Tile(NamedTuple):
    """Along an axis: what lies near a tile, of a scratch buffer or of a nest.

    Attributes:
        dim: the dimension of the buffer or the loop of the nest along the axis; None if
            the nest has a single row there, and runs where its tile has it.
        low: where it begins, in rows from the beginning of the tile.
        high: where it ends, in rows from the end of the tile.
        view: the number of the nest's view from whose beginning both ends count, None
            for a view of all of its root.
        along: the dimension of that root along the axis.
    """

    dim: int | None
    low: int
    high: int
    view: int | None = None
    along: int = 0


class Held(NamedTuple):
    """What a point has of an argument, of a scratch buffer or of a nest: an image.

    Attributes:
        argument: the number of that argument.
        also: of a buffer the number of an argument that has the same elements for the
            tile in the end, None without any; of a nest its place among those that run
            for images.
    """

    argument: int
    also: int | None


Extent = Tile | Held | None
"""What a point has, or runs, along an axis; None is all of it."""


class TiledArgument(NamedTuple):
    """An argument of a tiled launch.

    Attributes:
        dims: the common dimensions of its root's.
        reaches: what a point has of it along each axis, beyond its tile.
        image_of: the number of the argument whose image a point has instead, None
            without any.
        everywhere: whether points have all of it.
    """

    dims: tuple[int, ...]
    reaches: tuple[Reach, ...]
    image_of: int | None = None
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class Tiling:
    """How the points of a launch divide its nests.

    Attributes:
        leaders: the arguments that have the same tiles; the points have those of the
            one that is largest along the other dimensions.
        largest: the argument that has all dimensions that arguments have in common.
        axes: the dimensions that the tiles divide.
        arguments: see above.
        again: which argument is passed once more, behind all others, since the points
            have its tiles, but read beyond them.
        shared: of which arguments each point has a share, of a sum or the like.
        buffers: for each scratch buffer what it is along each axis.
        nests: for each nest what it is along each axis.
    """

    leaders: tuple[int, ...]
    largest: int
    axes: tuple[int, ...]
    arguments: tuple[TiledArgument, ...]
    again: int | None
    shared: tuple[bool, ...]
    buffers: tuple[tuple[Extent, ...], ...]
    nests: tuple[tuple[Extent, ...], ...]


def tile(
    tiles: Tiles,
    arguments: Sequence[Passed],
    scratch: Sequence[Store],
    stores: Mapping[int, Store],
) -> Tiling | None:
    """Return how points divide nests over these arguments and scratch buffers.

    None if it isn't known that they may. ``stores`` are those of the arguments, by
    number.
    """
    nests = tiles.nests
    ranks = {v.store.id: len(v.region or ()) for nest in nests for v in nest.views}
    near = [each.store for each in arguments if not each.gathered]
    arrays = [store for store in near if not stores[store].replicated]
    leader = leader_of(tiles, arrays)
    if leader is None:
        return None
    changed = tiles.changed & set(arrays)
    reaches_along = []
    for axis in tiles.axes:
        results = changed - axis.partial
        along = reaches(tiles.nests, axis, results, leader)
        if not _is_sound(axis, along, tiles.nests, results, arrays, leader):
            return None
        reaches_along.append(along)
    dims = _common_dims(tiles.axes, arrays, ranks)
    if dims is None:
        return None
    largest = max(arrays, key=lambda store: ranks[store])
    places = {passed: place for place, passed in enumerate(arguments)}
    reduced = {
        access.view.store.id
        for nest in nests
        for access in nest.accesses
        if access.privilege is Privilege.REDUCE
    }
    held = _held(nests, places)
    imaged = [number for number, nest in enumerate(nests) if nest.image]
    nothing: tuple[Reach, ...] = (OWN,) * len(reaches_along)
    tiled = [
        TiledArgument((), nothing)
        if stores[passed.store].replicated
        else TiledArgument(
            tuple(range(ranks[passed.store])),
            nothing,
            None if passed.image_of is None else places[passed.image_of],
            everywhere=passed.everywhere,
        )
        if passed.gathered
        else TiledArgument(
            dims[passed.store],
            tuple(
                _in_root(axis, along, passed.store, leader)
                for axis, along in zip(tiles.axes, reaches_along, strict=True)
            ),
        )
        for passed in arguments
    ]
    again = None
    leaders = [places[Passed(store)] for store in leaders_of(tiles, arrays, leader)]
    if any(tiled[place].reaches != nothing for place in leaders):
        again = places[Passed(leader)]
        leaders = [len(tiled)]
        tiled.append(TiledArgument(dims[leader], nothing))
    return Tiling(
        tuple(leaders),
        places[Passed(largest)],
        tuple(dims[leader][axis.dims[leader] or 0] for axis in tiles.axes),
        tuple(tiled),
        again,
        tuple(
            passed.store in reduced
            and (stores[passed.store].replicated or _is_partial(tiles, passed.store))
            for passed in arguments
        ),
        tuple(
            tuple(
                Held(held[store.id], _own(store, arguments, changed, stores))
                if store.id in held
                else _extent(axis, along, store.id, leader)
                for axis, along in zip(tiles.axes, reaches_along, strict=True)
            )
            for store in scratch
        ),
        tuple(
            tuple(
                Held(held[nest.views[0].store.id], imaged.index(number))
                if nest.image
                else _domain(nest, axis, along, number, leader)
                for axis, along in zip(tiles.axes, reaches_along, strict=True)
            )
            for number, nest in enumerate(tiles.nests)
        ),
    )


def _held(nests: Sequence[Nest], places: Mapping[Passed, int]) -> dict[int, int]:
    """Return for each buffer with an image the argument that has the same elements."""
    held = {}
    for nest in nests:
        if nest.image:
            result, *sources = (v.store for v in nest.views if not v.store.replicated)
            held[result.id] = places[Passed(sources[0].id, indices_of(nest.image))]
    return held


def _own(
    buffer: Store,
    arguments: Sequence[Passed],
    changed: AbstractSet[int],
    stores: Mapping[int, Store],
) -> int | None:
    """Return the argument that has in the end, for its tile, what a buffer has."""
    return next(
        (
            place
            for place, passed in enumerate(arguments)
            if passed.store in changed and stores[passed.store].origin == buffer.origin
        ),
        None,
    )


def _is_partial(tiles: Tiles, store: int) -> bool:
    return any(store in axis.partial for axis in tiles.axes)


def _is_sound(
    axis: TileAxis,
    along: Reaches,
    nests: Sequence[Nest],
    results: AbstractSet[int],
    arrays: Sequence[int],
    leader: int,
) -> bool:
    """Whether each point finds what it reads, and writes its own tile only."""
    # nests that are needed along one axis must be needed along all
    if any(
        reach is None and placement is not None
        for reach, placement in zip(along.nests, axis.placements, strict=True)
    ):
        return False
    if along.shared or any(r.width > FEW for r in along.stores.values()):
        return False
    for store in results:
        if axis.begin(store) is None or not axis.fits(store, leader):
            return False
        # what a nest writes, and what others read of what is changed
        own = own_of(axis, store, leader)
        if along.stores.get(store, own) != own:
            return False
    on_axis = {s for s in axis.dims if axis.dims[s] is not None}
    if any(axis.begin(store) is None for store in on_axis):
        return False
    # an array that is written at one place by all points
    return all(
        axis.dims.get(store) is not None or store in axis.partial
        for store in arrays
        if store
        in {a.view.store.id for nest in nests for a in nest.accesses if a.changes}
    )


def _common_dims(
    axes: Sequence[TileAxis], arrays: Sequence[int], ranks: Mapping[int, int]
) -> dict[int, tuple[int, ...]] | None:
    """Return for each array the common dimension of each of its own.

    Common dimensions are those of the largest array. None if they come in another
    order.
    """
    largest = max(arrays, key=lambda store: ranks[store])
    common = [axis.dims.get(largest) for axis in axes]
    if None in common:
        return None
    dims_of = {}
    for store in arrays:
        own = {axis.dims[store]: c for axis, c in zip(axes, common, strict=True)}
        dims: list[int] = []
        for dim in range(ranks[store]):
            following = dims[-1] + 1 if dims else 0
            place = own.get(dim)
            if place is None:
                free = range(following, ranks[largest])
                place = next((p for p in free if p not in common), ranks[largest])
            if not following <= place < ranks[largest]:
                return None
            dims.append(place)
        dims_of[store] = tuple(dims)
    return dims_of


def _in_root(axis: TileAxis, along: Reaches, store: int, leader: int) -> Reach:
    """Return what is used of an array, from the tile's ends in its own positions."""
    if axis.dims.get(store) is None:
        return OWN
    used = along.stores.get(store, OWN).moved(_shift(axis, leader, store))
    return Reach(min(used.low, 0), max(used.high, 0))


def _extent(axis: TileAxis, along: Reaches, store: int, leader: int) -> Extent:
    """Return what a point has of a scratch buffer along an axis."""
    dim = axis.dims.get(store)
    used = along.stores.get(store)
    if dim is None or used is None:
        return None
    return Tile(dim, *used.moved(_shift(axis, leader, store)))


def _domain(
    nest: Nest, axis: TileAxis, along: Reaches, number: int, leader: int
) -> Extent:
    """Return what a point runs of a nest along an axis."""
    placement = axis.placements[number]
    reach = along.nests[number]
    if placement is None:
        return None
    accesses = zip(nest.accesses, placement.constant_distances, strict=True)
    for access, distance in accesses:
        store = access.view.store.id
        dim = axis.dims.get(store)
        if distance is None or dim is None or access.view.store.replicated:
            continue
        assert reach is not None, "nests that nobody needs are in no tiling"
        rows = reach.moved(distance + _shift(axis, leader, store))
        view = None if shows_store(access.view) else access.view.recorded
        return Tile(placement.loop, *rows, view, dim)
    raise AssertionError("a nest on an axis touches something along it")


def _shift(axis: TileAxis, leader: int, store: int) -> int:
    """Return how much farther on in a store than in the leader the same place is."""
    own, others = axis.begin(store), axis.begin(leader)
    assert own is not None and others is not None
    return others - own
