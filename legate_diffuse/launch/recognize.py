# SPDX-License-Identifier: Apache-2.0
"""Tells which operation a submitted task is.

The answer depends on the task's id, its operation code and the types of its
arguments, and is looked up in one dictionary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.storage import dtype_name
from legate_diffuse.ops.registry import OperationKind

_INPUT = 0
_OUTPUT = 1


@dataclass(frozen=True, slots=True)
class Kind:
    """An operation kind with the number that stands for it in a window's key."""

    id: int
    operation: OperationKind


class Recognizer:
    """Maps tasks of the libraries to operation kinds."""

    def __init__(self) -> None:
        self.cupynumeric: Any = None
        # task id -> (name of the task, operation code -> name of the code)
        self._tasks: dict[int, tuple[str, dict[int, str]]] = {}
        self._kinds: dict[tuple[Any, ...], Kind | None] = {}

    def add_library(self, name: str, library: Any) -> None:
        """Learn the task ids of a library that a client has found."""
        if name != "cupynumeric":
            return
        from cupynumeric.config import (
            BinaryOpCode,
            ConvertCode,
            CuPyNumericOpCode,
            UnaryOpCode,
        )

        self.cupynumeric = library
        for task, codes in (
            (CuPyNumericOpCode.UNARY_OP, UnaryOpCode),
            (CuPyNumericOpCode.BINARY_OP, BinaryOpCode),
            (CuPyNumericOpCode.CONVERT, ConvertCode),
            (CuPyNumericOpCode.WHERE, ()),
            (CuPyNumericOpCode.FILL, ()),
        ):
            names = {int(code): code.name for code in codes}
            self._tasks[int(task)] = (task.name, names)

    def recognize_task(self, task: Any) -> Kind | None:
        """Return the kind of a stand-in auto task, None if it cannot wait."""
        if task.library is not self.cupynumeric or task.task_id not in self._tasks:
            return None
        scalars = task.scalars
        key = (
            task.task_id,
            scalars[0][0] if scalars else None,
            *task.roles,
            *[view.root.dtype for view in task.arguments],
        )
        if len(scalars) > 1:
            key += tuple(_scalar_dtype(value) for value, _ in scalars[1:])
        try:
            return self._kinds[key]
        except KeyError:
            kind = self._kinds[key] = self._new_kind(task)
            return kind

    def recognize_fill(self, fill: Any) -> Kind | None:
        """Return the kind of a fill."""
        dtype = fill.views[0].root.dtype
        # a kind decides on the number of views, or a window's key is ambiguous
        key = ("fill", dtype, len(fill.views))
        try:
            return self._kinds[key]
        except KeyError:
            operation = OperationKind("FILL", "", (dtype,), (dtype,), ())
            kind = self._kinds[key] = Kind(len(self._kinds), operation)
            return kind

    def _new_kind(self, task: Any) -> Kind | None:
        name, codes = self._tasks[task.task_id]
        dtypes: tuple[list[str], list[str]] = ([], [])
        for role, view in zip(task.roles, task.arguments, strict=True):
            if role not in (_INPUT, _OUTPUT) or view.root.dtype is None:
                return None
            dtypes[role].append(view.root.dtype)
        scalars = list(task.scalars)
        code = codes.get(int(scalars.pop(0)[0]), "") if codes and scalars else ""
        extra = tuple(_scalar_dtype(value) for value, _ in scalars)
        if (codes and not code) or None in extra:
            return None
        # the window takes the first view for the one that is written
        if task.roles[0] != _OUTPUT or len(dtypes[_OUTPUT]) != 1:
            return None
        operation = OperationKind(
            name,
            code,
            tuple(dtypes[_INPUT]),
            tuple(dtypes[_OUTPUT]),
            tuple(str(dtype) for dtype in extra),
        )
        return Kind(len(self._kinds), operation)


def _scalar_dtype(value: Any) -> str | None:
    return dtype_name(value.type) if type(value) is real.Scalar else None
