#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures programs unfused and fused, in alternating processes.

Every figure comes from one run of this script: both sides compute the same
thing, their results are compared, and times are medians over all timed
batches. Times of two runs must not be compared, machines are too noisy.

``bench.py overhead`` measures what an operation on a small array costs;
``bench.py overhead --help`` says how. ``bench.py peers`` compares with NumPy,
numexpr, Numba, JAX, torch.compile and the memory's bandwidth.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import overhead
import peers
from records import json_line
from rich import box
from rich.console import Console
from rich.table import Table

APPS = Path(__file__).parent / "apps"

# The programs, and by how many roundings (relative to the largest value) the
# fused result may differ: 0 where every element is computed by itself, more where
# sums are added up in another order.
ROUNDINGS = {
    "black_scholes": 0,
    "chain": 0,
    "stencil": 0,
    "update": 2**12,
    "jacobi": 64,
    "cg": 2**20,
    "bicgstab": 2**20,
    "multigrid": 2**10,
    "channel_flow": 0,
    "shallow_water": 0,
    "heat": 0,
    "softmax": 64,
    "layer_norm": 64,
}
# What runs when no program is named.
QUICK = ("black_scholes", "chain", "stencil", "update")


@dataclass(frozen=True)
class Record:
    """What was measured of one program; times in milliseconds per iteration."""

    app: str
    size: int
    cpus: int
    dtype: str
    unfused_ms: float
    fused_ms: float
    ratio: float
    tasks_unfused: float
    tasks_fused: float
    agree: bool
    largest_difference: float
    first_iteration_unfused_ms: float
    first_iteration_ms: float
    first_iteration_warm_ms: float
    break_even_iterations: int | None
    compile_seconds: float
    plans_made: float
    kernels_compiled: float
    temporaries_removed_bytes: float
    peak_rss_unfused_mb: float
    peak_rss_fused_mb: float


def main() -> int:
    """Run the programs that the command line names."""
    if sys.argv[1:2] == ["overhead"]:
        return overhead.main(sys.argv[2:])
    if sys.argv[1:2] == ["peers"]:
        return peers.main(sys.argv[2:])
    options = _parse()
    console = Console(stderr=True)
    records = []
    for name in options.apps:
        with console.status(f"{name}: unfused and fused, {options.repeat} times"):
            try:
                records.append(measure(name, options))
            except subprocess.CalledProcessError as error:
                console.print(
                    f"bench: {name} failed\n{error.stderr[-2000:]}", markup=False
                )
                return 1
    Console(width=None if sys.stdout.isatty() else 120).print(table(records))
    if options.json:
        rows = [asdict(record) for record in records]
        Path(options.json).write_text(json.dumps(rows, indent=2) + "\n")
    return 0 if all(record.agree for record in records) else 1


def measure(name: str, options: argparse.Namespace) -> Record:
    """Run one program ``options.repeat`` times each way."""
    with tempfile.TemporaryDirectory() as folder:
        sides: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
        for repeat in range(options.repeat):
            order = (False, True) if repeat % 2 == 0 else (True, False)
            for fused in order:
                output = Path(folder) / f"{fused}.npz" if repeat == 0 else None
                sides[fused].append(_run(name, fused, options, folder, output))
        difference = _difference(*(Path(folder) / f"{side}.npz" for side in sides))
    unfused, fused = sides[False], sides[True]
    unfused_ms, fused_ms = _median(unfused), _median(fused)
    counts = fused[-1]["statistics_per_iteration"]
    first = statistics.median(run["first_iteration_ms"] for run in unfused)
    first_cold = fused[0]["first_iteration_ms"]
    warm = [run["first_iteration_ms"] for run in fused[1:]] or [math.nan]
    return Record(
        app=name,
        size=fused[0]["size"],
        cpus=options.cpus,
        dtype=options.dtype,
        unfused_ms=unfused_ms,
        fused_ms=fused_ms,
        ratio=unfused_ms / fused_ms,
        # a fill is no task: Legion keeps its value until the array is used
        tasks_unfused=counts["tasks_seen"] - counts["fills_seen"],
        tasks_fused=counts["tasks_submitted"] - counts["fills_submitted"],
        agree=difference <= ROUNDINGS[name] * float(np.finfo(options.dtype).eps),
        largest_difference=difference,
        first_iteration_unfused_ms=first,
        first_iteration_ms=first_cold,
        first_iteration_warm_ms=statistics.median(warm),
        break_even_iterations=_break_even(first, first_cold, unfused_ms, fused_ms),
        compile_seconds=fused[0]["compile_seconds"],
        plans_made=counts["plans_made"],
        kernels_compiled=counts["kernels_compiled"],
        temporaries_removed_bytes=counts["temporaries_removed_bytes"],
        peak_rss_unfused_mb=max(run["peak_rss_mb"] for run in unfused),
        peak_rss_fused_mb=max(run["peak_rss_mb"] for run in fused),
    )


def table(records: list[Record]) -> Table:
    """Return the records as a table for a person."""
    made = Table(title="Unfused -> fused, medians per iteration", box=box.SIMPLE)
    for heading in (
        "program",
        "size",
        "CPUs",
        "tasks",
        "ms",
        "ratio",
        "agree",
        "first ms",
        "even at",
        "peak MB",
    ):
        made.add_column(heading, justify="right", no_wrap=True)
    for r in records:
        made.add_row(
            r.app,
            f"{r.size:,}",
            str(r.cpus),
            f"{r.tasks_unfused:g} -> {r.tasks_fused:g}",
            f"{r.unfused_ms:.3g} -> {r.fused_ms:.3g}",
            f"{r.ratio:.2f}",
            "yes" if r.agree else f"NO ({r.largest_difference:.1e})",
            f"{r.first_iteration_unfused_ms:.0f} -> {r.first_iteration_ms:.0f}",
            "never"
            if r.break_even_iterations is None
            else str(r.break_even_iterations),
            f"{r.peak_rss_unfused_mb:.0f} -> {r.peak_rss_fused_mb:.0f}",
        )
    return made


def _run(
    name: str,
    fused: bool,
    options: argparse.Namespace,
    folder: str,
    output: Path | None,
) -> dict[str, Any]:
    command = [sys.executable, str(APPS / f"{name}.py"), "--dtype", options.dtype]
    command += ["--iterations", str(options.iterations)]
    if options.size:
        command += ["--size", str(options.size)]
    if output is not None:
        command += ["--output", str(output)]
    environment = {
        **os.environ,
        "LEGATE_CONFIG": f"--cpus {options.cpus} --gpus 0 --sysmem {options.sysmem}",
        "LEGATE_DIFFUSE": "1" if fused else "0",
        # Legate's wheels need a CUDA driver, or its stand-in, on the unfused side too
        "LEGATE_DIFFUSE_DRIVER_STUB": "1",
        # an empty cache, so that the first fused process is a cold start
        "LEGATE_DIFFUSE_CACHE_DIR": str(Path(folder) / "cache"),
    }
    done = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    )
    return json_line(done.stdout)


def _median(runs: list[dict[str, Any]]) -> float:
    return statistics.median(time for run in runs for time in run["iteration_ms"])


def _difference(left: Path, right: Path) -> float:
    """Return the largest difference of two results, relative to the largest value."""
    worst = 0.0
    with np.load(left) as old, np.load(right) as new:
        if sorted(old) != sorted(new):
            return math.inf
        for key in old:
            a, b = old[key], new[key]
            if a.dtype != b.dtype or a.shape != b.shape:
                return math.inf
            if not np.array_equal(np.isfinite(a), np.isfinite(b)):
                return math.inf
            scale = float(np.max(np.abs(a), initial=0.0)) or 1.0
            worst = max(worst, float(np.max(np.abs(a - b), initial=0.0)) / scale)
    return worst


def _break_even(
    first_unfused: float, first_fused: float, unfused: float, fused: float
) -> int | None:
    """Return after how many iterations the fused program is ahead in total."""
    if first_fused <= first_unfused:
        return 1
    if fused >= unfused:
        return None
    return 1 + math.ceil((first_fused - first_unfused) / (unfused - fused))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "apps",
        nargs="*",
        help=f"any of {', '.join(ROUNDINGS)} ({', '.join(QUICK)})",
    )
    parser.add_argument("--cpus", type=int, default=1, help="point tasks at a time")
    parser.add_argument("--size", type=int, help="elements, or the grid's side")
    parser.add_argument("--dtype", default="float64", choices=("float32", "float64"))
    parser.add_argument("--repeat", type=int, default=3, help="processes of each side")
    parser.add_argument(
        "--iterations", type=int, default=10, help="iterations in a timed batch"
    )
    parser.add_argument("--sysmem", type=int, default=6000, help="MB for Legate")
    parser.add_argument("--json", help="write the records to this file")
    options = parser.parse_args()
    options.apps = options.apps or list(QUICK)
    unknown = sorted(set(options.apps) - set(ROUNDINGS))
    if unknown:
        parser.error(f"no program {unknown[0]}; choose from {', '.join(ROUNDINGS)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
