# SPDX-License-Identifier: Apache-2.0
"""Writes tilings for ``mappers/program/tiling.h``, and finds their tasks' arguments."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack
from typing import Any, Final

from legate_diffuse.fusion.tiles import Extent, Tiling
from legate_diffuse.stores.layout import Shape, whole
from legate_diffuse.stores.root import Spare
from legate_diffuse.stores.view import View, over

# As in mappers/program/tiling.h: what a tiling begins with, and what stands there for
# what an argument or a buffer has, or a nest runs.
_TILED: Final = -1
_NEAR: Final = -1
_ALL: Final = -2
_ALL_OF_BUFFER: Final = (-1, 0, 0)
_ALL_OF_NEST: Final = (-2, 0, 0)
_ONE_ROW: Final = -1


def write_tiling(tiling: Tiling, views: list[View], arguments: Sequence[int]) -> bytes:
    """Return what a program has before it that points run for their tiles.

    ``arguments`` are the numbers of a view of each argument.
    """
    words = [
        _TILED,
        _leader(tiling, [views[number] for number in arguments]),
        len(tiling.arguments[tiling.largest].dims),
        len(tiling.axes),
        *tiling.axes,
        len(tiling.buffers),
        len(tiling.nests),
    ]
    for argument in tiling.arguments:
        image_of = _ALL if argument.everywhere else _NEAR
        if argument.image_of is not None:
            image_of = argument.image_of
        words += (image_of, len(argument.dims), *argument.dims)
        for halo in argument.halos:
            words += halo
    for buffer in tiling.buffers:
        words += (word for extent in buffer for word in _of_buffer(extent))
    for nest in tiling.nests:
        words += (word for extent in nest for word in _of_nest(extent, views))
    return pack(f"={len(words)}q", *words)


def _of_buffer(extent: Extent) -> Sequence[int]:
    if extent is None or extent.dim is None:
        return _ALL_OF_BUFFER
    return extent.dim, extent.low, extent.high


def _of_nest(extent: Extent, views: Sequence[View]) -> Sequence[int]:
    if extent is None:
        return _ALL_OF_NEST
    loop, low, high, view, along = extent
    begin = 0 if view is None else views[view].layout.low[along]
    return _ONE_ROW if loop is None else loop, low - begin, high - begin


def passed_stores(
    tiling: Tiling, arguments: Sequence[View], moved: Sequence[int]
) -> list[View | Spare]:
    """Return the arguments of a tiled task, which all have as many dimensions.

    Where an argument lacks a dimension, it repeats along it. Those that ``moved``
    names, by number, are the spare stores of their roots.
    """
    largest = tiling.arguments[tiling.largest].dims
    extents = dict(zip(largest, arguments[tiling.largest].root.shape, strict=True))
    leader = _leader(tiling, arguments)
    shape = arguments[leader].root.shape
    extents |= zip(tiling.arguments[leader].dims, shape, strict=True)
    common = Shape(extents[dim] for dim in largest)
    return [
        _promoted_spare(view, argument.dims, common)
        if number in moved
        else _repeated(view, common)
        if view.root.scalar_storage
        else _promoted(view, argument.dims, common)
        for number, (view, argument) in enumerate(
            zip(arguments, tiling.arguments, strict=True)
        )
    ]


def _leader(tiling: Tiling, arguments: Sequence[View]) -> int:
    """Return the number of the argument whose tiles the points have."""
    return max(tiling.leaders, key=lambda number: arguments[number].root.volume)


def _promoted_spare(view: View, dims: Sequence[int], extents: Shape) -> Spare:
    """Return the spare store of a view's root, with the dimensions that it lacks."""
    spare = view.root.find_spare()
    real = _with_all(spare.store, dims, extents)
    return spare if real is spare.store else Spare(real)


def _promoted(view: View, dims: Sequence[int], extents: Shape) -> View:
    """Return the root of a view, with the dimensions that it lacks."""
    # views keep their roots alive, so no root keeps a view
    found: View = _with_all(view.through(whole(view.root.shape)), dims, extents)
    return found


def _repeated(view: View, extents: Shape) -> View:
    """Return the one element of a view's root, over all points."""
    if 0 in view.shape:
        # an operation without points has seen it first
        view = view.through(whole(view.root.shape))
        while view.shape:
            view = view.project(0, 0)
    return over(view, extents)


def _with_all(store: Any, dims: Sequence[int], extents: Shape) -> Any:
    """Return a store, or a view of one, with the dimensions that it lacks."""
    for dim, extent in enumerate(extents):
        if dim not in dims:
            store = store.promote(dim, extent)
    return store
