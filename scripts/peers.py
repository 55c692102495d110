# SPDX-License-Identifier: Apache-2.0
"""Compares fused programs with other ways to run them: ``bench.py peers``.

Some programs run unfused and fused, with NumPy, and rewritten for numexpr, Numba,
JAX and torch.compile; the limit is the memory: the bytes that a program must read
and write, at the bandwidth of STREAM's triad in the same run. Every contender has
as many threads as CPUs are compared, and runs in processes of its own, in turns
with all others. Results are compared with NumPy's.

Others run fused and as C programs that were written by hand, with the arithmetic of
the NumPy program and with cheaper one. They start from the same arrays, take as many
steps, and are compared with the fused program's results; all have huge pages.

Peers allocate their results anew in each iteration. glibc gives large blocks back
to the system, and the page faults of the next ones can take most of the time;
so peers run with glibc's default and with heaps that keep them, cuPyNumeric with its
pools in small pages and in huge ones, and the best median counts.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from applications import chosen_programs
from contenders import EXACT_C, MALLOC, MARKS, PROGRAMS, groups, over_c
from peers_measurement import FailedError, Figure, Measurement, find
from rich import box
from rich.console import Console
from rich.table import Table


def main(arguments: list[str]) -> int:
    """Measure all contenders, and print a table for each number of CPUs."""
    options = _parse(arguments)
    console = Console(stderr=True)
    figures: list[Figure] = []
    failures: list[str] = []
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = find(options, folder)
        for cpus in options.cpus:
            for app in options.apps:
                try:
                    measured = Measurement(app, cpus, options, found, folder)
                    with console.status("") as status:
                        for doing in measured.runs():
                            status.update(f"{app}, {cpus} CPUs: {doing}")
                except FailedError as error:
                    console.print(f"bench: {app} failed\n{error}", markup=False)
                    return 1
                figures += measured.figures()
                failures += measured.failures
    printed = Console(width=None if sys.stdout.isatty() else 120)
    for cpus in options.cpus:
        for group in groups(options.apps):
            chosen = [one for one in figures if one.cpus == cpus and one.app in group]
            printed.print(table(chosen, cpus))
    for malloc, mark in MARKS.items():
        tunables = MALLOC[malloc]["GLIBC_TUNABLES"]
        printed.print(f"{mark} {malloc}: GLIBC_TUNABLES={tunables}", markup=False)
    printed.print(
        f"load of the machine: {load:.1f} before, {os.getloadavg()[0]:.1f} after"
    )
    for note in found.missing + failures:
        printed.print(note, markup=False)
    if options.json:
        rows = [asdict(figure) for figure in figures]
        Path(options.json).write_text(json.dumps(rows, indent=2) + "\n")
    return 0 if all(figure.agrees for figure in figures) and not failures else 1


def table(figures: list[Figure], cpus: int) -> Table:
    """Return the figures for one number of CPUs as a table for a person."""
    made = Table(title=f"ms per iteration, medians, {cpus} CPUs", box=box.SIMPLE)
    made.add_column("")
    apps = list(dict.fromkeys(one.app for one in figures))
    for app in apps:
        made.add_column(app, justify="right", no_wrap=True)
    cells: dict[str, dict[str, str]] = {}
    differing: dict[str, dict[str, str]] = {}
    ms: dict[str, dict[str, float]] = {}
    for one in figures:
        text = f"{one.ms:.3g}" + MARKS.get(one.malloc or "", "")
        if not one.agrees:
            text += f" WRONG BY {one.difference:.0e}"
        cells.setdefault(one.contender, {})[one.app] = text
        ms.setdefault(one.contender, {})[one.app] = one.ms
        if one.elements_differing_from_unfused is not None:
            count = f"{one.elements_differing_from_unfused:,}"
            row = "elements that differ, fused and unfused"
            differing.setdefault(row, {})[one.app] = count
        if one.contender == EXACT_C.label:
            row = f"elements that differ, fused and {one.contender}"
            differing.setdefault(row, {})[one.app] = f"{one.elements_differing:,}"
    for label, row in over_c(ms).items():
        cells[label] = {app: f"{ratio:.2f}" for app, ratio in row.items()}
    for label, row in (cells | differing).items():
        made.add_row(label, *(row.get(app, "-") for app in apps))
    return made


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.py peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("apps", nargs="*", help=f"any of {', '.join(PROGRAMS)} (all)")
    parser.add_argument(
        "--cpus", type=int, nargs="+", default=[1, 2], help="CPUs to compare with"
    )
    parser.add_argument("--size", type=int, help="elements, or the grid's side")
    parser.add_argument("--repeat", type=int, default=3, help="processes of each kind")
    parser.add_argument(
        "--iterations", type=int, default=3, help="iterations in a timed batch"
    )
    parser.add_argument("--quick", action="store_true", help="tiny arrays, for a test")
    parser.add_argument("--sysmem", type=int, default=6000, help="MB for Legate")
    parser.add_argument(
        "--peers-python",
        default=sys.executable,
        help="the interpreter that has the peers (this one)",
    )
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args(arguments)
    if shutil.which(options.peers_python) is None:
        parser.error(f"no interpreter {options.peers_python}")
    options.apps = chosen_programs(parser, options.apps or PROGRAMS, PROGRAMS)
    return options
