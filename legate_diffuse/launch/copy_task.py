# SPDX-License-Identifier: Apache-2.0
"""Copies that no kernel expresses, as those of arrays that were reshaped.

Their original tasks compute the place of each element, which takes ten times as long as
to copy it. One of ours, with the same arguments and constraints, copies as many at a
time as lie one behind the other.
"""

from __future__ import annotations

from typing import Any

from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.ir import OperationKind
from legate_diffuse.ir.privilege import READ, WRITE
from legate_diffuse.stores.legate import Legate


class CopyTask:
    """Lets copies that run as they were submitted be tasks of this package's."""

    def __init__(self, legate: Legate, meanings: Meanings) -> None:
        self._legate = legate
        self._meanings = meanings
        self._library: Any = None

    def of(self, operation: Any) -> Any:
        """Return what to submit for an operation: our task, or the operation itself."""
        kind = operation.kind
        if (
            kind is None
            or not self._is_copy(kind.operation)
            or all([view.affine for view in operation.views])
            or sorted(operation.privileges) != [READ, WRITE]
            or not self._legate.native.kernels_run_in_process()
        ):
            return operation
        if self._library is None:
            self._library = self._legate.runtime.find_library("legate_diffuse")
        task = operation.task()
        task.library = self._library
        task.task_id = self._legate.native.COPY_TASK
        return task

    def _is_copy(self, kind: OperationKind) -> bool:
        return self._meanings.copies(kind) and kind.inputs == kind.outputs
