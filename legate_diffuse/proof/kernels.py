# SPDX-License-Identifier: Apache-2.0
"""Runs the bodies of kernels on symbols."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from legate_diffuse.kernel.ir import (
    Constant,
    Index,
    Kernel,
    Load,
    Op,
    Reduce,
    Scalar,
    Store,
)
from legate_diffuse.kernel.operators import OF_ROWS, ROW_ELEMENT, ROW_SUMS
from legate_diffuse.proof.symbols import applied, digest, mixed, tag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from legate_diffuse.kernel.ir import Instruction
    from legate_diffuse.proof.symbols import Symbols

_INDEX: Final = np.uint64(0x2545F4914F6CDD1D)


@dataclass
class Numbers:
    """The numbers for which some symbols stand: rows, and the columns in them.

    Rows are pairs of numbers, the first and the last element.
    """

    of: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def find(self, symbols: Symbols) -> list[tuple[int, ...]] | None:
        """Return what symbols stand for, None if that of one is not known."""
        found = [self.of.get(int(symbol)) for symbol in symbols.reshape(-1)]
        known = [each for each in found if each is not None]
        return known if len(known) == len(found) else None


@dataclass
class Results:
    """What a kernel writes, and what it combines, by argument."""

    written: dict[int, Symbols]
    reduced: dict[int, Symbols]


class Body:
    """The body of a kernel, made ready to run often.

    Args:
        kernel: what to run.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.arguments = kernel.arguments
        self.num_scalars = len(kernel.scalars)
        # with the symbol of each
        self._steps = [
            (each, np.asarray(_symbol(kernel, each))) for each in kernel.body
        ]

    def run(
        self,
        load: Callable[[int], Symbols],
        scalars: Sequence[Symbols],
        first: Sequence[int],
        extents: Sequence[int],
        numbers: Numbers,
    ) -> Results:
        """Return what the kernel gives at the points of a box.

        Args:
            load: returns the elements of an argument at the points, or all elements of
                one that does not move.
            scalars: the symbols of the scalar block.
            first: the index of the first point along each loop.
            extents: of the loops.
            numbers: what rows and columns are.
        """
        values: list[Symbols] = []
        found = Results({}, {})
        for step, symbol in self._steps:
            match step:
                case Load(argument):
                    values.append(load(argument))
                case Scalar(index):
                    values.append(scalars[index])
                case Constant():
                    values.append(symbol)
                case Index(dimension):
                    loop = len(extents) - 1 - dimension
                    along = np.arange(first[loop], first[loop] + extents[loop])
                    shape = [-1 if each == loop else 1 for each in range(len(extents))]
                    values.append(index_symbols(along).reshape(shape))
                case Op(name, _, operands):
                    given = [values[n] for n in operands]
                    if name in ROW_SUMS:
                        values.append(_over_rows(symbol, given, numbers))
                        continue
                    if name == ROW_ELEMENT:
                        given[1:3] = map(digest, given[1:3])
                    values.append(applied(symbol, given))
                case Store(argument, value):
                    # what was loaded is a part of memory, which is about to change
                    found.written[argument] = values[value].copy()
                case Reduce(argument, value):
                    found.reduced[argument] = applied(symbol, [values[value]])
        return found


def _symbol(kernel: Kernel, step: Instruction) -> np.uint64:
    """Return the symbol of what a step does, if that has one."""
    match step:
        case Constant(dtype, bits):
            return tag("constant", dtype, bits)
        case Op(name, dtype, operands) if name in OF_ROWS:
            return tag("op", name, dtype)
        case Op(name, dtype, operands):
            types = tuple(kernel.dtype_of(operand) for operand in operands)
            return tag("op", name, dtype, types)
        case Reduce(argument):
            given = kernel.arguments[argument]
            return tag("reduce", given.reduces, given.dtype)
    return np.uint64(0)


def index_symbols(indices: NDArray[np.int64]) -> Symbols:
    """Return the symbols of indices."""
    return mixed(indices.astype(np.uint64) * _INDEX)


def _over_rows(
    operation: Symbols, operands: Sequence[Symbols], numbers: Numbers
) -> Symbols:
    """Return the symbols of sums over rows of elements.

    Where it is not known which elements these are, they depend on all; where the
    columns are not known, on what the row has and on all that it may gather.
    """
    rows, columns, values, other = operands
    found = numbers.find(rows)
    if found is None:
        return _over_all(operation, operands)
    sums = []
    for first, last in found:
        if first < 0 or last >= min(len(columns), len(values)):
            return _over_all(operation, operands)
        own = values[first : last + 1]
        places = numbers.find(columns[first : last + 1])
        if places is None:
            terms = [own, columns[first : last + 1], digest(other)]
            sums.append(digest(applied(operation, terms)))
            continue
        where = [place for (place,) in places]
        if where and not 0 <= min(where) <= max(where) < len(other):
            return _over_all(operation, operands)
        sums.append(digest(applied(operation, [own, other[where]])))
    return np.array(sums, dtype=np.uint64).reshape(rows.shape)


def _over_all(operation: Symbols, operands: Sequence[Symbols]) -> Symbols:
    rows, *whole = operands
    return applied(operation, [rows, *map(digest, whole)])
