# SPDX-License-Identifier: Apache-2.0
"""A library of Legate tasks as others write them.

It knows nothing of legate_diffuse. ``other_package`` registers its tasks.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import Any, Final

import legate.core as lc
from legate.core.types import rect_type

from .build import build


class OpCode(IntEnum):
    """The ids of the library's tasks."""

    AXPY = 0
    DISTANCE = 1
    SMOOTH = 2
    ROWS = 3
    PRODUCT = 4
    POSITIVE = 5
    CHECK = 6
    FLIP = 7
    SHIFT = 8
    LENGTH = 9
    DIAGONAL = 10


_RUNTIME: Final[Any] = lc.get_legate_runtime()

ctypes.CDLL(str(build())).other_create_library()
_LIBRARY: Final = _RUNTIME.find_library("other")


def store_of(array: Any) -> Any:
    """Return the store of a cuPyNumeric array."""
    (found,) = array.__legate_data_interface__["data"].values()
    return found.data


def axpy(a: Any, x: Any, y: Any) -> None:
    """Add a * x to y; a has one element."""
    task = _RUNTIME.create_auto_task(_LIBRARY, OpCode.AXPY)
    target = task.add_output(store_of(y))
    given = task.add_input(store_of(x))
    factor = task.add_input(store_of(a))
    old = task.add_input(store_of(y))
    task.add_constraint(lc.align(target, given))
    task.add_constraint(lc.align(target, old))
    task.add_constraint(lc.broadcast(factor))
    task.execute()


def distance(x: Any, y: Any, result: Any) -> None:
    """Add |x - y| of all elements to a result of one element."""
    _add_all(OpCode.DISTANCE, x, y, result)


def length(x: Any, y: Any, result: Any) -> None:
    """Add sqrt(x * x + y * y) of all elements to a result of one element."""
    _add_all(OpCode.LENGTH, x, y, result)


def _add_all(code: OpCode, x: Any, y: Any, result: Any) -> None:
    task = _RUNTIME.create_auto_task(_LIBRARY, code)
    first, second = task.add_input(store_of(x)), task.add_input(store_of(y))
    task.add_reduction(store_of(result), lc.ReductionOpKind.ADD)
    task.add_constraint(lc.align(first, second))
    task.execute()


def smooth(x: Any, y: Any) -> None:
    """Put the sum of each element and its neighbours into y."""
    task = _RUNTIME.create_auto_task(_LIBRARY, OpCode.SMOOTH)
    target, given = task.add_output(store_of(y)), task.declare_partition()
    task.add_input(store_of(x), given)
    task.add_constraint(lc.bloat(target, given, (1,), (1,)))
    task.execute()


class Matrix:
    """A sparse matrix, from where its rows begin, its columns and its values."""

    def __init__(self, begins: Any, columns: Any, values: Any) -> None:
        self.rows = _RUNTIME.create_store(rect_type(1), (begins.size - 1,))
        self.columns = store_of(columns)
        self.values = store_of(values)
        task = _RUNTIME.create_auto_task(_LIBRARY, OpCode.ROWS)
        low, high = (task.add_input(store_of(x)) for x in (begins[:-1], begins[1:]))
        made = task.add_output(self.rows)
        task.add_constraint(lc.align(made, low))
        task.add_constraint(lc.align(made, high))
        task.execute()

    def product(self, x: Any, y: Any) -> None:
        """Put the product with x into y."""
        hint = lc.ImageComputationHint
        task = _RUNTIME.create_auto_task(_LIBRARY, OpCode.PRODUCT)
        target = task.add_output(store_of(y))
        rows = task.add_input(self.rows)
        columns, values = task.add_input(self.columns), task.add_input(self.values)
        gathered = task.add_input(store_of(x))
        task.add_constraint(lc.align(target, rows))
        task.add_constraint(lc.image(rows, columns, hint=hint.FIRST_LAST))
        task.add_constraint(lc.image(rows, values, hint=hint.FIRST_LAST))
        if self.columns.type == lc.int64:
            task.add_constraint(lc.image(columns, gathered, hint=hint.MIN_MAX))
        else:
            # Legate has images of int64 only
            task.add_constraint(lc.broadcast(gathered))
        task.execute()

    def diagonal(self, y: Any) -> None:
        """Put the diagonal into y."""
        task = _RUNTIME.create_auto_task(_LIBRARY, OpCode.DIAGONAL)
        target = task.add_output(store_of(y))
        rows = task.add_input(self.rows)
        columns, values = task.add_input(self.columns), task.add_input(self.values)
        task.add_constraint(lc.align(target, rows))
        task.add_constraint(lc.image(rows, columns))
        task.add_constraint(lc.align(columns, values))
        task.execute()


def positive(x: Any) -> Any:
    """Return a store of the positive elements."""
    found = _RUNTIME.create_store(lc.float64, ndim=1)
    task = _RUNTIME.create_auto_task(_LIBRARY, OpCode.POSITIVE)
    task.add_input(store_of(x))
    task.add_output(found)
    task.execute()
    return found


def check(x: Any, y: Any) -> None:
    """Copy x to y; a negative element is an error."""
    task = _RUNTIME.create_auto_task(_LIBRARY, OpCode.CHECK)
    task.add_alignment(store_of(x), store_of(y))
    task.add_input(store_of(x))
    task.add_output(store_of(y))
    task.throws_exception(ValueError)
    task.execute()


def flip(y: Any, place: int) -> None:
    """Negate one element."""
    task = _RUNTIME.create_auto_task(_LIBRARY, OpCode.FLIP)
    target, old = task.add_output(store_of(y)), task.add_input(store_of(y))
    task.add_scalar_arg(place, lc.int64)
    task.add_constraint(lc.align(target, old))
    task.execute()


def shift(x: Any, y: Any, distance: float, back: bool) -> None:
    """Put x + distance, or x - distance, into y."""
    task = _RUNTIME.create_auto_task(_LIBRARY, OpCode.SHIFT)
    target, given = task.add_output(store_of(y)), task.add_input(store_of(x))
    task.add_scalar_arg(distance, lc.float64)
    task.add_scalar_arg(lc.Scalar(back, lc.bool_))
    task.add_constraint(lc.align(target, given))
    task.execute()
