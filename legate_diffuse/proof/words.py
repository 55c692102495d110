# SPDX-License-Identifier: Apache-2.0
"""Reads the words of programs and tilings, as ``mappers/program`` does.

``mappers/program/program.h`` and ``tiling.h`` say what they mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import unpack
from typing import Final

NO_ROW: Final = -2
STANDS: Final = -(2**63)
NO_MARGIN: Final = -1
ALL_ROWS: Final = -1
TILED: Final = -1
GUARD: Final = -1
EVERYWHERE: Final = -2
NEAR: Final = -1
ALL: Final = -2

Numbers = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Scratch:
    """A buffer that lives as long as some nests."""

    itemsize: int
    first_nest: int
    last_nest: int
    spread: int
    extents: Numbers


@dataclass(frozen=True, slots=True)
class Run:
    """Nests that one kernel may run row by row."""

    first_nest: int
    num_nests: int
    kernel: int


@dataclass(frozen=True, slots=True)
class Operand:
    """What a kernel's argument is at the first point, and how it moves."""

    base: int
    dims: Numbers
    low: Numbers


@dataclass(frozen=True, slots=True)
class Nest:
    """A loop nest."""

    kernel: int
    num_written: int
    rows: int
    shift: int
    before: int
    after: int
    distances: Numbers
    extents: Numbers
    first: Numbers
    scalars: Numbers
    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """Nests in bands, over arguments and scratch buffers.

    A band of less than no nests has as many, on the axis of the band before it.
    """

    buffers: tuple[Scratch, ...]
    bands: Numbers
    runs: tuple[Run, ...]
    nests: tuple[Nest, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """What of a nest or a buffer a tile has along an axis."""

    dim: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class TiledArgument:
    """What a tile has of an argument."""

    teller: int
    dims: Numbers
    reaches: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Tiling:
    """How points divide a program."""

    leader: int
    rank: int
    axes: Numbers
    arguments: tuple[TiledArgument, ...]
    buffers: tuple[tuple[Part, ...], ...]
    nests: tuple[tuple[Part, ...], ...]


class _Words:
    def __init__(self, text: bytes) -> None:
        self._words = unpack(f"={len(text) // 8}q", text)
        self._next = 0

    def take(self) -> int:
        (word,) = self.several(1)
        return word

    def several(self, count: int) -> Numbers:
        end = self._next + count
        if count < 0 or end > len(self._words):
            raise ValueError("a program ends too early")
        found = self._words[self._next : end]
        self._next = end
        return found

    def starts_with(self, word: int) -> bool:
        return self._words[self._next : self._next + 1] == (word,)

    def end(self) -> None:
        if self._next != len(self._words):
            raise ValueError("a program ends too late")


def read_words(text: bytes, num_arguments: int) -> tuple[Tiling | None, Program]:
    """Return the program of a launch, and its tiling if it has one.

    Raises:
        ValueError: the words are none of a program.
    """
    words = _Words(text)
    tiling = _tiling(words, num_arguments) if words.starts_with(TILED) else None
    program = _program(words)
    words.end()
    return tiling, program


def _program(words: _Words) -> Program:
    num_scratch, num_bands, num_runs, num_nests = words.several(4)
    buffers = []
    for _ in range(num_scratch):
        itemsize, first, last, spread, dim = words.several(5)
        buffers.append(Scratch(itemsize, first, last, spread, words.several(dim)))
    bands = words.several(num_bands)
    runs = tuple(Run(*words.several(3)) for _ in range(num_runs))
    nests = tuple(_nest(words) for _ in range(num_nests))
    if sum(map(abs, bands)) != num_nests or 0 in bands:
        raise ValueError("the bands do not have all nests")
    return Program(tuple(buffers), bands, runs, nests)


def _nest(words: _Words) -> Nest:
    kernel, num_operands, num_written, dim, num_scalars = words.several(5)
    rows, shift, before, after = words.several(4)
    distances = words.several(num_operands)
    extents, first = words.several(dim), words.several(dim)
    scalars = words.several(2 * num_scalars)
    operands = []
    for _ in range(num_operands):
        base, root_dim = words.several(2)
        operands.append(Operand(base, words.several(dim), words.several(root_dim)))
    return Nest(
        kernel,
        num_written,
        rows,
        shift,
        before,
        after,
        distances,
        extents,
        first,
        scalars,
        tuple(operands),
    )


def _tiling(words: _Words, num_arguments: int) -> Tiling:
    _, leader, rank, num_axes = words.several(4)
    axes = words.several(num_axes)
    num_buffers, num_nests = words.several(2)

    def parts() -> tuple[Part, ...]:
        return tuple(Part(*words.several(3)) for _ in range(num_axes))

    arguments = []
    for _ in range(num_arguments):
        teller, root_dim = words.several(2)
        dims = words.several(root_dim)
        reaches = tuple((words.take(), words.take()) for _ in range(num_axes))
        arguments.append(TiledArgument(teller, dims, reaches))
    buffers = tuple(parts() for _ in range(num_buffers))
    nests = tuple(parts() for _ in range(num_nests))
    return Tiling(leader, rank, axes, tuple(arguments), buffers, nests)
