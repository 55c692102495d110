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
from legate_diffuse.kernel.operators import ROW_ELEMENT, ROW_SUMS
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


Step = tuple[str, int, "Symbols", tuple[int, ...]]


class Body:
    """The body of a kernel, made ready to run often.

    Args:
        kernel: what to run.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.arguments = kernel.arguments
        self.num_scalars = len(kernel.scalars)
        # what each step is, its argument or the like, its symbol, and its operands
        self._steps: list[Step] = [
            (kind, number, np.asarray(symbol), operands)
            for kind, number, symbol, operands in (
                _step(kernel, step) for step in kernel.body
            )
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
        for kind, number, symbol, operands in self._steps:
            if kind == "op":
                values.append(applied(symbol, [values[n] for n in operands]))
            elif kind == "load":
                values.append(load(number))
            elif kind == "scalar":
                values.append(scalars[number])
            elif kind == "constant":
                values.append(symbol)
            elif kind == "index":
                loop = len(extents) - 1 - number
                along = np.arange(first[loop], first[loop] + extents[loop])
                shape = [-1 if each == loop else 1 for each in range(len(extents))]
                values.append(index_symbols(along).reshape(shape))
            elif kind == "rows":
                given = [values[n] for n in operands]
                values.append(_over_rows(symbol, given, numbers))
            elif kind == "element":
                rows, columns, elements, wanted = [values[n] for n in operands]
                given = [rows, digest(columns), digest(elements), wanted]
                values.append(applied(symbol, given))
            elif kind == "store":
                # what was loaded is a part of memory, which is about to change
                found.written[number] = values[operands[0]].copy()
            else:
                found.reduced[number] = applied(symbol, [values[operands[0]]])
        return found


def _step(
    kernel: Kernel, step: Instruction
) -> tuple[str, int, np.uint64, tuple[int, ...]]:
    nothing = np.uint64(0)
    match step:
        case Load(argument):
            return "load", argument, nothing, ()
        case Scalar(index):
            return "scalar", index, nothing, ()
        case Index(dimension):
            return "index", dimension, nothing, ()
        case Constant(dtype, bits):
            return "constant", 0, tag("constant", dtype, bits), ()
        case Op(name, dtype, operands):
            if name in ROW_SUMS:
                return "rows", 0, tag("op", name, dtype), operands
            if name == ROW_ELEMENT:
                return "element", 0, tag("op", name, dtype), operands
            types = tuple(kernel.dtype_of(operand) for operand in operands)
            return "op", 0, tag("op", name, dtype, types), operands
        case Store(argument, value):
            return "store", argument, nothing, (value,)
        case Reduce(argument, value):
            given = kernel.arguments[argument]
            symbol = tag("reduce", given.reduces, given.dtype)
            return "reduce", argument, symbol, (value,)


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
