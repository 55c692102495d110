# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for the tasks of ``legate.core.task``, which are Python functions.

Legate unpacks the arguments of such a task in Cython, into a real task.
"""

from __future__ import annotations

from typing import Any

from legate.core._ext.task.py_task import PyTask as RealPyTask

from legate_diffuse.interpose.array import LogicalArray
from legate_diffuse.interpose.task import RealTask, real_array


class PyTask(RealPyTask):
    """A ``legate.core.task.PyTask`` that prepares stand-in tasks."""

    def prepare_call(self, *args: Any, **kwargs: Any) -> Any:
        """Return a task that has its arguments."""
        return PreparedTask(super().prepare_call(*args, **kwargs))


class PreparedTask(RealTask):
    """Stand-in for an ``AutoTask`` that has its arguments: the real one."""

    __slots__ = ()

    def find_or_declare_partition(self, array: Any) -> Any:
        """Return the partition symbol of an argument."""
        return self._real.find_or_declare_partition(LogicalArray.to_real(array))

    def add_alignment(self, array_or_store1: Any, array_or_store2: Any) -> None:
        """Align two arguments."""
        self._real.add_alignment(
            real_array(array_or_store1), real_array(array_or_store2)
        )

    def add_broadcast(self, array_or_store: Any, axes: Any = None) -> None:
        """Broadcast an argument along some or all dimensions."""
        self._real.add_broadcast(real_array(array_or_store), axes)
