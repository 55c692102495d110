# SPDX-License-Identifier: Apache-2.0
"""Where a program's time goes, measured while it is explained on a page."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from legate_diffuse.fusion.plan import PlannedNest
from legate_diffuse.observe.counters import Counters
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

    def clear(self) -> None:
        """Begin anew."""
        self.started, self._within = time.perf_counter(), 0.0
        for notes in (self.spent, self.waits, self.passed, self.late):
            notes.clear()

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
    def waiting(self, place: str | None = None) -> Iterator[None]:
        """Sum the time of a block under a place, by default the current line."""
        started, outer = self._begin()
        try:
            yield
        finally:
            wait = self.waits.setdefault(locate() if place is None else place, Wait())
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

    def since(self, before: TaskTime | None) -> TaskTime:
        """Return what was added after an earlier time."""
        if before is None:
            return self
        return replace(
            self,
            seconds=self.seconds - before.seconds,
            times=self.times - before.times,
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """What the clocks and counters say, in seconds.

    ``operations`` became ``tasks``, those that could not wait included. ``kernels`` are
    by number, summed over threads, as ``other_tasks`` are. ``runs`` are of operations
    on small arrays, at once and in the program's thread.
    """

    elapsed: float = 0.0
    processors: int = 1
    operations: int = 0
    tasks: int = 0
    kernels: list[float] = field(default_factory=list)
    other_tasks: list[TaskTime] = field(default_factory=list)
    compiling: float = 0.0
    ledger: Ledger = field(default_factory=Ledger)
    runs: list[TaskTime] = field(default_factory=list)

    def of_nests(self, nests: Iterable[PlannedNest]) -> float:
        """Return the seconds of the kernels of nests."""
        return sum(
            self.kernels[nest.kernel] for nest in nests if nest.kernel is not None
        )

    def since(self, before: Measured) -> Measured:
        """Return what was measured after an earlier time, when the ledger was empty."""
        kernels = zip_longest(self.kernels, before.kernels, fillvalue=0.0)
        return replace(
            self,
            operations=self.operations - before.operations,
            tasks=self.tasks - before.tasks,
            kernels=[after - already for after, already in kernels],
            other_tasks=_since(self.other_tasks, before.other_tasks),
            runs=_since(self.runs, before.runs),
            compiling=self.compiling - before.compiling,
        )


def _since(tasks: Iterable[TaskTime], before: Iterable[TaskTime]) -> list[TaskTime]:
    earlier = {(task.name, task.place): task for task in before}
    added = [task.since(earlier.get((task.name, task.place))) for task in tasks]
    return [task for task in added if task.times]


def times_of_runs(native: Any) -> list[TaskTime]:
    """Return what ran at once since the start of the program.

    Many of them are an estimate, after those that were looked at.
    """
    return [
        TaskTime(name, place, nanoseconds * 1e-9, times)
        for name, place, nanoseconds, times in native.run_times()
    ]


def measure(
    legate: Any, ledger: Ledger, fused: Collection[str], counters: Counters
) -> Measured:
    """Wait for all tasks, and read the clocks; ``fused`` are names of fused tasks."""
    # only the first of several ranks explains, and all would have to wait
    if legate.runtime.node_count == 1:
        with ledger.waiting(place=""):
            legate.runtime.issue_execution_fence(block=True)
    native = legate.native
    counters.add_runs(*native.take_runs())
    return Measured(
        time.perf_counter() - ledger.started,
        legate.runtime.get_machine().count(),
        counters.tasks_seen,
        counters.tasks_submitted,
        [nanoseconds * 1e-9 for nanoseconds in native.kernel_nanoseconds()],
        [
            TaskTime(name, place, nanoseconds * 1e-9, times)
            for name, place, nanoseconds, times in native.task_times()
            if name not in fused
        ],
        counters.compile_seconds,
        ledger,
        times_of_runs(native),
    )
