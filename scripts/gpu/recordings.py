# SPDX-License-Identifier: Apache-2.0
"""Programs of applications, and what they say (mappers/program/program.h)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from struct import unpack
from typing import Final, NamedTuple

import numpy as np

from legate_diffuse.ir.privilege import READ
from legate_diffuse.kernel.ir import Kernel, RowProgram


def itemsize(dtype: str) -> int:
    """Return the bytes of an element."""
    return np.dtype(dtype).itemsize


def strides_of(extents: Sequence[int], size: int) -> list[int]:
    """Return the byte strides of row-major elements."""
    return [size * math.prod(extents[axis + 1 :]) for axis in range(len(extents))]


class Argument(NamedTuple):
    """An argument of a program: a view of a root, which may be a future.

    ``dims`` has the root's axis for each of the view's, -1 where it repeats, and
    ``low`` the element of the root where it begins.
    """

    dtype: str
    extents: tuple[int, ...]
    privilege: int
    is_future: bool
    dims: tuple[int, ...]
    low: tuple[int, ...]

    @property
    def strides(self) -> tuple[int, ...]:
        """The byte strides of the view; those of futures do not matter."""
        along = strides_of(self.extents, itemsize(self.dtype))
        if self.is_future:
            return (0,) * len(self.dims)
        return tuple(along[dim] if dim >= 0 else 0 for dim in self.dims)

    @property
    def offset(self) -> int:
        """The bytes of the root before the view."""
        if self.is_future:
            return 0
        along = strides_of(self.extents, itemsize(self.dtype))
        return sum(low * stride for low, stride in zip(self.low, along, strict=True))

    @property
    def reads_only(self) -> bool:
        """Whether a program leaves it as it is."""
        return self.privilege == READ


class Recorded(NamedTuple):
    """A program in words, and its arguments."""

    program: bytes
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Recording:
    """Kernels by number, and the programs of each case with how often they ran."""

    kernels: Mapping[int, Kernel | RowProgram]
    cases: Mapping[str, Mapping[Recorded, int]]


@dataclass(frozen=True)
class Operand:
    """What a nest's argument is a view of, where it begins and along which axes."""

    base: int
    dims: tuple[int, ...]
    low: tuple[int, ...]


@dataclass(frozen=True)
class Nest:
    """One nest of a program."""

    kernel: int
    extents: tuple[int, ...]
    first: tuple[int, ...]
    scalars: bytes
    operands: tuple[Operand, ...]


@dataclass(frozen=True)
class Buffer:
    """A scratch buffer: bytes of an element, and extents."""

    itemsize: int
    extents: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """A program that was read."""

    buffers: tuple[Buffer, ...]
    runs: tuple[tuple[int, int, int], ...]
    nests: tuple[Nest, ...]


class _Words:
    def __init__(self, content: bytes) -> None:
        self._words: Iterator[int] = iter(unpack(f"={len(content) // 8}q", content))

    def take(self, count: int) -> tuple[int, ...]:
        return tuple(next(self._words) for _ in range(count))


_BEFORE_EXTENTS: Final = 3


def parse(content: bytes) -> Program:
    """Read a program that is not partitioned."""
    words = _Words(content)
    num_buffers, num_bands, num_runs, num_nests = words.take(4)
    buffers = []
    for _ in range(num_buffers):
        itemsize, *_, dim = words.take(2 + _BEFORE_EXTENTS)
        buffers.append(Buffer(itemsize, words.take(dim)))
    words.take(num_bands)
    runs = tuple(words.take(3) for _ in range(num_runs))
    nests = []
    for _ in range(num_nests):
        kernel, count, _, dim, num_scalars, *_ = words.take(9)
        words.take(count)
        extents, first = words.take(dim), words.take(dim)
        scalars = b"".join(
            word.to_bytes(8, "little", signed=True)
            for word in words.take(2 * num_scalars)
        )
        operands = []
        for _ in range(count):
            base, root_dim = words.take(2)
            operands.append(Operand(base, words.take(dim), words.take(root_dim)))
        nests.append(Nest(kernel, extents, first, scalars, tuple(operands)))
    return Program(tuple(buffers), runs, tuple(nests))  # type: ignore[arg-type]


def bytes_of(recorded: Recorded, kernels: Mapping[int, Kernel | RowProgram]) -> int:
    """Return the fewest bytes that a program can move.

    Elements of its arguments are read once if some nest reads them before any writes
    them, and written once.
    """
    total = 0
    program = parse(recorded.program)
    for number, argument in enumerate(recorded.arguments):
        reads = writes = 0
        size = itemsize(argument.dtype)
        written = False
        for nest in program.nests:
            kernel = kernels[nest.kernel]
            assert isinstance(kernel, Kernel)
            for operand, used in zip(nest.operands, kernel.arguments, strict=True):
                if operand.base != number:
                    continue
                moving = math.prod(
                    extent
                    for extent, dim in zip(nest.extents, operand.dims, strict=True)
                    if dim >= 0
                )
                points = min(moving, math.prod(argument.extents))
                if used.whole:
                    points = math.prod(argument.extents)
                if (used.reads or used.reduces) and not written:
                    reads = max(reads, points)
                if used.writes or used.reduces:
                    writes = max(writes, points)
            written |= bool(writes)
        total += size * (reads + writes)
    return total
