# SPDX-License-Identifier: Apache-2.0
"""Where the elements of a program's operands lie: in arrays and circular buffers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from legate_diffuse.proof.symbols import tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from legate_diffuse.proof.symbols import Symbols
    from legate_diffuse.proof.words import Operand

    Places = NDArray[np.int64]


class RefutedError(Exception):
    """A plan does not do what its window says."""


@dataclass(frozen=True, slots=True)
class Ring:
    """A buffer that has places for the rows of a band that are in use at a time.

    Each tile has ``rows`` places of its own, in which row r lies at r % rows. Rows that
    two tiles use lie in a seam between them, from where the later one begins on.
    """

    rows: int
    num_tiles: int = 1
    tiled_rows: int = 0
    seam_begin: int = 0
    seam_rows: int = 0

    @property
    def num_places(self) -> int:
        """How many rows there are places for."""
        return self.num_tiles * self.rows + (self.num_tiles - 1) * self.seam_rows

    def places(self, rows: Places) -> Places:
        """Return where rows lie."""
        if self.num_tiles == 1:
            return rows % self.rows
        begins = self.seam_begin + np.array(
            [self.tiled_rows * n // self.num_tiles for n in range(self.num_tiles)]
        )
        tiles = np.clip(
            np.searchsorted(begins, rows, side="right") - 1, 0, self.num_tiles - 1
        )
        in_seam = rows - begins[tiles]
        first = tiles * (self.rows + self.seam_rows)
        return np.where(
            (tiles > 0) & (in_seam < self.seam_rows),
            first - self.seam_rows + in_seam,
            first + rows % self.rows,
        )


@dataclass(frozen=True, slots=True)
class Box:
    """The places that an operand has at the points of a box.

    ``index`` has for each dimension of the array what is there, or the rows of a ring;
    ``axes`` the dimensions of the array that move, as the loops come.
    """

    index: tuple[slice | Places, ...]
    axes: tuple[int, ...]


@dataclass(slots=True)
class Buffer:
    """The memory of an argument or of a scratch buffer.

    Attributes:
        elements: what is there.
        name: of it, for messages.
        reads: whether it may be read before it was written. What may not is poison.
        writes: whether it may be written.
        ring: how its rows lie, None if in order.
    """

    elements: Symbols
    name: str
    writes: bool = True
    ring: Ring | None = None

    def box(
        self, operand: Operand, first: Sequence[int], extents: Sequence[int]
    ) -> Box:
        """Return where an operand is at the points of a box.

        Args:
            operand: of a nest over this buffer.
            first: the number of the first point along each loop, from 0.
            extents: of the box, none of them 0.

        Raises:
            RefutedError: it leaves the buffer.
        """
        dims, low, shape = operand.dims, operand.low, self.elements.shape
        found = _box(dims, low, tuple(first), tuple(extents), shape, self.ring)
        if isinstance(found, str):
            raise RefutedError(f"{self.name} {found}")
        return found

    def all_of_it(self) -> Box:
        """Return all places."""
        return Box(tuple(slice(0, extent) for extent in self.elements.shape), ())

    def from_place(self, low: int) -> Symbols:
        """Return the elements of a row from a place on, which need not be there."""
        if low >= 0:
            return self.elements[low:]
        before = np.full(-low, tag("outside", self.name))
        return np.concatenate([before, self.elements])

    def load(self, box: Box, operand: Operand) -> Symbols:
        """Return the elements at the points of a box, with a dimension for each loop.

        Along loops that repeat them, there is one.
        """
        found = self._seen(box)
        return _along_loops(found, box, operand)

    def store(self, box: Box, operand: Operand, values: Symbols) -> None:
        """Write elements; ``values`` have a dimension for each loop."""
        self._put(box, _along_dims(values, operand, box))

    def add(self, box: Box, operand: Operand, values: Symbols) -> None:
        """Add to elements, once for each point."""
        repeated = tuple(n for n, dim in enumerate(operand.dims) if dim < 0)
        total = values.sum(axis=repeated, keepdims=True, dtype=np.uint64)
        self._put(box, self._seen(box) + _along_dims(total, operand, box))

    def _seen(self, box: Box) -> Symbols:
        # with the ellipsis it is an array, also without dimensions
        index: tuple[Any, ...] = (*box.index, ...)
        found: Symbols = self.elements[index]
        return found

    def _put(self, box: Box, values: Symbols) -> None:
        index: Any = box.index
        self.elements[index] = values


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes of a buffer share an element."""
    return all(
        max(a.start, b.start) < min(a.stop, b.stop)
        if isinstance(a, slice) and isinstance(b, slice)
        else bool(np.isin(_places(a), _places(b)).any())
        for a, b in zip(one.index, other.index, strict=True)
    )


def alike(one: Box, other: Box) -> bool:
    """Whether two boxes have the same place at every point."""
    return one.axes == other.axes and all(
        a == b
        if isinstance(a, slice) and isinstance(b, slice)
        else np.array_equal(_places(a), _places(b))
        for a, b in zip(one.index, other.index, strict=True)
    )


def _places(each: slice | Places) -> Places:
    return np.arange(each.start, each.stop) if isinstance(each, slice) else each


@lru_cache(1 << 13)
def _box(
    dims: tuple[int, ...],
    low: tuple[int, ...],
    first: tuple[int, ...],
    extents: tuple[int, ...],
    shape: tuple[int, ...],
    ring: Ring | None,
) -> Box | str:
    """Return the places of an operand in a buffer of a shape, or what is wrong."""
    if len(low) != len(shape):
        return f"has {len(shape)} dimensions"
    moving = tuple(dim for dim in dims if dim >= 0)
    if len(set(moving)) != len(moving):
        return "has a dimension along which two loops move"
    index: list[slice | Places] = []
    for dim, (begin, extent) in enumerate(zip(low, shape, strict=True)):
        end = begin + 1
        if dim in dims:
            loop = dims.index(dim)
            begin += first[loop]
            end = begin + extents[loop]
        if ring is not None and not index:
            if begin < 0:
                return f"is touched at row {begin}"
            index.append(ring.places(np.arange(begin, end)))
            continue
        if begin < 0 or end > extent:
            return (
                f"has {extent} places along dimension {dim}, "
                f"and those from {begin} to {end} are touched"
            )
        index.append(slice(begin, end))
    return Box(tuple(index), moving)


def _along_loops(found: Symbols, box: Box, operand: Operand) -> Symbols:
    """Return elements of the array with a dimension for each loop of the nest."""
    if operand.dims == box.axes == _in_turn(found.ndim):
        return found
    still = tuple(dim for dim in range(found.ndim) if dim not in box.axes)
    found = found.transpose((*box.axes, *still))
    found = found.reshape(found.shape[: len(box.axes)])
    shape = iter(found.shape)
    return found.reshape([next(shape) if dim >= 0 else 1 for dim in operand.dims])


def _along_dims(values: Symbols, operand: Operand, box: Box) -> Symbols:
    """Return values with a dimension for each loop as the array has them."""
    if operand.dims == box.axes == _in_turn(len(box.index)):
        return values
    moving = [n for n, dim in enumerate(operand.dims) if dim >= 0]
    repeated = [n for n, dim in enumerate(operand.dims) if dim < 0]
    values = values.transpose((*moving, *repeated))
    values = values.reshape(values.shape[: len(moving)])
    order = sorted(range(len(box.axes)), key=box.axes.__getitem__)
    values = values.transpose(order)
    shape = iter(values.shape)
    return values.reshape(
        [next(shape) if dim in box.axes else 1 for dim in range(len(box.index))]
    )


@cache
def _in_turn(count: int) -> tuple[int, ...]:
    return tuple(range(count))
