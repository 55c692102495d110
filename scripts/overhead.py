# SPDX-License-Identifier: Apache-2.0
"""Measures what an operation on a small array costs: ``bench.py overhead``.

A chain of ten operations runs over and over, in alternating unfused and fused
processes; the latter take turns in four modes, see apps/issue.py. Figures are
medians over the batches of all processes, in microseconds for each cuPyNumeric
operation. Three parts of the fused program's issue time are told apart:

- cuPyNumeric and stand-ins: mode ``built``, in which operations are dropped
  where the window would take them.
- recording and planning: mode ``planned`` less ``built`` of the same turn: the
  window, the plans and the preparation of arguments.
- fused tasks in Legate: mode ``fused`` less ``planned`` of the same turn.

Nothing is added to the code that is timed: what a difference leaves out is
replaced by a function that does nothing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from records import SideError, run_side
from rich import box
from rich.console import Console
from rich.table import Table

PROGRAM = Path(__file__).parent / "apps" / "issue.py"
KINDS = {"loop": "nothing between chains", "fenced": "a fence after each chain"}
# The figures' labels.
ROWS = (
    ("unfused, issue", "unfused_issue_us"),
    ("unfused, in all", "unfused_in_all_us"),
    ("stand-ins but fusion off, issue", "stand_ins_issue_us"),
    ("stand-ins but fusion off, in all", "stand_ins_in_all_us"),
    ("fused, issue", "fused_issue_us"),
    ("fused, in all", "fused_in_all_us"),
    ("  of the issue: cuPyNumeric and stand-ins", "built_us"),
    ("  of the issue: recording and planning", "recording_and_planning_us"),
    ("  of the issue: fused tasks in Legate", "fused_tasks_us"),
)


def main(arguments: list[str]) -> int:
    """Measure all modes, and print a table."""
    options = _parse(arguments)
    console = Console(stderr=True)
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(options.repeat):
            for fused in (False, True):
                with console.status(f"processes {repeat + 1} of {options.repeat}"):
                    try:
                        runs.append(_run(fused, options, folder))
                    except SideError as error:
                        console.print(f"bench: failed\n{error}", markup=False)
                        return 1
    rows = [row(kind, runs) for kind in KINDS]
    Console(width=None if sys.stdout.isatty() else 120).print(table(rows))
    if options.json:
        document = [{"size": options.size, "cpus": options.cpus, **one} for one in rows]
        Path(options.json).write_text(json.dumps(document, indent=2) + "\n")
    return 0


def row(kind: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the medians and quartiles of one kind of loop."""
    issue: dict[str, list[float]] = {}
    in_all: dict[str, list[float]] = {}
    for run in runs:
        for mode, batches in run[kind].items():
            issue.setdefault(mode, []).extend(batch[0] for batch in batches)
            in_all.setdefault(mode, []).extend(batch[1] for batch in batches)
    figures = {
        "unfused_issue_us": issue["unfused"],
        "unfused_in_all_us": in_all["unfused"],
        "stand_ins_issue_us": issue["stand-ins"],
        "stand_ins_in_all_us": in_all["stand-ins"],
        "fused_issue_us": issue["fused"],
        "fused_in_all_us": in_all["fused"],
        "built_us": issue["built"],
        "recording_and_planning_us": _less(issue["planned"], issue["built"]),
        "fused_tasks_us": _less(issue["fused"], issue["planned"]),
    }
    found: dict[str, Any] = {"kind": kind}
    for name, values in figures.items():
        low, middle, high = statistics.quantiles(values, n=4)
        found[name] = middle
        found[f"{name}_quartiles"] = [low, high]
    return found


def _less(more: list[float], less: list[float]) -> list[float]:
    return [a - b for a, b in zip(more, less, strict=True)]


def table(rows: list[dict[str, Any]]) -> Table:
    """Return the figures as a table for a person."""
    made = Table(title="µs per operation, medians (quartiles)", box=box.SIMPLE)
    made.add_column("")
    for one in rows:
        made.add_column(KINDS[one["kind"]], justify="right")
    for label, key in ROWS:
        cells = []
        for one in rows:
            low, high = one[f"{key}_quartiles"]
            cells.append(f"{one[key]:.1f} ({low:.1f}-{high:.1f})")
        made.add_row(label, *cells)
    return made


def _run(fused: bool, options: argparse.Namespace, folder: str) -> dict[str, Any]:
    command = [sys.executable, str(PROGRAM)]
    for name in ("size", "dtype", "chains", "batches"):
        command += [f"--{name}", str(getattr(options, name))]
    settings = {
        "LEGATE_CONFIG": f"--cpus {options.cpus} --gpus 0 --sysmem {options.sysmem}",
        "LEGATE_DIFFUSE": "1" if fused else "0",
        "LEGATE_DIFFUSE_CACHE_DIR": str(Path(folder) / "cache"),
        # every kernel is there after the first batch
        "LEGATE_DIFFUSE_SYNC_COMPILE": "1",
    }
    return run_side(command, settings)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.py overhead",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cpus", type=int, default=1, help="point tasks at a time")
    parser.add_argument("--size", type=int, default=1_000, help="elements")
    parser.add_argument("--dtype", default="float64", choices=("float32", "float64"))
    parser.add_argument("--repeat", type=int, default=3, help="processes each way")
    parser.add_argument("--chains", type=int, default=100, help="in a timed batch")
    parser.add_argument("--batches", type=int, default=15, help="of each process")
    parser.add_argument("--sysmem", type=int, default=1000, help="MB for Legate")
    parser.add_argument("--json", help="write the figures to this file")
    return parser.parse_args(arguments)
