# SPDX-License-Identifier: Apache-2.0
"""Random loop nests over arrays whose extents are N, M and so on."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from recorder import Machine, Recorder
from recorder import nests_of as nests_of_window

from legate_diffuse.ir import Privilege, Window
from legate_diffuse.ir.nest import Nest
from legate_diffuse.stores.layout import Layout
from legate_diffuse.stores.view import View


class Number(NamedTuple):
    """``rows`` * N + ``columns`` * M + ``k`` * K + ``one``."""

    rows: int = 0
    columns: int = 0
    k: int = 0
    one: int = 0

    def __add__(self, other: Number | int) -> Number:  # type: ignore[override]
        other = Number(one=other) if isinstance(other, int) else other
        return Number(*(a + b for a, b in zip(self, other, strict=True)))

    def __sub__(self, other: Number | int) -> Number:
        other = Number(one=other) if isinstance(other, int) else other
        return self + Number(*(-n for n in other))

    def at(self, sizes: Sequence[int]) -> int:
        """Return the number for N, M and K."""
        return sum(a * b for a, b in zip(self, (*sizes, 1), strict=True))


N, M, K = Number(1), Number(0, 1), Number(0, 0, 1)
# Values of N, M and K; each program has one key for all of them.
SIZES: Final = ((43, 20, 12), (47, 19, 13))
ARRAYS: Final[tuple[tuple[tuple[Number, ...], int], ...]] = (
    ((N, M), 10),
    ((N - 2, M - 2), 4),
    ((N, M - 1), 2),
    ((N,), 4),
    ((N - 1,), 2),
    ((M,), 2),
    ((M, N), 1),
    ((), 2),
)
# Extents of loops along rows and columns; None if there is no loop along them.
ROWS: Final = (N, N - 1, N - 2, N - 2, N - K, N - K - 1, K, None, None)
COLUMNS: Final = (M, M, M - 1, M - 2, None)


@dataclass(frozen=True)
class Operand:
    """A box of an array, and the array's dimension behind each loop, or -1."""

    array: int
    low: tuple[Number, ...]
    extents: tuple[Number, ...]
    dims: tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """A nest: what it reads and changes at each point of its loops."""

    loops: tuple[Number, ...]
    operands: tuple[Operand, ...]
    privileges: tuple[Privilege, ...]


@dataclass(frozen=True)
class Steps:
    """A program, for all sizes.

    ``scratch`` are arrays that nobody sees afterwards, and of which everything is
    written before it is read.
    """

    arrays: tuple[tuple[Number, ...], ...]
    steps: tuple[Step, ...]
    scratch: frozenset[int]

    def without(self, position: int) -> Steps:
        """Return the program without one of its nests."""
        steps = self.steps[:position] + self.steps[position + 1 :]
        return replace(self, steps=steps, scratch=_scratch(self.arrays, steps))


def layout_of(step: Step, operand: Operand, sizes: Sequence[int]) -> Layout:
    """Return an operand's layout over the loops of its nest."""
    return Layout(
        tuple(loop.at(sizes) for loop in step.loops),
        operand.dims,
        tuple(low.at(sizes) for low in operand.low),
        tuple(extent.at(sizes) for extent in operand.extents),
    )


def window_of(
    steps: Steps, sizes: Sequence[int]
) -> tuple[tuple[int, ...], Window, list[int]]:
    """Return the key and the window of a program for some sizes.

    With them comes which array each of its stores is.
    """
    recorder = Recorder(Machine(pieces=1))
    arrays = [
        recorder.array(
            *(n.at(sizes) for n in shape),
            dtype="int64",
            live=number not in steps.scratch,
        )
        for number, shape in enumerate(steps.arrays)
    ]
    for step in steps.steps:
        recorder.task(
            "STEP",
            [
                View(arrays[o.array].root, layout_of(step, o, sizes))
                for o in step.operands
            ],
            step.privileges,
        )
    roots = [array.root for array in arrays]
    used = [roots.index(root) for root in recorder.roots]
    return *recorder.finish(), used


def key_of(steps: Steps, sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the key of a program for some sizes."""
    return window_of(steps, sizes)[0]


def nests_of(steps: Steps) -> list[Nest]:
    """Return the nests of a program, whose stores have the numbers of its arrays."""
    _, window, used = window_of(steps, SIZES[0])
    return nests_of_window(window, used)


def random_steps(seed: int) -> Steps | None:
    """Return a program, None if its keys differ or nothing came of it."""
    rng = random.Random(seed)
    shapes, weights = zip(*ARRAYS, strict=True)
    arrays = tuple(rng.choices(shapes, weights, k=rng.randint(3, 6)))
    if rng.random() < 0.6:
        # each array is made of parts of the one before, as a chain of stencils is
        rows = itertools.accumulate(rng.choice((0, 1, 1, 2)) for _ in arrays)
        arrays = tuple((N - less, M) for less in rows)
    found: list[Step] = []
    for _ in range(rng.randint(3, 10)):
        step = _step(rng, arrays, found)
        if step is not None and all(_is_parallel(step, arrays, s) for s in SIZES):
            found.append(step)
    steps = Steps(arrays, tuple(found), _scratch(arrays, found))
    if len(found) < 2 or len({key_of(steps, sizes) for sizes in SIZES}) > 1:
        return None
    return steps


def _step(
    rng: random.Random, arrays: Sequence[tuple[Number, ...]], before: Sequence[Step]
) -> Step | None:
    written = [step.operands[0].array for step in before]
    fresh = [n for n in range(len(arrays)) if n not in written and arrays[n]]
    if fresh and rng.random() < 0.6:
        # most arrays are written as a whole first
        target = fresh[0]
        loops = arrays[target]
        operands = [_whole(target, loops)]
        privileges = [Privilege.WRITE]
    else:
        chosen = rng.choice(ROWS), rng.choice(COLUMNS)
        loops = tuple(loop for loop in chosen if loop is not None)
        reduces = len(loops) == 2 and rng.random() < 0.2
        operands, privileges = [], []
        for _ in range(1 if reduces else rng.choice((1, 1, 2))):
            target = rng.randrange(len(arrays))
            choice = [
                operand
                for operand in _operands(target, arrays[target], loops)
                if (-1 in operand.dims) == reduces
            ]
            if choice:
                operands.append(_choose(rng, choice))
                privileges.append(Privilege.REDUCE if reduces else Privilege.WRITE)
    for _ in range(rng.randint(1, 4)):
        source = rng.choice(written[-2:] or [0])
        if rng.random() < 0.3:
            source = rng.randrange(len(arrays))
        if choice := list(_operands(source, arrays[source], loops)):
            operands.append(_choose(rng, choice))
            privileges.append(Privilege.READ)
    if len(set(privileges)) < 2:
        return None
    return Step(loops, tuple(operands), tuple(privileges))


def _choose(rng: random.Random, choice: list[Operand]) -> Operand:
    """Return mostly one that repeats as little as possible, or a row for all rows."""
    least = min(operand.dims.count(-1) for operand in choice)
    kind = rng.random()
    if kind < 0.7:
        choice = [operand for operand in choice if operand.dims.count(-1) == least]
    elif kind < 0.85:
        choice = [o for o in choice if o.dims[:1] == (-1,) != o.dims[1:]] or choice
    return rng.choice(choice)


def _whole(array: int, shape: tuple[Number, ...]) -> Operand:
    return Operand(array, (Number(),) * len(shape), shape, tuple(range(len(shape))))


def _operands(
    array: int, shape: tuple[Number, ...], loops: tuple[Number, ...]
) -> Iterator[Operand]:
    """Yield views of an array over loops: shifted, projected, repeated, transposed."""
    for dims in itertools.product(range(-1, len(shape)), repeat=len(loops)):
        along = [dim for dim in dims if dim >= 0]
        if len(set(along)) < len(along) or any(
            bool(loop.columns) != bool(shape[dim].columns)
            for dim, loop in zip(dims, loops, strict=True)
            if dim >= 0
        ):
            continue
        extents = [Number(one=1)] * len(shape)
        for dim, loop in zip(dims, loops, strict=True):
            if dim >= 0:
                extents[dim] = loop
        choices = [
            [
                low
                for low in _lows(extent, own)
                if all(0 <= low.at(s) <= (own - extent).at(s) for s in SIZES)
            ]
            for own, extent in zip(shape, extents, strict=True)
        ]
        for low in itertools.product(*choices):
            yield Operand(array, low, tuple(extents), dims)


def _lows(extent: Number, own: Number) -> set[Number]:
    zero = Number()
    end = own - extent
    found = {zero, zero + 1, zero + 2, end, end - 1, end - 2}
    return found | {K, K + 1, K - 1} if own.rows else found


@cache
def elements(array: tuple[int, ...]) -> np.ndarray:
    """Return the number of each element of an array."""
    return np.arange(int(np.prod(array, dtype=int))).reshape(array)


def numpy_view(array: np.ndarray, layout: Layout) -> np.ndarray:
    """Return the view that a layout describes; what repeats has extent 1."""
    bounds = zip(layout.low, layout.extents, strict=True)
    box = array[(..., *(slice(low, low + extent) for low, extent in bounds))]
    along = [dim for dim in layout.dims if dim >= 0]
    others = [dim for dim in range(array.ndim) if dim not in along]
    box = box.transpose((*others, *along))[(*(0,) * len(others), ...)]
    loops = (slice(None) if dim >= 0 else None for dim in layout.dims)
    return box[(..., *loops)]


def _is_parallel(
    step: Step, arrays: Sequence[tuple[Number, ...]], sizes: Sequence[int]
) -> bool:
    """Whether no point of a nest touches what another point changes."""
    touched = [
        np.broadcast_to(numpy_view(elements(shape), layout), layout.shape).reshape(-1)
        for operand in step.operands
        for shape in (tuple(n.at(sizes) for n in arrays[operand.array]),)
        for layout in (layout_of(step, operand, sizes),)
    ]
    for n, (privilege, operand) in enumerate(
        zip(step.privileges, step.operands, strict=True)
    ):
        if privilege is Privilege.READ:
            continue
        points = {element: point for point, element in enumerate(touched[n].tolist())}
        if privilege is Privilege.WRITE and len(points) < len(touched[n]):
            return False
        for m, other in enumerate(step.operands):
            if m == n or other.array != operand.array:
                continue
            if privilege is Privilege.REDUCE:
                return False
            if any(
                points.get(e, point) != point
                for point, e in enumerate(touched[m].tolist())
            ):
                return False
    return True


def _scratch(
    arrays: Sequence[tuple[Number, ...]], steps: Sequence[Step]
) -> frozenset[int]:
    """Return arrays of which everything is written first, but for some of them."""
    first: dict[int, bool] = {}
    for step in steps:
        for operand, privilege in sorted(
            zip(step.operands, step.privileges, strict=True),
            key=lambda each: each[1] is not Privilege.READ,
        ):
            covered = (
                privilege is Privilege.WRITE
                and operand.extents == arrays[operand.array]
            )
            first.setdefault(operand.array, covered)
    return frozenset(array for array, covered in first.items() if covered and array % 3)
