# SPDX-License-Identifier: Apache-2.0
"""The explanation as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from legate_diffuse.observe.facts import LaunchFacts, WindowFacts
from legate_diffuse.observe.lines import Line
from legate_diffuse.observe.report import Report
from legate_diffuse.observe.summary import Summary, summarize
from legate_diffuse.observe.wording import TITLE


def data_lines(report: Report) -> list[str]:
    """Return the lines of the explanation."""
    return json.dumps(as_data(report, summarize(report)), indent=1).splitlines()


def as_data(report: Report, summary: Summary) -> dict[str, Any]:
    """Return what text and page tell, as data; times are in seconds.

    The title comes first: files are known by it.
    """
    measured, iteration = report.measured, report.iteration
    return {
        "title": f"{TITLE}{report.program}",
        "operations": measured.operations,
        "tasks": measured.tasks,
        "elapsed": measured.elapsed,
        "bytes_unfused": summary.moved_unfused,
        "bytes_fused": summary.moved_fused,
        "iteration": None
        if iteration is None
        else {
            "operations": iteration.operations,
            "tasks": iteration.tasks,
            "loops": iteration.loops,
            "seen": iteration.seen,
        },
        "times": {
            clock.title: {"total": clock.seconds} | dict(clock.parts)
            for clock in summary.clocks
        },
        "lines": [
            {
                "line": _line(line),
                "seconds": cost.seconds,
                "waited": cost.waited.seconds,
                "iteration": asdict(found)
                if (found := report.in_iteration(line))
                else None,
            }
            for line, cost in sorted(summary.costs.items())
        ],
        "walls": [
            {
                "line": _line(wall.line),
                "what": wall.what,
                "advice": wall.advice,
                "seconds": wall.seconds,
            }
            for wall in summary.walls
        ],
        "notes": list(summary.notes),
        "windows": [
            {"submitted": times} | _window(window) for window, times in report.windows
        ],
    }


def _line(line: Line | None) -> str | None:
    return None if line is None else f"{line[0]}:{line[1]}"


def _window(window: WindowFacts) -> dict[str, Any]:
    launches = window.launches
    return {
        "ends": window.cause,
        "place": window.place,
        "operations": [
            {"place": one.provenance, "task": one.task, "text": one.text}
            for one in window.operations
        ],
        "tasks": window.tasks,
        "launches": None if launches is None else [_launch(one) for one in launches],
    }


def _launch(launch: LaunchFacts) -> dict[str, Any]:
    """Return a launch; operations are given by position, from 0 on."""
    return {
        "fused": launch.fused,
        "partitioned": launch.partitioned,
        "operations": list(launch.operations),
        "as_submitted": list(launch.alone),
        "waiting": list(launch.waiting),
        "why_not_before": None if launch.refusal is None else launch.refusal.value,
        "loops": [
            {
                "extents": loop.extents,
                "operations": list(loop.operations),
                "why_not_before": None if loop.refusal is None else loop.refusal.value,
            }
            for loop in launch.loops
        ],
        "bytes": launch.moved,
    }
