# SPDX-License-Identifier: Apache-2.0
"""Where a program's time goes, measured while it is explained on a page."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from legate_diffuse.observe.location import locate


@dataclass(slots=True)
class Wait:
    """How long, and how often, the program has waited at a place."""

    seconds: float = 0.0
    times: int = 0


@dataclass(slots=True)
class Ledger:
    """Clocks of the program's own thread, in seconds.

    Attributes:
        started: when the explanation began.
        spent: by what it was spent on: planning, submission, explanation.
        waits: by the line that waits for a value, or for all tasks.
        passed: what the program did between windows that is no task, by its line and
            the name of Legate's function.
        late: operations that ran as they were because their kernels were not compiled
            yet, by their line and the name of their task.
    """

    started: float = field(default_factory=time.perf_counter)
    spent: dict[str, float] = field(default_factory=dict)
    waits: dict[str, Wait] = field(default_factory=dict)
    passed: Counter[tuple[str, str]] = field(default_factory=Counter)
    late: set[tuple[str, str]] = field(default_factory=set)
    # seconds of the finished blocks in the current one
    _within: float = 0.0

    def clock(self, owner: object, method: str, name: str) -> None:
        """Sum the time of an object's method under a name."""
        function = getattr(owner, method)

        def run(*arguments: Any, **options: Any) -> Any:
            started, outer = self._begin()
            try:
                return function(*arguments, **options)
            finally:
                self.spent[name] = self.spent.get(name, 0.0) + self._end(started, outer)

        setattr(owner, method, run)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Sum the time of a block under the program's current line."""
        started, outer = self._begin()
        try:
            yield
        finally:
            wait = self.waits.setdefault(locate(), Wait())
            wait.seconds += self._end(started, outer)
            wait.times += 1

    def _begin(self) -> tuple[float, float]:
        outer, self._within = self._within, 0.0
        return time.perf_counter(), outer

    def _end(self, started: float, outer: float) -> float:
        """Return the seconds of a block, without those of the blocks in it."""
        seconds = time.perf_counter() - started
        own = seconds - self._within
        self._within = outer + seconds
        return own

    def note_late(self, operations: Iterable[Any]) -> None:
        """Take note of operations whose kernels are compiled later."""
        self.late.update(
            (one.provenance_, one.kind.operation.task) for one in operations
        )

    def note_passed(self, name: str) -> None:
        """Take note of something that is no task, and ended the window."""
        self.passed[locate(), name] += 1


@dataclass(frozen=True, slots=True)
class TaskTime:
    """Tasks of one name from one place that run as they are."""

    name: str
    place: str
    seconds: float
    times: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What the clocks say when the program ends, in seconds.

    ``kernels`` are by number, summed over threads, as ``other_tasks`` are.
    """

    elapsed: float
    processors: int
    kernels: list[float]
    other_tasks: list[TaskTime]
    compiling: float
    ledger: Ledger


def measure(
    legate: Any, ledger: Ledger, fused: Collection[str], compiling: float
) -> Measured:
    """Wait for all tasks, and read the clocks; ``fused`` are names of fused tasks."""
    # only the first of several ranks explains, and all would have to wait
    if legate.runtime.node_count == 1:
        with ledger.waiting():
            legate.runtime.issue_execution_fence(block=True)
    native = legate.native
    return Measured(
        time.perf_counter() - ledger.started,
        legate.runtime.get_machine().count(),
        [nanoseconds * 1e-9 for nanoseconds in native.kernel_nanoseconds()],
        [
            TaskTime(name, place, nanoseconds * 1e-9, times)
            for name, place, nanoseconds, times in native.task_times()
            if name not in fused
        ],
        compiling,
        ledger,
    )
