# SPDX-License-Identifier: Apache-2.0
"""Logs windows, and what runs as it was submitted, if ``LEGATE_DIFFUSE_LOG`` asks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from legate_diffuse.fusion.plan import Plan, PlannedLaunch
from legate_diffuse.kernel.text import print_kernel
from legate_diffuse.launch.state import ClosedWindow
from legate_diffuse.observe.log import topic
from legate_diffuse.observe.wording import ending, plural, verb


class Logs:
    """Says nothing of what nobody wants to know."""

    def __init__(self, native: Any) -> None:
        self._native = native
        self._window = topic("window")
        self._fallback = topic("fallback")

    @property
    def are_on(self) -> bool:
        """Whether somebody wants to know of windows."""
        return self._window is not None or self._fallback is not None

    def planned(
        self, number: int, window: ClosedWindow, make: Callable[[], Plan]
    ) -> Plan:
        """Return the plan that is made for a window, which is logged."""
        if not self.are_on:
            return make()
        started = time.perf_counter()
        plan = make()
        seconds = time.perf_counter() - started
        operations, new = window.operations, plan.last_use == 0
        if self._window is not None:
            tasks = sum(map(_tasks, plan.launches))
            say = self._window.info if new else self._window.debug
            how = f"planned in {1e3 * seconds:.1f} ms" if new else "planned before"
            say(
                f"window {number}: {plural(len(operations), 'operation')} became "
                f"{plural(tasks, 'task')}, {how}; it ends where "
                f"{ending(window.cause)}"
            )
        if new and self._fallback is not None:
            for launch in plan.launches:
                self._as_submitted(operations, launch)
        return plan

    def passed(self, operation: Any) -> None:
        """Log an operation that is in no window."""
        if self._fallback is None:
            return
        name = type(operation).__name__
        if hasattr(operation, "task_id"):
            library = operation.library
            task, _ = self._native.describe_task(library.raw_handle, operation.task_id)
            name = f"{task} of library {library.name}"
        self._fallback.first(f"{name} cannot wait, so it runs as it was submitted")

    def called(self, function: str) -> None:
        """Log a function of Legate's before which the window had to end."""
        if self._fallback is not None:
            self._fallback.first(f"{function} is called, so the window ends")

    def late(self, launch: PlannedLaunch, operations: list[Any]) -> None:
        """Log a launch that waits for the second time that it is needed."""
        if self._fallback is not None:
            self._fallback.first(
                f"{_verbs(operations, launch.tasks)}: so little work that its kernels "
                "are compiled when they are needed again, so it runs as it was "
                "submitted"
            )

    def failed(self, stage: str, reason: object, describe: Callable[[], str]) -> None:
        """Log a failure, and what failed as a text that can be read again."""
        if self._fallback is not None:
            self._fallback.info(f"{stage} of a group failed: {reason}\n{describe()}")

    def refuted(self, text: str) -> None:
        """Log the report about a plan that is wrong."""
        if self._fallback is not None:
            self._fallback.info(f"a plan is wrong: {text}")

    def _as_submitted(self, operations: list[Any], launch: PlannedLaunch) -> None:
        if launch.fused or self._fallback is None:
            return
        refusal = launch.groups[0].refusal if launch.groups else None
        reason = f": {refusal.value}" if refusal is not None else ""
        self._fallback.first(
            f"{_verbs(operations, launch.tasks)} runs as it was submitted{reason}"
        )


def kernels_text(launch: PlannedLaunch) -> str:
    """Return the kernels of a launch as text."""
    return "\n".join(print_kernel(nest.nest.kernel) for nest in launch.nests)


def _tasks(launch: PlannedLaunch) -> int:
    if not launch.fused:
        return len(launch.tasks)
    return len(launch.hoisted) + len(launch.late) + bool(launch.nests)


def _verbs(operations: list[Any], tasks: tuple[int, ...]) -> str:
    return " ".join(dict.fromkeys(verb(operations[n]) for n in tasks))
