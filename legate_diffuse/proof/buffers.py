# SPDX-License-Identifier: Apache-2.0
"""Where the elements of a program's operands lie: in arrays and circular buffers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
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

    ``index`` has for each dimension of the array a range, or the rows of a ring;
    ``axes`` the dimensions of the array that move, as the loops come.
    """

    index: tuple[range | Places, ...]
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
        shape = self.elements.shape
        if len(operand.low) != len(shape):
            raise RefutedError(f"{self.name} has {len(shape)} dimensions")
        moving = [dim for dim in operand.dims if dim >= 0]
        if len(set(moving)) != len(moving):
            raise RefutedError(f"two loops move along one dimension of {self.name}")
        index: list[range | Places] = []
        for dim, low in enumerate(operand.low):
            begin, count = low, 1
            if dim in moving:
                loop = operand.dims.index(dim)
                begin, count = low + first[loop], extents[loop]
            if dim == 0 and self.ring is not None:
                if begin < 0:
                    raise RefutedError(f"row {begin} of {self.name} is touched")
                index.append(self.ring.places(np.arange(begin, begin + count)))
                continue
            if begin < 0 or begin + count > shape[dim]:
                raise RefutedError(
                    f"{self.name} has {shape[dim]} places along dimension {dim}, and "
                    f"those from {begin} to {begin + count} are touched"
                )
            index.append(range(begin, begin + count))
        return Box(tuple(index), tuple(moving))

    def all_of_it(self) -> Box:
        """Return all places."""
        return Box(tuple(range(extent) for extent in self.elements.shape), ())

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
        if self.ring is None:
            # with the ellipsis it is an array, also without dimensions
            index: tuple[Any, ...] = (*_slices(box.index), ...)
            found: Symbols = self.elements[index]
            return found
        rows, *rest = box.index
        return self.elements[(rows, *_slices(rest))]

    def _put(self, box: Box, values: Symbols) -> None:
        if self.ring is None:
            self.elements[_slices(box.index)] = values
        else:
            rows, *rest = box.index
            self.elements[(rows, *_slices(rest))] = values


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes of a buffer share an element."""
    return all(
        max(a.start, b.start) < min(a.stop, b.stop)
        if isinstance(a, range) and isinstance(b, range)
        else bool(np.isin(np.asarray(a), np.asarray(b)).any())
        for a, b in zip(one.index, other.index, strict=True)
    )


def alike(one: Box, other: Box) -> bool:
    """Whether two boxes have the same place at every point."""
    return one.axes == other.axes and all(
        np.array_equal(np.asarray(a), np.asarray(b))
        if isinstance(a, np.ndarray)
        else a == b
        for a, b in zip(one.index, other.index, strict=True)
    )


def _slices(index: Sequence[range | Places]) -> tuple[slice, ...]:
    return tuple(
        slice(each.start, each.stop) for each in index if isinstance(each, range)
    )


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
