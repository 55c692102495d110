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
from legate_diffuse.kernel.operators import OF_ROWS
from legate_diffuse.proof.symbols import applied, digest, mixed, tag

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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


def run_kernel(
    kernel: Kernel,
    load: Callable[[int], Symbols],
    scalars: Sequence[Symbols],
    first: Sequence[int],
    extents: Sequence[int],
    numbers: Numbers,
) -> Results:
    """Return what a kernel gives at the points of a box.

    Args:
        kernel: what to run.
        load: returns the elements of an argument at the points, or all elements of
            one that does not move.
        scalars: the symbols of the scalar block.
        first: the index of the first point along each loop.
        extents: of the loops.
        numbers: what rows and columns are.
    """
    values: list[Symbols] = []
    found = Results({}, {})
    for step in kernel.body:
        match step:
            case Load(argument):
                values.append(load(argument))
            case Scalar(index):
                values.append(scalars[index])
            case Index(dimension):
                loop = len(extents) - 1 - dimension
                along = np.arange(first[loop], first[loop] + extents[loop])
                shape = [-1 if each == loop else 1 for each in range(len(extents))]
                values.append(index_symbols(along).reshape(shape))
            case Constant(dtype, bits):
                values.append(np.asarray(tag("constant", dtype, bits)))
            case Op(name, dtype, operands):
                given = [values[operand] for operand in operands]
                if name in OF_ROWS:
                    values.append(_over_rows(name, dtype, given, numbers))
                else:
                    types = tuple(kernel.dtype_of(operand) for operand in operands)
                    values.append(applied(tag("op", name, dtype, types), given))
            case Store(argument, value):
                found.written[argument] = values[value]
            case Reduce(argument, value):
                how = kernel.arguments[argument].reduces
                dtype = kernel.arguments[argument].dtype
                found.reduced[argument] = applied(
                    tag("reduce", how, dtype), [values[value]]
                )
    return found


def index_symbols(indices: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Symbols:
    """Return the symbols of indices."""
    return mixed(indices.astype(np.uint64) * _INDEX)


def _over_rows(
    name: str, dtype: str, operands: Sequence[Symbols], numbers: Numbers
) -> Symbols:
    """Return the symbols of an operation over rows of elements.

    Where it is not known which elements these are, it depends on all.
    """
    rows, columns, values, other = operands
    found = numbers.find(rows)
    operation = tag("op", name, dtype)
    sums = []
    for first, last in found or ():
        own = columns[first : last + 1]
        places = numbers.find(own) if first >= 0 and last < len(columns) else None
        if places is None or len(values) <= last:
            return _over_all(operation, operands)
        terms = [operation]
        if name == "row_element":
            return _over_all(operation, operands)
        where = [place for (place,) in places]
        if where and not (min(where) >= 0 and max(where) < len(other)):
            return _over_all(operation, operands)
        total = digest(applied(terms[0], [values[first : last + 1], other[where]]))
        sums.append(total)
    if found is None:
        return _over_all(operation, operands)
    return np.array(sums, dtype=np.uint64).reshape(rows.shape)


def _over_all(operation: np.uint64, operands: Sequence[Symbols]) -> Symbols:
    rows, *whole = operands
    moving = [each if each.shape == rows.shape else digest(each) for each in whole]
    return applied(operation, [rows, *moving])
