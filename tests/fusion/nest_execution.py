# SPDX-License-Identifier: Apache-2.0
"""Runs programs of nests over NumPy arrays: in order, by blocks of rows, and in parts.

What a nest computes tells apart all that it reads. Memory that nobody has written is
full of what no nest computes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from filled_program import filled
from random_nests import Step, Steps, layout_of, numpy_view

from legate_diffuse.ir import Privilege
from legate_diffuse.ir.nest import Band, Program
from legate_diffuse.stores.layout import Layout

POISON = 2**40
_FACTOR = 31


@dataclass
class Array:
    """An array, or a buffer of it that has row r in the place of row r % ``rows``."""

    elements: np.ndarray
    rows: int = 0


Memory = dict[int, Array]


@dataclass(frozen=True)
class Span:
    """Where a nest runs along an axis: from ``low`` up to ``high``.

    Its first position is ``start``; ``loop`` is its loop along the axis, None if there
    is none.
    """

    low: int
    high: int
    start: int
    loop: int | None

    def part(self, low: int, high: int) -> Span:
        """Return what of it is between two positions."""
        return replace(self, low=max(self.low, low), high=min(self.high, high))


@dataclass(frozen=True)
class _Ready:
    """A step for some sizes.

    What it computes is ``number``, and each operand that is read times its factor of
    ``factors``. They are arrays, as NumPy combines these faster with a few elements
    than its scalars.
    """

    number: np.ndarray
    extents: tuple[int, ...]
    factors: tuple[tuple[int, np.ndarray], ...]


@dataclass(frozen=True)
class _Rows:
    """A step in some memory, row by row along one of its loops.

    ``places`` has a view of each operand, whose first axis is that of the rows, and of
    row r the one at (first + r) % count. ``extents`` are those of the other loops.
    """

    memory: Memory
    extents: tuple[int, ...]
    places: tuple[tuple[np.ndarray, int, int], ...]


@dataclass
class Executor:
    """Runs the nests of a program for some sizes.

    Once they are scheduled, arrays in ``places`` lie where others do.
    """

    steps: Steps
    program: Program
    sizes: tuple[int, ...]
    rng: random.Random
    places: Mapping[int, int] = field(default_factory=dict)
    # by array, nest and operand; the array is held as long as its number is in use
    _views: dict[tuple[int, int, int], tuple[Array, np.ndarray, int]] = field(
        default_factory=dict
    )
    # by memory, nest and loop
    _rows: dict[tuple[int, int, int], _Rows] = field(default_factory=dict)
    # by the number of the step, which is held as well
    _ready: dict[int, _Ready] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.program = filled(self.program, self._low_and_high)

    def _low_and_high(self, nest: int, access: int) -> list[int]:
        operand = self.steps.steps[nest].operands[access]
        low = operand.low[0].at(self.sizes)
        return [low, low + operand.extents[0].at(self.sizes)]

    def memory(self) -> Memory:
        """Return what the arrays hold at first."""
        memory = {}
        for number, shape in enumerate(self.steps.arrays):
            extents = tuple(n.at(self.sizes) for n in shape)
            values = np.arange(np.prod(extents, dtype=int)).reshape(extents)
            memory[number] = Array(
                np.array(1_000_003 * (number + 1) + values, dtype=np.uint64)
            )
            if number in self.steps.scratch:
                memory[number].elements[...] = POISON
        return memory

    def _scheduled_memory(self) -> Memory:
        memory = self.memory()
        return {n: memory[self.places.get(n, n)] for n in memory}

    def seen(self, memory: Memory) -> list[list[int]]:
        """Return what the arrays hold that somebody can see."""
        return [
            memory[number].elements.reshape(-1).tolist()
            for number in range(len(self.steps.arrays))
            if number not in self.steps.scratch
        ]

    def in_order(self) -> list[list[int]]:
        """Run nest after nest."""
        memory = self.memory()
        for step in self.steps.steps:
            self._run(step, memory)
        return self.seen(memory)

    # -- by blocks of rows -------------------------------------------------------
    def by_blocks(self, block: int) -> list[list[int]]:
        """Let the nests of each band take turns on blocks of rows."""
        memory = self._scheduled_memory()
        for band in self.program.bands:
            buffers = self._with_buffers(band, memory, block)
            self._run_blocks(band, buffers, block, self.spans(band))
        return self.seen(memory)

    def _run_blocks(
        self, band: Band, memory: Memory, block: int, spans: Sequence[Span]
    ) -> None:
        """Run each nest of a band at its rows ``spans``."""
        turns = list(zip(band.turns, self._steps(band), spans, strict=True))
        times = [
            time
            for turn, _, span in turns
            for time in (span.low + turn.shift, span.high + turn.shift)
            if span.low < span.high
        ]
        for time in range(min(times, default=0), max(times, default=0), block):
            for turn, step, span in turns:
                rows = range(
                    max(span.low, time - turn.shift),
                    min(span.high, time + block - turn.shift),
                )
                # the rows of a nest do not depend on one another
                self._run_span(step, memory, span, self.rng.sample(rows, len(rows)))

    # -- in parts ----------------------------------------------------------------
    def in_split_parts(self, block: int, count: int) -> list[list[int]] | None:
        """Run parts without what conflicts with others; the rest comes afterwards."""
        memory = self._scheduled_memory()
        divided = False
        for band in self.program.bands:
            spans = self.spans(band)
            margins = [turn.margin for turn in band.turns]
            cuts = self._cuts(spans, count, _width(margins))
            if None in margins or not cuts:
                self._run_blocks(band, memory, block, spans)
                continue
            divided = True
            parts = [
                [
                    s.part(
                        begin + (m.before if begin > cuts[0] else 0),
                        end - (m.after if end < cuts[-1] else 0),
                    )
                    for s, m in zip(spans, margins, strict=True)
                    if m is not None
                ]
                for begin, end in pairwise(cuts)
            ]
            for part in self.rng.sample(parts, len(parts)):
                self._run_blocks(band, memory, block, part)
            seams = list(pairwise(parts))
            for before, after in self.rng.sample(seams, len(seams)):
                between = [
                    s.part(a.high, b.low)
                    for a, b, s in zip(before, after, spans, strict=True)
                ]
                for step, span in zip(self._steps(band), between, strict=True):
                    self._run_span(step, memory, span, range(span.low, span.high))
        return self.seen(memory) if divided else None

    # -- positions ---------------------------------------------------------------
    def spans(self, band: Band) -> list[Span]:
        """Return where the nests of a band lie along its axis.

        Stores lie beside one another as the first nest that touches both has them.
        """
        origins: dict[int, int] = {}
        found = []
        for turn, step in zip(band.turns, self._steps(band), strict=True):
            located = [
                (operand.array, operand.low[0].at(self.sizes), distance)
                for operand, distance in zip(step.operands, turn.distances, strict=True)
                if distance is not None
            ]
            if not located:
                found.append(Span(0, 1, 0, None))
                continue
            places = {
                origins[array] + low - distance
                for array, low, distance in located
                if array in origins
            }
            assert len(places) < 2, "the accesses of a nest agree on where it is"
            array, low, distance = located[0]
            row = places.pop() if places else low - distance
            for array, low, distance in located:
                origins.setdefault(array, row + distance - low)
            loop = turn.row_loop
            count = 1 if loop is None else step.loops[loop].at(self.sizes)
            found.append(Span(row, row + count, row, loop))
        return found

    def _cuts(self, spans: Sequence[Span], count: int, width: int) -> list[int]:
        """Return where parts begin, and where the last one ends; nothing if not."""
        low = min(span.low for span in spans)
        high = max(span.high for span in spans)
        width = max(width, 1)
        if high - low < count * width or len(spans) < 2:
            return []
        free = high - low - count * width
        more = sorted(self.rng.randint(0, free) for _ in range(count - 1))
        cuts = [low + (n + 1) * width + m for n, m in enumerate(more)]
        return [low, *cuts, high]

    # -- nests -------------------------------------------------------------------
    def _steps(self, band: Band) -> list[Step]:
        return [self.steps.steps[nest.number] for nest in band.nests]

    def _made_ready(self, step: Step) -> _Ready:
        if id(step) not in self._ready:
            number = next(n for n, own in enumerate(self.steps.steps) if own is step)
            factors = []
            # as if each operand were added to 31 times what there is
            for n, privilege in enumerate(step.privileges):
                if privilege is Privilege.READ:
                    number *= _FACTOR
                    factors = [(k, factor * _FACTOR) for k, factor in factors]
                    factors.append((n, 2 * n + 1))
            self._ready[id(step)] = _Ready(
                np.array(number, dtype=np.uint64),
                tuple(extent.at(self.sizes) for extent in step.loops),
                tuple((n, np.array(k, dtype=np.uint64)) for n, k in factors),
            )
        return self._ready[id(step)]

    def _with_buffers(self, band: Band, memory: Memory, block: int) -> Memory:
        """Return the memory with the circular buffers of a band."""
        found = dict(memory)
        for store, spread in band.circular:
            shape = memory[store].elements.shape
            buffer = np.full((block + spread, *shape[1:]), POISON, dtype=np.uint64)
            found[store] = Array(buffer, block + spread)
        return found

    def _run_span(
        self, step: Step, memory: Memory, span: Span, rows: Sequence[int]
    ) -> None:
        """Run a nest at some of its rows, in this order."""
        if span.loop is not None:
            indices = [row - span.start for row in rows]
            self._run_rows(step, memory, span.loop, indices)
            return
        for _ in rows:
            if not step.loops:
                self._run(step, memory)
                continue
            # threads share the rows of a nest that takes no turns
            count = step.loops[0].at(self.sizes)
            self._run_rows(step, memory, 0, self.rng.sample(range(count), count))

    def _run(self, step: Step, memory: Memory) -> None:
        """Run a nest, all of it at once."""
        ready = self._made_ready(step)
        if min(ready.extents, default=1) <= 0:
            return
        views = [
            self._view(memory[operand.array], step, number)[0]
            for number, operand in enumerate(step.operands)
        ]
        self._compute(step, ready.extents, views, range(len(ready.extents)))

    def _run_rows(
        self, step: Step, memory: Memory, loop: int, indices: Sequence[int]
    ) -> None:
        """Run a nest at some positions of a loop, one after the other."""
        key = id(memory), id(step), loop
        if key not in self._rows:
            self._rows[key] = self._by_rows(step, memory, loop)
        rows = self._rows[key]
        if min(rows.extents, default=1) <= 0:
            return
        loops = [n for n in range(len(step.loops)) if n != loop]
        for index in indices:
            views = [
                view[(first + index) % count, ...] for view, first, count in rows.places
            ]
            self._compute(step, rows.extents, views, loops)

    def _by_rows(self, step: Step, memory: Memory, loop: int) -> _Rows:
        extents = self._made_ready(step).extents
        others = [n for n in range(len(extents)) if n != loop]
        places = []
        for number, operand in enumerate(step.operands):
            array = memory[operand.array]
            view, low = self._view(array, step, number)
            view = view.transpose((loop, *others))
            dim = operand.dims[loop]
            ring = array.rows and 0 in operand.dims
            assert not ring or dim == 0, "circular buffers are used row by row"
            if dim < 0:
                places.append((view, 0, 1))
            else:
                places.append((view, low if ring else 0, view.shape[0]))
        return _Rows(memory, tuple(extents[n] for n in others), tuple(places))

    def _compute(
        self,
        step: Step,
        extents: Sequence[int],
        views: Sequence[np.ndarray],
        loops: Sequence[int],
    ) -> None:
        """Compute points of a nest along these loops of it."""
        ready = self._made_ready(step)
        value = np.empty(extents, dtype=np.uint64)
        value[...] = ready.number
        for n, factor in ready.factors:
            value += views[n] * factor
        for n, (privilege, view) in enumerate(zip(step.privileges, views, strict=True)):
            if privilege is Privilege.WRITE:
                np.add(value, n, out=view)
            elif privilege is Privilege.REDUCE:
                dims = step.operands[n].dims
                repeated = tuple(k for k, loop in enumerate(loops) if dims[loop] < 0)
                view += value.sum(axis=repeated, keepdims=True)

    def _view(self, array: Array, step: Step, number: int) -> tuple[np.ndarray, int]:
        """Return what is behind the loops of a nest, and where the first row of it is.

        Of a circular buffer that are all of its rows.
        """
        key = id(array.elements), id(step), number
        if key not in self._views:
            layout = layout_of(step, step.operands[number], self.sizes)
            low = layout.low[0] if layout.low else 0
            if array.rows:
                ring = low % array.rows if 0 not in layout.dims else 0
                count = array.rows if 0 in layout.dims else 1
                layout = Layout(
                    layout.shape,
                    layout.dims,
                    (ring, *layout.low[1:]),
                    (count, *layout.extents[1:]),
                )
            self._views[key] = array, numpy_view(array.elements, layout), low
        _, view, low = self._views[key]
        return view, low


def _width(margins: Sequence[object]) -> int:
    return max((m.before + m.after for m in margins if m is not None), default=0)  # type: ignore[attr-defined]


def results(executor: Executor) -> Iterator[tuple[str, list[list[int]] | None]]:
    """Yield what becomes of a program in each way to run it, None if there is none."""
    for block in (1, 2, 5):
        yield f"blocks of {block} rows", executor.by_blocks(block)
    for count in (2, 4):
        yield f"{count} split parts", executor.in_split_parts(count, count)
