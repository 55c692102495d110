# SPDX-License-Identifier: Apache-2.0
"""Launches of several nests, each point of which computes what its tile needs.

What lies between the nests lives in the task, and is computed by each point for its
tile and as far beyond it as others of its nests read (``halo.py``). Which nests may
share a launch is in ``tile_nests.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from legate_diffuse.fusion.few_rows import FEW
from legate_diffuse.fusion.halo import NO_HALO, Halo, Halos
from legate_diffuse.fusion.passed import Passed
from legate_diffuse.fusion.tile_axis import TileAxis
from legate_diffuse.fusion.tile_nests import (
    Divided,
    Tiles,
    leaders_of,
)
from legate_diffuse.ir import Privilege, Store
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


Extent = Tile | None
"""What a point has, or runs, along an axis; None is all of it."""


class TiledArgument(NamedTuple):
    """An argument of a tiled launch.

    Attributes:
        dims: the common dimensions of its root's.
        halos: what a point has of it along each axis, beyond its tile.
        image_of: the number of the argument whose image a point has instead, None
            without any.
        everywhere: whether points have all of it.
    """

    dims: tuple[int, ...]
    halos: tuple[Halo, ...]
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
    divided: Divided | None,
    arguments: Sequence[Passed],
    scratch: Sequence[Store],
    stores: Mapping[int, Store],
) -> Tiling | None:
    """Return how points divide nests over these arguments and scratch buffers.

    None if it isn't known that they may. ``stores`` are those of the arguments, by
    number.
    """
    if divided is None:
        return None
    tiles, leader, along = divided
    if leader is None or not all(_is_sound(each, leader) for each in along):
        return None
    near = [each.store for each in arguments if not each.gathered]
    arrays = [store for store in near if not stores[store].replicated]
    ranks = tiles.ranks
    largest = max(arrays, key=lambda store: ranks[store])
    divided = _in_order(divided, largest)
    if divided is None:
        return None
    tiles, _, along = divided
    dims = _common_dims(tiles.axes, arrays, ranks, largest)
    if dims is None:
        return None
    places = {passed: place for place, passed in enumerate(arguments)}
    tiled = [
        _argument(divided, passed, stores[passed.store], dims, places)
        for passed in arguments
    ]
    again = None
    leaders = [places[Passed(store)] for store in leaders_of(tiles, arrays, leader)]
    if any(halo != NO_HALO for place in leaders for halo in tiled[place].halos):
        again = places[Passed(leader)]
        leaders = [len(tiled)]
        tiled.append(TiledArgument(dims[leader], (NO_HALO,) * len(along)))
    return Tiling(
        tuple(leaders),
        places[Passed(largest)],
        tuple(dims[leader][axis.dims[leader] or 0] for axis in tiles.axes),
        tuple(tiled),
        again,
        tuple(_is_shared(tiles, stores[passed.store]) for passed in arguments),
        tuple(
            tuple(_extent(divided, each, store.id) for each in divided.along)
            for store in scratch
        ),
        tuple(
            tuple(_domain(divided, each, number) for each in divided.along)
            for number in range(len(tiles.nests))
        ),
    )


def _argument(
    divided: Divided,
    passed: Passed,
    store: Store,
    dims: Mapping[int, tuple[int, ...]],
    places: Mapping[Passed, int],
) -> TiledArgument:
    """Return what points have of an argument, given the common dimensions."""
    nothing = (NO_HALO,) * len(divided.along)
    if store.replicated:
        return TiledArgument((), nothing)
    if passed.gathered:
        # Legate makes images along one dimension
        image_of = None if passed.image_of is None else places[passed.image_of]
        return TiledArgument((0,), nothing, image_of, everywhere=passed.everywhere)
    halos = [_in_root(divided, each, store.id) for each in divided.along]
    return TiledArgument(dims[store.id], tuple(halos))


def _is_shared(tiles: Tiles, store: Store) -> bool:
    """Whether each point has a share of what is reduced to a store."""
    if not (store.replicated or any(store.id in axis.partial for axis in tiles.axes)):
        return False
    return any(
        access.view.store.id == store.id and access.privilege is Privilege.REDUCE
        for nest in tiles.nests
        for access in nest.accesses
    )


def _is_sound(along: Halos, leader: int) -> bool:
    """Whether each point finds what it reads, and writes its own tile only."""
    axis = along.axis
    # nests that are needed along one axis must be needed along all
    needed = all(
        halo is not None or placement is None
        for halo, placement in zip(along.nests, axis.placements, strict=True)
    )
    return (
        needed
        and not along.shared
        and all(halo.width <= FEW for halo in along.stores.values())
        and all(
            axis.begin(store) is not None
            for store, dim in axis.dims.items()
            if dim is not None
        )
        # nothing is written at one place by all points
        and all(
            axis.dims.get(store) is not None
            and axis.fits(store, leader)
            and along.stores.get(store, own) == own
            for store, own in along.results.items()
        )
    )


def _in_order(divided: Divided, largest: int) -> Divided | None:
    """Return the same with axes in the order of an array's dimensions.

    None if the array does not have a dimension along each of them.
    """
    along = {halos.axis.dims.get(largest): halos for halos in divided.along}
    dims = sorted(dim for dim in along if dim is not None)
    if len(dims) < len(divided.along):
        return None
    tiles = replace(divided.tiles, axes=tuple(along[dim].axis for dim in dims))
    return Divided(tiles, divided.leader, tuple(along[dim] for dim in dims))


def _common_dims(
    axes: Sequence[TileAxis],
    arrays: Sequence[int],
    ranks: Mapping[int, int],
    largest: int,
) -> dict[int, tuple[int, ...]] | None:
    """Return for each array the common dimension of each of its own.

    Common dimensions are those of the largest array, which lies along all axes. None
    if they come in another order.
    """
    common = [axis.dims[largest] for axis in axes]
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


def _in_root(divided: Divided, along: Halos, store: int) -> Halo:
    """Return what is used of an array, from the tile's ends in its own positions."""
    if along.axis.dims.get(store) is None:
        return NO_HALO
    used = along.stores.get(store, NO_HALO).moved(_shift(divided, along, store))
    return Halo(min(used.low, 0), max(used.high, 0))


def _extent(divided: Divided, along: Halos, store: int) -> Extent:
    """Return what a point has of a scratch buffer along an axis."""
    dim = along.axis.dims.get(store)
    used = along.stores.get(store)
    if dim is None or used is None:
        return None
    return Tile(dim, *used.moved(_shift(divided, along, store)))


def _domain(divided: Divided, along: Halos, number: int) -> Extent:
    """Return what a point runs of a nest along an axis."""
    placement, halo = along.axis.placements[number], along.nests[number]
    if placement is None:
        return None
    accesses = divided.tiles.nests[number].accesses
    for access, distance in zip(accesses, placement.distances, strict=True):
        store = access.view.store.id
        dim = along.axis.dims.get(store)
        if not isinstance(distance, int) or dim is None or access.view.store.replicated:
            continue
        assert halo is not None, "nests that nobody needs are in no tiling"
        rows = halo.moved(distance + _shift(divided, along, store))
        view = None if shows_store(access.view) else access.view.recorded
        return Tile(placement.loop, *rows, view, dim)
    raise AssertionError("a nest on an axis touches something along it")


def _shift(divided: Divided, along: Halos, store: int) -> int:
    """Return how much farther on in a store than in the leader the same place is."""
    assert divided.leader is not None
    own, leaders = along.axis.begin(store), along.axis.begin(divided.leader)
    assert own is not None and leaders is not None
    return leaders - own
