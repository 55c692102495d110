#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares fused programs with PETSc under MPI, in alternating processes.

Both sides solve the same systems from 0 with the same method and the same number
of iterations, with no tolerance and so without a norm in between; N processors of
Legate stand against N ranks, and both sides have huge pages. PETSc solves each system
twice: with an assembled matrix, and with the matrix as a loop over the grid, in C. The
solutions are compared with each other, and their residuals (2-norm, relative to the
right-hand side's) are computed here. Times are medians over all timed batches, in
milliseconds per iteration.

Multigrid takes the size of the form 2^k - 1 that is next to the one asked for.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import petsc_side
from measurement import TUNABLES
from petsc_cases import FUSED, METHODS, Case, Record, Side, residual, restarts
from petsc_report import LABELS, memory, table, write
from petsc_side import Petsc
from records import json_line
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

APPS = Path(__file__).parent / "apps"
BATCHES = 3


def main() -> int:
    """Compare what the command line names."""
    options = _parse()
    os.environ["GLIBC_TUNABLES"] = TUNABLES
    console = Console(stderr=True, soft_wrap=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            petsc = petsc_side.build(folder)
        except petsc_side.MissingError as error:
            print(f"compare_petsc: {error}", file=sys.stderr)
            return 2
        except subprocess.CalledProcessError as error:
            _complain(console, "PETSc's side does not compile", error)
            return 1
        records, status = _measure_all(petsc, folder, options, console)
    if records:
        Console(width=None if sys.stdout.isatty() else 120).print(table(records))
        if options.output:
            write(Path(options.output), records, petsc)
    return status


def _measure_all(
    petsc: Petsc, folder: Path, options: argparse.Namespace, console: Console
) -> tuple[list[Record], int]:
    """Return what was measured until the end or Ctrl-C, and the exit status."""
    cases = _cases(options)
    records: list[Record] = []
    status = 0
    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        runs = sum(1 + len(METHODS[case.method].forms) for case in cases)
        task = progress.add_task("", total=runs * options.repeat)

        def begin(case: Case, side: str) -> None:
            what = f"{case.method} {case.size:,} on {case.ranks}: {LABELS[side]}"
            progress.update(task, description=what)

        for case in cases:
            try:
                record = measure(
                    case, petsc, folder, options, begin, lambda: progress.advance(task)
                )
            except subprocess.CalledProcessError as error:
                _complain(console, f"{case} failed", error)
                status = 1
            except KeyboardInterrupt:
                return records, 130
            else:
                records.append(record)
                status = status if record.agree else 1
    return records, status


def measure(
    case: Case,
    petsc: Petsc,
    folder: Path,
    options: argparse.Namespace,
    begin: Callable[[Case, str], None],
    end: Callable[[], None],
) -> Record:
    """Solve one system ``options.repeat`` times on each side."""
    method = METHODS[case.method]
    iterations = options.iterations or method.iterations
    names = (FUSED, *method.forms)
    times: dict[str, list[float]] = {side: [] for side in names}
    solutions: dict[str, Any] = {}
    loads = []
    for repeat in range(options.repeat):
        for side in names if repeat % 2 == 0 else names[::-1]:
            begin(case, side)
            loads.append(os.getloadavg()[0])
            if side == FUSED:
                ran, x = _run_fused(case, iterations, folder, options)
            else:
                ran, x = _run_petsc(case, side, iterations, petsc, folder)
            times[side] += ran["iteration_ms"]
            solutions[side] = x
            end()
    scale = float(np.max(np.abs(solutions[FUSED])))
    difference = max(
        float(np.max(np.abs(solutions[FUSED] - solutions[form])))
        for form in method.forms
    )
    bound = method.roundings * float(np.finfo(np.float64).eps)
    return Record(
        method=case.method,
        size=case.size,
        unknowns=solutions[FUSED].size,
        ranks=case.ranks,
        iterations=iterations,
        sides={
            side: Side(
                median_ms=statistics.median(times[side]),
                fastest_ms=min(times[side]),
                slowest_ms=max(times[side]),
                residual=residual(case, solutions[side]),
            )
            for side in names
        },
        largest_difference=difference / scale,
        agree=difference <= bound * scale,
        load_average=max(loads),
    )


def _run_fused(
    case: Case, iterations: int, folder: Path, options: argparse.Namespace
) -> tuple[dict[str, Any], Any]:
    """Return what the fused program printed, and its solution as a vector."""
    output = folder / "solution.npz"
    method = METHODS[case.method]
    command = [sys.executable, str(APPS / f"{case.method}.py"), *method.options]
    command += ["--size", str(case.size), "--iterations", str(iterations)]
    command += ["--batches", str(BATCHES), "--output", str(output)]
    if restarts(case):
        command += ["--solve", str(iterations)]
    legate = f"--cpus {case.ranks} --gpus 0 --sysmem {options.sysmem}"
    environment = os.environ | {
        "LEGATE_CONFIG": legate,
        "LEGATE_DIFFUSE": "1",
        "LEGATE_DIFFUSE_DRIVER_STUB": "1",
        "LEGATE_DIFFUSE_CACHE_DIR": str(folder / "cache"),
    }
    done = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    )
    record = json_line(done.stdout)
    with np.load(output) as arrays:
        x = arrays["x"]
    return record, (x[1:-1, 1:-1] if x.ndim == 2 else x).ravel()


def _run_petsc(
    case: Case, form: str, iterations: int, petsc: Petsc, folder: Path
) -> tuple[dict[str, Any], Any]:
    """Return what PETSc's side printed, and its solution as a vector."""
    output = folder / "solution.petsc"
    # what scripts/apps/harness.py runs in all; the last solve may not be a whole one
    steps = 1 + max(1, iterations // 2) + (1 + BATCHES) * iterations
    record = petsc_side.run(
        petsc,
        case.ranks,
        method=case.method,
        form=form,
        size=case.size,
        iterations=iterations,
        batches=BATCHES,
        last=(steps % iterations or iterations) if restarts(case) else steps,
        output=output,
    )
    # PETSc writes the most significant byte first
    return record, np.fromfile(output, dtype=">f8").astype(np.float64)


def _cases(options: argparse.Namespace) -> list[Case]:
    cases = []
    for method in options.methods:
        sizes = [options.dense_size] if method == "jacobi" else options.sizes
        if method == "multigrid":
            sizes = [2 ** round(math.log2(size + 1)) - 1 for size in sizes]
        cases += [Case(method, size, r) for size in sizes for r in options.ranks]
    return cases


def _dense_size() -> int:
    """Return the side of the dense system: 8,000, or what half of the memory takes.

    The program makes its matrix from some arrays of the matrix's size.
    """
    fits = math.isqrt(memory("MemAvailable") // 2 // (6 * 8))
    return min(8_000, fits // 1_000 * 1_000 or fits)


def _complain(
    console: Console, what: str, error: subprocess.CalledProcessError
) -> None:
    text = f"compare_petsc: {what}\n{error.stderr[-2000:]}"
    console.print(text, markup=False, highlight=False)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "methods", nargs="*", help=f"any of {', '.join(METHODS)} (all of them)"
    )
    parser.add_argument(
        "--sizes",
        type=_numbers,
        default=[1_000, 2_000],
        help="grids' sides (1000,2000)",
    )
    parser.add_argument(
        "--dense-size", type=int, help="side of the dense matrix (8000)"
    )
    parser.add_argument(
        "--ranks", type=_numbers, default=[1, 2], help="processors (1,2)"
    )
    parser.add_argument(
        "--iterations",
        type=int,
        help="iterations of a solve, and in a timed batch (50 for cg, 10 for others)",
    )
    parser.add_argument("--repeat", type=int, default=3, help="processes of each side")
    parser.add_argument("--sysmem", type=int, default=6000, help="MB for Legate")
    parser.add_argument(
        "--output", help="write petsc.json, petsc.svg and petsc.png into this folder"
    )
    parser.add_argument(
        "--quick", action="store_true", help="tiny systems, once: asserts agreement"
    )
    options = parser.parse_args()
    unknown = sorted(set(options.methods) - set(METHODS))
    if unknown:
        parser.error(f"no method {unknown[0]}; choose from {', '.join(METHODS)}")
    options.methods = options.methods or list(METHODS)
    if options.quick:
        options.sizes, options.dense_size, options.repeat = [31], 64, 1
        options.iterations, options.sysmem = 4, 500
    options.dense_size = options.dense_size or _dense_size()
    if options.output and importlib.util.find_spec("matplotlib") is None:
        parser.error("--output draws with matplotlib: pip install matplotlib")
    return options


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
