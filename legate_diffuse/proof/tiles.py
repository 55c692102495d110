# SPDX-License-Identifier: Apache-2.0
"""Runs tiled programs: each point has of each argument what the tiling says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.proof.buffers import Buffer, RefutedError
from legate_diffuse.proof.nest import Setting
from legate_diffuse.proof.schedule import ProgramRun, Way
from legate_diffuse.proof.words import (
    ALL,
    EVERYWHERE,
    GUARD,
    NEAR,
    Nest,
    Part,
    Program,
    Scratch,
    Tiling,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from legate_diffuse.proof.symbols import Symbols

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Argument:
    """A store that a tiled task is given.

    Attributes:
        store: its number.
        privilege: what the task does with it.
        moves: whether it is other memory, which takes the store's place.
        replicated: whether it is a future, of which each point has a copy.
    """

    store: int
    privilege: int
    moves: bool
    replicated: bool

    @property
    def changes(self) -> bool:
        """Whether the task writes it or reduces to it."""
        return self.privilege >= REDUCE or bool(self.privilege & WRITE)


class TiledRun:
    """A tiled program over the stores in memory, which it changes."""

    def __init__(
        self,
        tiling: Tiling,
        program: Program,
        arguments: Sequence[Argument],
        memory: dict[int, Symbols],
        setting: Setting,
        way: Way,
    ) -> None:
        self.tiling = tiling
        self.program = program
        self.arguments = arguments
        self.memory = memory
        self.setting = setting
        self.way = way
        # what the task finds, and what it leaves
        self.before = [memory[each.store].copy() for each in arguments]
        self.after = [memory[each.store].copy() for each in arguments]

    def run(self) -> None:
        """Run the points of all tiles.

        Raises:
            RefutedError: a point does what it may not.
        """
        self._check()
        for number, each in enumerate(self.arguments):
            if each.privilege >= REDUCE:
                self.after[number][...] = 0
            elif each.changes and not each.privilege & READ:
                fresh = self.setting.poison.fresh(self.after[number].shape)
                self.before[number], self.after[number] = fresh, fresh.copy()
        tiles = list(self._tiles())
        futures: list[dict[int, Symbols]] = []
        for tile in reversed(tiles) if self.way.backwards else tiles:
            futures.append(self._run_tile(tile))
        for number, each in enumerate(self.arguments):
            if each.privilege >= REDUCE:
                total = self.memory[each.store] + self.after[number]
                self.memory[each.store] = np.asarray(total)
            elif each.changes and each.replicated:
                found = [of_point[number] for of_point in futures]
                if any(not np.array_equal(found[0], other) for other in found):
                    raise RefutedError("points compute different values of a future")
                self.memory[each.store] = found[0]
            elif each.changes:
                self.memory[each.store] = self.after[number]

    def _check(self) -> None:
        tiling = self.tiling
        leader = tiling.arguments[tiling.leader]
        if any(reach != (0, 0) for reach in leader.reaches):
            raise RefutedError("points have other tiles of their leader")
        if leader.teller != NEAR or self.arguments[tiling.leader].replicated:
            raise RefutedError("a leader has no tiles")
        for number, each in enumerate(self.arguments):
            own = tiling.arguments[number]
            if not each.changes:
                continue
            if own.teller != NEAR or any(reach != (0, 0) for reach in own.reaches):
                raise RefutedError("a point changes what lies beside its tile")
            same = [
                other
                for other in self.arguments
                if other is not each and other.store == each.store and not other.moves
            ]
            if same and not each.moves:
                raise RefutedError("a task changes a store that it has twice")
            if each.replicated:
                continue
            for axis in tiling.axes:
                mine, most = self._extent(number, axis), self._leading(axis)
                if mine is not None and mine > most:
                    raise RefutedError("what is changed is larger than all tiles")

    def _extent(self, number: int, dim: int) -> int | None:
        dims = self.tiling.arguments[number].dims
        if dim not in dims:
            return None
        return int(self.before[number].shape[dims.index(dim)])

    def _leading(self, dim: int) -> int:
        found = self._extent(self.tiling.leader, dim)
        if found is None:
            raise RefutedError("a leader lacks the dimension of tiles")
        return found

    def _tiles(self) -> Iterator[tuple[Range, ...]]:
        """Yield tiles that divide the leader: along each axis from and to."""
        along = []
        for axis in self.tiling.axes:
            extent = self._leading(axis)
            count = max(min(self.way.tiles, extent), 1)
            cuts = [extent * n // count for n in range(count + 1)]
            along.append(list(pairwise(cuts)))
        yield from product(*along)

    # -- one point ---------------------------------------------------------------
    def _run_tile(self, tile: tuple[Range, ...]) -> dict[int, Symbols]:
        told: list[Range] = []
        buffers = []
        boxes = []
        for number, each in enumerate(self.arguments):
            ranges = self._has(number, tile, told)
            told.append(ranges[0] if ranges else (0, 1))
            box = tuple(slice(begin, end) for begin, end in ranges)
            boxes.append(box)
            source = self.after[number] if each.changes else self.before[number]
            if each.replicated and each.privilege < REDUCE:
                source = self.before[number]
            elements = self.setting.poison.fresh(source.shape)
            if each.privilege >= REDUCE:
                elements = np.zeros(source.shape, dtype=np.uint64)
            else:
                elements[box] = source[box]
            name = f"argument {number}, store %{each.store}"
            # of a future the programs of points know no dimensions
            seen = elements.reshape(()) if each.replicated else elements
            buffers.append(Buffer(seen, name, each.changes))
        given = [buffer.elements.copy() for buffer in buffers]
        way = replace(self.way, tiles=1)
        ProgramRun(self._restricted(tile), buffers, self.setting, way).run()
        futures = {}
        for number, each in enumerate(self.arguments):
            if not each.changes:
                continue
            elements = buffers[number].elements.reshape(self.after[number].shape)
            if each.privilege >= REDUCE:
                self.after[number] += elements
                continue
            if each.replicated:
                futures[number] = elements
                continue
            changed = elements != given[number].reshape(elements.shape)
            changed[boxes[number]] = False
            if changed.any():
                raise RefutedError(f"a point changes {buffers[number].name} elsewhere")
            self.after[number][boxes[number]] = elements[boxes[number]]
        return futures

    def _has(
        self, number: int, tile: tuple[Range, ...], told: Sequence[Range]
    ) -> list[Range]:
        """Return what a point has of an argument, along each dimension."""
        own = self.tiling.arguments[number]
        extents = self.before[number].shape
        ranges = [(0, extent) for extent in extents]
        if self.arguments[number].replicated or own.teller == ALL:
            return ranges
        if own.teller >= 0:
            return [self._image(number, own.teller, told)]
        for axis, (begin, end), (low, high) in zip(
            self.tiling.axes, tile, own.reaches, strict=True
        ):
            if axis not in own.dims:
                continue
            dim = own.dims.index(axis)
            ranges[dim] = _clip(begin + min(low, 0), end + max(high, 0), extents[dim])
        return ranges

    def _image(self, number: int, teller: int, told: Sequence[Range]) -> Range:
        """Return what lies between the elements that another argument tells."""
        begin, end = told[teller]
        symbols = self.before[teller][begin:end]
        found = self.setting.numbers.find(symbols)
        extent = self.before[number].shape[0]
        if found is None:
            return 0, extent
        places = [place for each in found for place in each]
        if not places:
            return 0, 0
        return _clip(min(places), max(places) + 1, extent)

    # -- the program of one point --------------------------------------------------
    def _restricted(self, tile: tuple[Range, ...]) -> Program:
        origins = []
        buffers = []
        for scratch, parts in zip(
            self.program.buffers, self.tiling.buffers, strict=True
        ):
            made, origin = self._made(scratch, parts, tile)
            buffers.append(made)
            origins.append(origin)
        nests = tuple(
            self._moved(nest, parts, tile, origins)
            for nest, parts in zip(self.program.nests, self.tiling.nests, strict=True)
        )
        return replace(self.program, buffers=tuple(buffers), nests=nests)

    def _made(
        self,
        scratch: Scratch,
        parts: Sequence[Part],
        tile: tuple[Range, ...],
    ) -> tuple[Scratch, list[int]]:
        extents, origin = list(scratch.extents), [0] * len(scratch.extents)
        for part, own in zip(parts, tile, strict=True):
            if part.dim >= 0:
                begin, end = _between(part, own, extents[part.dim])
                origin[part.dim], extents[part.dim] = begin, end - begin
        return replace(scratch, extents=tuple(extents)), origin

    def _moved(
        self,
        nest: Nest,
        parts: Sequence[Part],
        tile: tuple[Range, ...],
        origins: Sequence[Sequence[int]],
    ) -> Nest:
        extents, first = list(nest.extents), list(nest.first)
        runs = True
        for part, own in zip(parts, tile, strict=True):
            if part.dim == GUARD:
                runs &= _between(part, own, 1) == (0, 1)
            elif part.dim != EVERYWHERE:
                begin, end = _between(part, own, extents[part.dim])
                first[part.dim], extents[part.dim] = begin, end - begin
        operands = []
        for operand in nest.operands:
            low = list(operand.low)
            for loop, dim in enumerate(operand.dims):
                if dim >= 0:
                    low[dim] += first[loop]
            if -len(origins) <= operand.base < 0:
                origin = origins[~operand.base]
                low = [a - b for a, b in zip(low, origin, strict=True)]
            operands.append(replace(operand, low=tuple(low)))
        return replace(
            nest,
            extents=tuple(extents if runs else [0] * len(extents)),
            first=tuple(first),
            operands=tuple(operands),
        )


def _between(part: Part, own: Range, extent: int) -> Range:
    return _clip(own[0] + part.low, own[1] + part.high, extent)


def _clip(begin: int, end: int, extent: int) -> Range:
    first = min(max(begin, 0), extent)
    return first, max(min(end, extent), first)
