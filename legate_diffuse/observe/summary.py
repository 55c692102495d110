# SPDX-License-Identifier: Apache-2.0
"""What a person asks first: how many tasks, where the time goes, and why not fewer.

Text, page and data are all written from this.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from legate_diffuse.observe.ledger import Measured
from legate_diffuse.observe.lines import (
    Line,
    LineCosts,
    Wall,
    costs_of_lines,
    find_walls,
)
from legate_diffuse.observe.processors import processor_lines
from legate_diffuse.observe.report import Report

MOST_LINES: Final = 5

_DOCTOR: Final = (
    "cuPyNumeric's Doctor is on: what it says about slices in loops is obsolete here, "
    "as such statements are fused with one another, and so are changes in place and "
    "out= by hand, as temporary arrays are never made. What it says about single "
    "elements and whole arrays that the program reads still holds."
)


@dataclass(frozen=True, slots=True)
class Clock:
    """A time, and the parts that it consists of, in seconds."""

    title: str
    seconds: float
    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """The facts of a report that come first.

    Attributes:
        moved_unfused: bytes of arrays that all tasks would read and write alone.
        moved_fused: bytes that they do.
        clocks: of the program's own thread, and of the processors.
        costs: of each line.
        costliest: the lines that cost most, and their seconds.
        seconds: of all lines.
        walls: what keeps tasks apart, the costliest first.
        notes: sentences about the whole program.
    """

    moved_unfused: int
    moved_fused: int
    clocks: tuple[Clock, ...]
    costs: Mapping[Line, LineCosts]
    costliest: tuple[tuple[Line, float], ...]
    seconds: float
    walls: Sequence[Wall]
    notes: tuple[str, ...]


def summarize(report: Report, environment: Mapping[str, str] = os.environ) -> Summary:
    """Return what comes first of a report."""
    costs = costs_of_lines(report.windows, report.measured)
    top = sorted(costs, key=lambda line: (-costs[line].seconds, line))[:MOST_LINES]
    notes = list(processor_lines(report.processors))
    if environment.get("CUPYNUMERIC_DOCTOR", "0") not in ("", "0"):
        notes.append(_DOCTOR)
    return Summary(
        sum(
            times * sum(one.moved for one in window.operations)
            for window, times in report.windows
        ),
        sum(times * window.moved for window, times in report.windows),
        _clocks(report.measured),
        costs,
        tuple((line, costs[line].seconds) for line in top if costs[line].seconds > 0),
        sum(cost.seconds for cost in costs.values()),
        find_walls(report.windows, report.measured, report.advise),
        tuple(notes),
    )


def _clocks(measured: Measured) -> tuple[Clock, ...]:
    ledger = measured.ledger
    waiting = sum(wait.seconds for wait in ledger.waits.values())
    planning = ledger.spent.get("planning", 0.0)
    explaining = ledger.spent.get("explanation", 0.0)
    submitting = ledger.spent.get("submission", 0.0) - measured.compiling
    at_once = sum(run.seconds for run in measured.runs)
    known = waiting + planning + submitting + measured.compiling + explaining + at_once
    kernels = sum(measured.kernels)
    others = sum(task.seconds for task in measured.other_tasks)
    count = measured.processors
    available = measured.elapsed * count
    return (
        Clock(
            "The program's own thread",
            measured.elapsed,
            (
                ("the program's Python, recording included", measured.elapsed - known),
                ("operations on small arrays, at once", at_once),
                ("planning", planning),
                ("compiling", measured.compiling),
                ("submitting", submitting),
                ("waiting for tasks", waiting),
                ("writing this down", explaining),
            ),
        ),
        Clock(
            f"The {count} processors" if count > 1 else "The processor",
            available,
            (
                ("loops of fused tasks", kernels),
                ("tasks that run as they are", others),
                ("idle, or at work for Legate", max(0.0, available - kernels - others)),
            ),
        ),
    )
