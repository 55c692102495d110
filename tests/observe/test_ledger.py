# SPDX-License-Identifier: Apache-2.0
"""The ledger sums times under names and lines."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from legate_diffuse.observe import ledger as module
from legate_diffuse.observe.counters import Counters
from legate_diffuse.observe.ledger import Ledger, Measured, TaskTime, Wait, measure

HERE = "test_ledger.py"


@pytest.fixture(autouse=True)
def _ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second pass between any two looks at the clock."""
    ticks = iter(range(100))
    monkeypatch.setattr(
        module, "time", SimpleNamespace(perf_counter=lambda: float(next(ticks)))
    )


def test_functions_are_clocked_under_their_name_even_if_they_fail() -> None:
    ledger, worker = Ledger(started=0.0), SimpleNamespace(plan=int, submit=min)
    ledger.clock(worker, "plan", "planning")
    ledger.clock(worker, "submit", "submission")
    assert worker.plan("3", base=8) == 3
    with pytest.raises(ValueError):
        worker.plan("no number")
    assert worker.submit(1, 3) == 1
    assert ledger.spent == {"planning": 2.0, "submission": 1.0}


def test_time_within_another_clock_counts_once() -> None:
    ledger = Ledger(started=0.0)

    def submit() -> None:
        worker.plan("3")
        with ledger.waiting():
            worker.plan("4")

    worker = SimpleNamespace(plan=int, submit=submit)
    ledger.clock(worker, "plan", "planning")
    ledger.clock(worker, "submit", "submission")
    worker.submit()
    # each of the two plans takes a second, waiting two more, and three lie around
    assert ledger.spent == {"planning": 2.0, "submission": 3.0}
    assert [wait.seconds for wait in ledger.waits.values()] == [2.0]


def test_waits_are_summed_by_line() -> None:
    ledger = Ledger(started=0.0)
    line = sys._getframe().f_lineno + 2
    for _ in range(2):
        with ledger.waiting():
            pass
    ((where, wait),) = ledger.waits.items()
    assert where.endswith(f"{HERE}:{line}")
    assert wait == Wait(2.0, 2)


def test_what_passes_is_counted_by_line_and_name() -> None:
    ledger = Ledger(started=0.0)
    for _ in range(3):
        ledger.note_passed("issue_copy")
    (((where, name), count),) = ledger.passed.items()
    assert HERE in where
    assert (name, count) == ("issue_copy", 3)


@pytest.mark.parametrize("ranks", [1, 2])
def test_fused_tasks_are_not_among_those_that_run_as_they_are(ranks: int) -> None:
    fences: list[bool] = []
    machine = SimpleNamespace(count=lambda: 2)
    legate: Any = SimpleNamespace(
        runtime=SimpleNamespace(
            issue_execution_fence=lambda block: fences.append(block),
            get_machine=lambda: machine,
            node_count=ranks,
        ),
        native=SimpleNamespace(
            kernel_nanoseconds=lambda: [500_000_000, 0],
            task_times=lambda: [
                ("add a.py:1", "a.py:1", 10**9, 3),
                ("lib::Sort", "a.py:2", 2 * 10**9, 4),
            ],
            take_runs=lambda: (20, 30, 10),
            run_times=lambda: [("sqrt", "a.py:3", 500_000_000, 20)],
        ),
    )
    counters = Counters(tasks_seen=9, tasks_submitted=7, compile_seconds=0.25)
    measured = measure(legate, Ledger(started=0.0), {"add a.py:1"}, counters)
    # a rank that explains cannot wait alone
    assert fences == [True] * (ranks == 1)
    assert measured.kernels == [0.5, 0.0]
    assert measured.other_tasks == [TaskTime("lib::Sort", "a.py:2", 2.0, 4)]
    assert (measured.processors, measured.compiling) == (2, 0.25)
    assert (measured.operations, measured.tasks) == (39, 7)
    assert (counters.ran_in_process, counters.fills_seen) == (20, 10)
    assert measured.runs == [TaskTime("sqrt", "a.py:3", 0.5, 20)]


def test_what_was_measured_before_is_taken_off() -> None:
    tasks = [TaskTime("Sort", "a.py:2", 2.0, 4), TaskTime("Sort", "a.py:3", 1.0, 1)]
    before = Measured(3.0, 2, 10, 5, [1.0], tasks, 0.5, runs=tasks)
    later = [TaskTime("Sort", "a.py:2", 3.5, 5), tasks[1], TaskTime("Sum", "", 1.0, 1)]
    after = Measured(1.0, 2, 12, 6, [1.5, 2.0], later, 0.75, runs=later).since(before)
    assert (after.elapsed, after.operations, after.tasks) == (1.0, 2, 1)
    assert (after.kernels, after.compiling) == ([0.5, 2.0], 0.25)
    assert after.other_tasks == [TaskTime("Sort", "a.py:2", 1.5, 1), later[2]]
    assert after.runs == after.other_tasks


def test_a_ledger_begins_anew() -> None:
    ledger = Ledger(started=0.0, spent={"planning": 1.0}, late={("a.py:1", "ADD")})
    with ledger.waiting():
        ledger.note_passed("issue_copy")
    ledger.clear()
    assert ledger == Ledger(started=ledger.started)
    assert ledger.started > 0.0
