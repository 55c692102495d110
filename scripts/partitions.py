# SPDX-License-Identifier: Apache-2.0
"""Compares partitioned arrays with threads that share the loops of whole ones.

``bench.py partitions``: the programs of scripts/apps/ on several CPUs of one process,
with ``LEGATE_DIFFUSE_THREADS=1`` and as many as there are CPUs; the latter also where
large arrays may not live in the process, so that all fused launches are tasks on both
sides; and without the variable, where what the program's other tasks want decides. At
small sizes they run unfused, too. Each run is a process, the sides alternate, times are
medians over all timed batches.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import machine
from applications import (
    APPLICATIONS,
    SMALL_ITERATIONS,
    add_programs,
    chosen_programs,
    scaled,
)
from measurement import FUSED, UNFUSED, Case, largest_difference, run
from records import SideError

PROGRAMS: Final = (
    "stencil",
    "cg",
    "bicgstab",
    "heat",
    "softmax",
    "layer_norm",
    "logistic_regression",
    "mandelbrot",
    "shallow_water",
    "channel_flow",
    "multigrid",
    # tasks of BLAS alternate with fused ones
    "lstm",
)
PARTITIONS, TASKS, THREADS = "partitions", "threads, tasks", "threads"
CHOSEN: Final = "chosen"


def _settings(side: str, cpus: int) -> dict[str, str]:
    """Return the variables of a side."""
    threads = {PARTITIONS: "1", TASKS: str(cpus), THREADS: str(cpus)}
    found = {"LEGATE_DIFFUSE_THREADS": threads[side]} if side in threads else {}
    if side == TASKS:
        found["LEGATE_DIFFUSE_SMALL_BYTES"] = str(3 * 2**17)
    return found


@dataclass(frozen=True)
class Result:
    """One program at one size: milliseconds, tasks and megabytes of each side."""

    app: str
    kind: str
    size: int
    ms: dict[str, float]
    first_ms: dict[str, float]
    tasks: dict[str, float]
    peak_rss_mb: dict[str, float]
    agrees: bool
    load_average: float

    def over(self, side: str) -> float | None:
        """The partitioned time over another side's, None if that was not run."""
        return self.ms[PARTITIONS] / self.ms[side] if side in self.ms else None

    @property
    def chosen_over_better(self) -> float:
        """The time of what is chosen over that of the better setting."""
        return self.ms[CHOSEN] / min(self.ms[PARTITIONS], self.ms[THREADS])


def main(arguments: list[str]) -> int:
    """Measure the programs, and print a table."""
    options = _parse(arguments)
    results: list[Result] = []
    for kind in options.size.split(","):
        for app in options.programs:
            try:
                results.append(_measure(app, kind, options))
            except SideError as error:
                print(f"bench: {app} failed\n{error}", file=sys.stderr)
                return 1
            print(_row(results[-1]), file=sys.stderr, flush=True)
    print(page(results, options.cpus))
    if options.json:
        document = {
            "command": "scripts/bench.py partitions " + " ".join(arguments),
            "machine": machine.describe(),
            "results": [asdict(result) for result in results],
        }
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    return 0 if all(result.agrees for result in results) else 1


def page(results: Sequence[Result], cpus: int) -> str:
    """Return the table of all programs."""
    lines = [
        f"Partitioned over {cpus} CPUs; ratios are its time over the others'.",
        "",
        "| program | size | partitions ms | over threads, tasks | over threads "
        "| over unfused | chosen over better | tasks an iteration, partitions and "
        "threads | peak MB | first ms |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    return "\n".join(lines + [_row(result) for result in results]) + "\n"


def _row(one: Result) -> str:
    ratios = [
        "" if ratio is None else f"{ratio:.2f}"
        for ratio in map(one.over, (TASKS, THREADS, UNFUSED))
    ]
    pairs = [
        f"{found[PARTITIONS]:.4g}, {found[TASKS]:.4g}"
        for found in (one.tasks, one.peak_rss_mb, one.first_ms)
    ]
    ratios.append(f"{one.chosen_over_better:.2f}")
    cells = [one.app, f"{one.size:,}", f"{one.ms[PARTITIONS]:.3g}", *ratios, *pairs]
    note = "" if one.agrees else " results differ |"
    return "| " + " | ".join(cells) + " |" + note


def _measure(app: str, kind: str, options: argparse.Namespace) -> Result:
    known = APPLICATIONS[app]
    if kind == "large":
        size, iterations = scaled(app, known.large, options.cpus), known.iterations
        # fused ones are so much faster than those for which the number was chosen
        iterations *= options.longer
    else:
        size, iterations = known.small, SMALL_ITERATIONS
    case = Case(app, kind, size, options.cpus, iterations, "float64", 1, options.sysmem)
    sides = [PARTITIONS, TASKS, THREADS, CHOSEN] + [UNFUSED] * (kind == "small")
    runs: dict[str, list[dict[str, Any]]] = {side: [] for side in sides}
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(options.repeat):
            for side in sides if repeat % 2 == 0 else sides[::-1]:
                output = Path(folder) / f"{side}.npz" if repeat == 0 else None
                kind_of = UNFUSED if side == UNFUSED else FUSED
                settings = _settings(side, options.cpus)
                runs[side].append(run(case, kind_of, folder, output, settings))
        difference = max(
            largest_difference(*(Path(folder) / f"{one}.npz" for one in (side, TASKS)))
            for side in sides
        )
    counts = {
        side: found[-1]["statistics_per_iteration"] for side, found in runs.items()
    }
    return Result(
        app,
        kind,
        size,
        {
            side: statistics.median(ms for run in found for ms in run["iteration_ms"])
            for side, found in runs.items()
        },
        {
            side: statistics.median(run["opening_ms"][0] for run in found)
            for side, found in runs.items()
        },
        {
            side: count["tasks_submitted"] - count["fills_submitted"]
            for side, count in counts.items()
            if side != UNFUSED
        },
        {
            side: max(run["peak_rss_mb"] for run in found)
            for side, found in runs.items()
        },
        difference <= known.roundings * 2.0**-52,
        load,
    )


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.py partitions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_programs(parser, APPLICATIONS, PROGRAMS)
    parser.add_argument(
        "--size", default="large", choices=("small", "large", "large,small")
    )
    parser.add_argument("--cpus", type=int, default=2, help="point tasks at a time")
    parser.add_argument("--repeat", type=int, default=3, help="processes of each side")
    parser.add_argument(
        "--longer", type=int, default=5, help="times as many iterations as unfused"
    )
    parser.add_argument("--sysmem", type=int, default=6000, help="MB for Legate")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args(arguments)
    options.programs = chosen_programs(
        parser, options.programs or PROGRAMS, APPLICATIONS
    )
    return options
