# SPDX-License-Identifier: Apache-2.0
"""Tells which operation a submitted task of cuPyNumeric is.

The answer depends on the task's id, its operation code and the privileges and types of
its arguments, and is looked up in one dictionary.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from math import prod
from typing import Any, Final

from legate_diffuse.ir import OperationKind
from legate_diffuse.ir.privilege import READ, REDUCE
from legate_diffuse.libraries.cupynumeric import meanings
from legate_diffuse.libraries.registry import Kind
from legate_diffuse.stores.dtype import dtype_name
from legate_diffuse.stores.legate import Legate

# How many scalars come before the operation's own ones, and which is the code.
_ELEMENT_WISE = (1, 0)
_LAYOUTS: Final = {
    "UNARY_OP": _ELEMENT_WISE,
    "BINARY_OP": _ELEMENT_WISE,
    "CONVERT": _ELEMENT_WISE,
    "BINARY_RED": _ELEMENT_WISE,
    # then the shape, and whether there is a mask
    "SCALAR_UNARY_RED": (3, 0),
    # after the axis; then whether there is a mask
    "UNARY_RED": (3, 1),
    "WHERE": (0, None),
    "PUTMASK": (0, None),
    "CHOOSE": (0, None),
    "SELECT": (0, None),
    "FILL": (0, None),
    "DOT": (0, None),
    "MATVECMUL": (0, None),
    "ARANGE": (0, None),
    "EYE": (0, None),
    "TRILU": (0, None),
    # of one element
    "READ": (0, None),
    "WRITE": (0, None),
}


_LARGEST_PRODUCT: Final = 2**16  # elements
_NARROWEST_PRODUCT: Final = 8  # rows or columns


class CupynumericRecognizer:
    """Maps the tasks of cuPyNumeric to operation kinds."""

    def __init__(self, legate: Legate) -> None:
        self._legate = legate
        self.cupynumeric: Any = None
        # task id -> (name of the task, operation code -> name of the code)
        self._tasks: dict[int, tuple[str, dict[int, str]]] = {}
        self._kinds: dict[tuple[Any, ...], Kind | None] = {}
        self._ids = count()

    def add_library(self, name: str, library: Any) -> None:
        """Learn the task ids of a library that a client has found."""
        if name != "cupynumeric":
            return
        from cupynumeric.config import (
            BinaryOpCode,
            ConvertCode,
            CuPyNumericOpCode,
            UnaryOpCode,
            UnaryRedCode,
        )

        codes = {
            "UNARY_OP": UnaryOpCode,
            "BINARY_OP": BinaryOpCode,
            "BINARY_RED": BinaryOpCode,
            "CONVERT": ConvertCode,
            "SCALAR_UNARY_RED": UnaryRedCode,
            "UNARY_RED": UnaryRedCode,
        }
        for name in _LAYOUTS:
            names = {int(code): code.name for code in codes.get(name, ())}
            self._tasks[int(CuPyNumericOpCode[name])] = (name, names)
        self.cupynumeric = library

    def recognize_task(self, task: Any) -> Kind | None:
        """Return the kind of a stand-in auto task, None if it cannot wait."""
        if task.library is not self.cupynumeric:
            return None
        if not task.plain or task.task_id not in self._tasks:
            return self._recognize_opaque(task)
        scalars = task.scalars
        name, _ = self._tasks[task.task_id]
        if name == "MATVECMUL" and _suits_blas(task.arguments[1].shape):
            return self._recognize_opaque(task)
        own, code = _LAYOUTS[name]
        key = (
            task.task_id,
            None if code is None else scalars[code][0],
            *task.privileges,
            *[view.root.dtype for view in task.arguments],
        )
        if len(scalars) > own:
            extra = self._scalar_dtypes(scalars[own:])
            if None in extra:
                scalars[own:] = map(self._as_scalar, scalars[own:])
                extra = self._scalar_dtypes(scalars[own:])
            key += extra
        try:
            return self._kinds[key]
        except KeyError:
            # whoever was here meanwhile has found the same
            return self._kinds.setdefault(key, self._new_kind(task))

    def _recognize_opaque(self, task: Any) -> Kind | None:
        """Return the kind of a task that runs as it is, in its place."""
        key = ("opaque", task.task_id, *task.privileges)
        try:
            return self._kinds[key]
        except KeyError:
            return self._kinds.setdefault(key, self._opaque_kind(task))

    def _opaque_kind(self, task: Any) -> Kind:
        from cupynumeric.config import CuPyNumericOpCode

        privileges = task.privileges
        inputs = privileges.count(READ)
        operation = OperationKind(
            CuPyNumericOpCode(task.task_id).name + "_TASK",
            "",
            ("any",) * inputs,
            ("any",) * (len(privileges) - inputs),
        )
        return self._number(operation, privileges, pointwise=False)

    def recognize_fill(self, fill: Any) -> Kind | None:
        """Return the kind of a fill."""
        dtype = fill.views[0].root.dtype
        # a kind has one number of views, or a window's key would be ambiguous
        key = ("fill", dtype, len(fill.views))
        try:
            return self._kinds[key]
        except KeyError:
            operation = OperationKind("FILL", "", (dtype,), (dtype,), ())
            kind = self._number(operation, fill.privileges, pointwise=True)
            return self._kinds.setdefault(key, kind)

    def _new_kind(self, task: Any) -> Kind | None:
        name, codes = self._tasks[task.task_id]
        own, code_at = _LAYOUTS[name]
        inputs: list[str] = []
        outputs: list[str] = []
        for privilege, view in zip(task.privileges, task.arguments, strict=True):
            if view.root.dtype is None:
                return None
            (inputs if privilege == READ else outputs).append(view.root.dtype)
        scalars = task.scalars
        code = "" if code_at is None else codes.get(int(scalars[code_at][0]), "")
        extra = self._scalar_dtypes(scalars[own:])
        if (codes and not code) or None in extra:
            return self._recognize_opaque(task)
        operation = OperationKind(
            name,
            code,
            tuple(inputs),
            tuple(outputs),
            tuple(str(dtype) for dtype in extra),
        )
        pointwise = meanings.covers(operation) and max(task.privileges) < REDUCE
        return self._number(operation, task.privileges, pointwise=pointwise)

    def _number(
        self, operation: OperationKind, privileges: Sequence[int], *, pointwise: bool
    ) -> Kind:
        changed = tuple(n for n, each in enumerate(privileges) if each != READ)
        covered = meanings.covers(operation)
        return Kind(
            next(self._ids),
            operation,
            changed,
            pointwise,
            covered,
            covered and meanings.traps(operation),
        )

    def _as_scalar(self, argument: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return a scalar argument as a Scalar, if it was a value and a type."""
        value, dtype = argument
        legate = self._legate
        if type(dtype) is not legate.Type or type(value) is legate.Scalar:
            return argument
        return legate.Scalar(value, dtype), None

    def _scalar_dtypes(
        self, scalars: Sequence[tuple[Any, Any]]
    ) -> tuple[str | None, ...]:
        """Return the types of scalar arguments, None for what is not a Scalar."""
        scalar = self._legate.Scalar
        return tuple(
            [
                dtype_name(value.type) if type(value) is scalar else None
                for value, _ in scalars
            ]
        )


def _suits_blas(matrix: tuple[int, ...]) -> bool:
    """Whether a matrix's product with a vector is faster as a task of its own.

    A loop nest reads a small matrix that is not narrow in less time than a task takes
    to start. Measured from 3 x 20,000 to 512 x 512.
    """
    return prod(matrix) > _LARGEST_PRODUCT or min(matrix) < _NARROWEST_PRODUCT
