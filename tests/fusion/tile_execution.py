# SPDX-License-Identifier: Apache-2.0
"""Runs launches of several nests on the points of a random tiling, in random order.

A point has of each argument what lies within its reach, and nothing else; what it may
not read is garbage, and so is its scratch memory at first.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from concrete_programs import COMBINE, DOMAINS, IDENTITY, POISON, Program

from legate_diffuse.fusion.lowering import LoweredNest
from legate_diffuse.fusion.plan import PlannedLaunch, PlannedNest
from legate_diffuse.fusion.reach import OWN
from legate_diffuse.fusion.tiles import EVERYWHERE, GUARD, NestPart, Tiling
from legate_diffuse.ir import View
from legate_diffuse.ir.privilege import OPERATORS, REDUCE, WRITE

RunPoints = Callable[[LoweredNest, Sequence["Piece"], Sequence[int]], None]
Range = tuple[int, int]


@dataclass
class Piece:
    """An argument of a kernel, of which a point has some elements only."""

    elements: Sequence[int]
    memory: list[int]
    allowed: set[int]

    def get(self, point: int) -> int:
        element = self.elements[point]
        assert element in self.allowed, "a point reads what it doesn't have"
        return self.memory[element]

    def set(self, point: int, value: int) -> None:
        element = self.elements[point]
        assert element in self.allowed, "a point writes what it doesn't have"
        self.memory[element] = value


class TiledRun:
    """A launch on several points."""

    def __init__(
        self,
        program: Program,
        views: dict[int, View],
        memory: dict[int, list[int]],
        launch: PlannedLaunch,
        rng: random.Random,
    ) -> None:
        assert launch.tiling is not None
        self.program = program
        self.views = views
        self.memory = memory
        self.launch = launch
        self.tiling: Tiling = launch.tiling
        self.rng = rng
        self.stores = [views[view].store.id for view in launch.arguments]
        for leader in self.tiling.leaders:
            self._check_leader(leader)

    def _check_leader(self, leader: int) -> None:
        """Assert that its tiles hold all results, as the native task does."""
        tiling, views = self.tiling, self.views
        reaches = tiling.arguments[leader].reaches
        assert set(reaches) == {OWN}, "the points have other tiles of the leader"
        for number, privilege in enumerate(self.launch.privileges):
            store = views[self.launch.arguments[number]].store
            if not privilege & (WRITE | REDUCE) or store.replicated:
                continue
            for axis in tiling.axes:
                own, others = self._extent(number, axis), self._extent(leader, axis)
                assert own is None or own <= others, "a result is larger than all tiles"

    def _extent(self, number: int, axis: int) -> int | None:
        dims = self.tiling.arguments[number].dims
        if axis not in dims:
            return None
        return self.program.extents[self.stores[number]][dims.index(axis)]

    def run(self, run_points: RunPoints) -> None:
        """Run all points."""
        launch = self.launch
        changed = [list(self.memory[store]) for store in self.stores]
        shares = {
            number: [IDENTITY[_operator(privilege)]] * len(changed[number])
            for number, privilege in enumerate(launch.privileges)
            if privilege >= REDUCE
        }
        for number, privilege in enumerate(launch.privileges):
            if privilege == WRITE:
                changed[number] = [POISON] * len(changed[number])
        for tile in self._tiles():
            self._run_tile(tile, changed, shares, run_points)
        for number, privilege in enumerate(launch.privileges):
            store = self.stores[number]
            if number in shares:
                combine = COMBINE[_operator(privilege)]
                self.memory[store] = list(
                    map(combine, self.memory[store], shares[number])
                )
            elif privilege & WRITE:
                self.memory[store] = changed[number]

    def _tiles(self) -> list[tuple[Range, ...]]:
        """Return tiles that divide the leader, along each axis from and to."""
        tiling, rng = self.tiling, self.rng
        leader = rng.choice(tiling.leaders)
        extents = self.program.extents[self.stores[leader]]
        dims = tiling.arguments[leader].dims
        found = []
        for axis in tiling.axes:
            extent = extents[dims.index(axis)]
            size = rng.randint(1, max(extent, 1))
            ends = [*list(range(0, extent, size)), extent]
            found.append(list(pairwise(ends)))
        tiles = list(product(*found))
        rng.shuffle(tiles)
        return tiles

    def _run_tile(
        self,
        tile: tuple[Range, ...],
        changed: list[list[int]],
        shares: dict[int, list[int]],
        run_points: RunPoints,
    ) -> None:
        launch = self.launch
        scratch = [
            [POISON] * len(self.memory[self.views[view].store.id])
            for view, _, _ in launch.scratch
        ]
        for place, nest in enumerate(launch.nests):
            lowered = nest.lowered
            points = self._points(nest, place, tile)
            pieces = []
            for base, number in zip(nest.operands, lowered.arguments, strict=True):
                elements = self._elements(lowered, number)
                if base < 0:
                    _, first, last = launch.scratch[~base]
                    assert first <= place <= last, "scratch memory has been given back"
                    allowed = self._scratch_part(~base, tile)
                    pieces.append(Piece(elements, scratch[~base], allowed))
                elif base in shares:
                    everything = set(range(len(shares[base])))
                    pieces.append(Piece(elements, shares[base], everything))
                else:
                    privilege = launch.privileges[base]
                    # a point sees what it changes, and what was there before
                    memory = (
                        changed[base]
                        if privilege & WRITE
                        else self.memory[self.stores[base]]
                    )
                    pieces.append(Piece(elements, memory, self._part(base, tile)))
            run_points(lowered, pieces, points)

    def _extents(self, lowered: LoweredNest) -> tuple[int, ...]:
        if lowered.whole:
            return self.program.extents[self.views[lowered.arguments[0]].store.id]
        return DOMAINS[lowered.shape]

    def _elements(self, lowered: LoweredNest, number: int) -> Sequence[int]:
        view = self.views[number]
        assert view.affine, "no kernel can walk through this view"
        if lowered.whole:
            return range(len(self.memory[view.store.id]))
        return self.program.behind(view, lowered.shape)

    def _points(
        self, nest: PlannedNest, place: int, tile: tuple[Range, ...]
    ) -> list[int]:
        """Return the points of a nest that are run for a tile."""
        extents = self._extents(nest.lowered)
        ranges = [range(extent) for extent in extents]
        for part, (begin, end) in zip(self.tiling.nests[place], tile, strict=True):
            if part.loop == EVERYWHERE:
                continue
            low = self._low(part)
            first, behind = begin + part.low - low, end + part.high - low
            if part.loop == GUARD:
                if not first <= 0 < behind:
                    return []
                continue
            extent = extents[part.loop]
            ranges[part.loop] = range(max(first, 0), max(min(behind, extent), 0))
        flat = np.arange(int(np.prod(extents, dtype=int))).reshape(extents)
        found = [int(flat[point]) for point in product(*ranges)]
        self.rng.shuffle(found)
        return found

    def _low(self, part: NestPart) -> int:
        """Return where a view begins along a dimension of its store."""
        if part.view is None:
            return 0
        view = self.views[part.view]
        elements = self.program.elements[view.id]
        if not elements:
            return 0
        extents = self.program.extents[view.store.id]
        return int(np.unravel_index(elements[0], extents)[part.dim])

    def _part(self, number: int, tile: tuple[Range, ...]) -> set[int]:
        """Return what a point has of an argument."""
        store = self.stores[number]
        extents = self.program.extents[store]
        argument = self.tiling.arguments[number]
        if self.views[self.launch.arguments[number]].store.replicated:
            return set(range(len(self.memory[store])))
        ranges = [range(extent) for extent in extents]
        axes = zip(self.tiling.axes, tile, argument.reaches, strict=True)
        for axis, (begin, end), reach in axes:
            if axis in argument.dims:
                dim = argument.dims.index(axis)
                first = max(begin + reach.low, 0)
                ranges[dim] = range(first, min(end + reach.high, extents[dim]))
        return _flat(extents, ranges)

    def _scratch_part(self, number: int, tile: tuple[Range, ...]) -> set[int]:
        """Return what a point has of a scratch buffer."""
        view, _, _ = self.launch.scratch[number]
        extents = self.program.extents[self.views[view].store.id]
        ranges = [range(extent) for extent in extents]
        parts = zip(tile, self.tiling.buffers[number], strict=True)
        for (begin, end), (dim, low, high) in parts:
            if dim >= 0:
                ranges[dim] = range(
                    max(begin + low, 0), max(min(end + high, extents[dim]), 0)
                )
        return _flat(extents, ranges)


def _flat(extents: tuple[int, ...], ranges: Sequence[range]) -> set[int]:
    flat = np.arange(int(np.prod(extents, dtype=int))).reshape(extents)
    return {int(flat[place]) for place in product(*ranges)}


def _operator(privilege: int) -> str:
    return next(name for name, n in OPERATORS.items() if REDUCE + n == privilege)
