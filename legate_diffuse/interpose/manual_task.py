# SPDX-License-Identifier: Apache-2.0
"""Stand-in for ``legate.core.ManualTask``, whose launch domain the program gives.

Follows: Legate (src/cpp/legate/operation/detail)
"""

from __future__ import annotations

from typing import Any

from legate_diffuse.interpose.access import real_store
from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.store import (
    LogicalStore,
    LogicalStorePartition,
    adopt,
    view_of,
)
from legate_diffuse.interpose.task import RealTask
from legate_diffuse.ir.privilege import READ, REDUCE, WRITE


class ManualTask(RealTask):
    """The real task, which gets its stores when it is submitted.

    So nobody else holds them until then, nor afterwards.
    """

    __slots__ = ("_arguments",)

    def __init__(self, task: Any) -> None:
        super().__init__(task)
        # with privileges, and what the real methods take beside
        self._arguments: list[tuple[int, Any, tuple[Any, ...], dict[str, Any]]] = []

    def add_input(self, arg: Any, *how: Any, **options: Any) -> None:
        """Add a store or partition that the task reads."""
        self._add(READ, arg, how, options)

    def add_output(self, arg: Any, *how: Any, **options: Any) -> None:
        """Add a store or partition that the task writes."""
        self._add(WRITE, arg, how, options)

    def add_reduction(self, arg: Any, redop: int, *how: Any, **options: Any) -> None:
        """Add a store or partition that the task reduces to."""
        self._add(REDUCE + int(redop), arg, how, options)

    def _add(
        self, privilege: int, arg: Any, how: tuple[Any, ...], options: dict[str, Any]
    ) -> None:
        if isinstance(arg, real.LogicalStore):
            arg = adopt(arg)
        elif not isinstance(arg, LogicalStore | LogicalStorePartition):
            raise TypeError(
                f"Expected a logical store or partition but got {type(arg)}"
            )
        self._arguments.append((privilege, arg, how, options))

    def run(self) -> None:
        """Submit the real task."""
        task, arguments = self._real, self._arguments
        self._arguments = []
        for privilege, arg, how, options in arguments:
            writes = privilege != READ
            if isinstance(arg, LogicalStore):
                made = real_store(view_of(arg), writes=writes)
            elif isinstance(arg, real.LogicalStorePartition):
                made = arg
            else:
                made = arg.make(writes=writes)
            if privilege == READ:
                task.add_input(made, *how, **options)
            elif privilege == WRITE:
                task.add_output(made, *how, **options)
            else:
                task.add_reduction(made, privilege - REDUCE, *how, **options)
        real.runtime.submit(task)
