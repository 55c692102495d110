#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures programs unfused, fused and with NumPy, in alternating processes.

Every figure comes from one run of this script: all sides compute the same
thing, fused results are compared with unfused ones, and times are medians over
all timed batches, with quartiles. Times of two runs must not be compared,
machines are too noisy. Ctrl-C ends the run; what is finished is reported.

``bench.py overhead`` measures what an operation on a small array costs,
``bench.py peers`` compares with NumPy, numexpr, Numba, JAX, torch.compile, C written
by hand and the memory's bandwidth; ``bench.py numpy`` runs NumPy programs as people
write them, and shows where NumPy is ahead; ``bench.py statements`` does so for one
statement at a time; ``bench.py npbench`` runs the programs of NPBench, from a
checkout; ``bench.py functions`` compares functions of users with Numba's
``vectorize``; ``bench.py assembled`` solves with a sparse
matrix of another library; ``bench.py partitions`` compares partitioned arrays with
threads, and ``bench.py counts`` tells what Legion does for an iteration on them; all
have their own --help. ``bench.py page FOLDER`` makes the page of results again from the
data in a folder.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Final

import assembled
import functions
import machine
import npbench_comparison
import numpy_comparison
import overhead
import partition_counts
import partitions
import peers
import results_page
import statements
from applications import ALL, APPLICATIONS, chosen_programs
from measurement import SIDES, TUNABLES, Case, Record, cases, measure
from records import SideError
from results_plots import cpu_count
from results_tables import markdown, terminal
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

_COMMANDS: Final[dict[str, Callable[[list[str]], int]]] = {
    "overhead": overhead.main,
    "peers": peers.main,
    "numpy": numpy_comparison.main,
    "statements": statements.main,
    "npbench": npbench_comparison.main,
    "functions": functions.main,
    "assembled": assembled.main,
    "partitions": partitions.main,
    "counts": partition_counts.main,
    "page": results_page.main,
}


def main() -> int:
    """Run what the command line names."""
    command, *arguments = sys.argv[1:] or [""]
    if command in _COMMANDS:
        return _COMMANDS[command](arguments)
    options = _parse()
    chosen = cases(
        options.apps,
        options.size,
        options.cpus,
        options.iterations,
        dtype=options.dtype,
        repeat=options.repeat,
        sysmem=options.sysmem,
    )
    records, status = _measure_all(chosen, Console(stderr=True, soft_wrap=True))
    if records:
        _report(records, options)
    return status


def _measure_all(chosen: list[Case], console: Console) -> tuple[list[Record], int]:
    """Return what was measured until the end or Ctrl-C, and the exit status."""
    records: list[Record] = []
    status = 0
    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        runs = sum(len(SIDES) * case.repeat for case in chosen)
        task = progress.add_task("", total=runs)
        for case in chosen:
            what = f"{case.app} {case.size:,} on {cpu_count(case.cpus)}"
            progress.update(task, description=what)
            try:
                record = measure(case, lambda: progress.advance(task))
            except SideError as error:
                text = f"bench: {what} failed\n{error}"
                console.print(text, markup=False, highlight=False)
                status = 1
            except KeyboardInterrupt:
                return records, 130
            else:
                records.append(record)
                status = status if record.right else 1
    return records, status


def _report(records: list[Record], options: argparse.Namespace) -> None:
    Console(width=None if sys.stdout.isatty() else 170).print(terminal(records))
    document = {
        "command": "scripts/bench.py " + " ".join(sys.argv[1:]),
        "legate": f"--cpus N --gpus 0 --sysmem {options.sysmem}",
        "tunables": TUNABLES,
        "machine": machine.describe(),
        "records": [asdict(record) for record in records],
    }
    text = json.dumps(document, indent=1) + "\n"
    if options.json:
        options.json.write_text(text)
    if options.markdown:
        options.markdown.write_text(markdown(records))
    if options.results:
        options.results.mkdir(parents=True, exist_ok=True)
        (options.results / results_page.APPLICATIONS_DATA).write_text(text)
        results_page.write(options.results)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "apps",
        nargs="*",
        metavar="program",
        help=f"any of {', '.join(APPLICATIONS)} (all but chain, stencil and update)",
    )
    parser.add_argument(
        "--cpus",
        type=_cpus,
        default=[1],
        metavar="N,...",
        help="point tasks at a time; large sizes grow with them (1)",
    )
    parser.add_argument(
        "--size",
        type=_sizes,
        default=["large"],
        metavar="SIZE,...",
        help="'large', 'small', or elements or a grid's side as a number (large)",
    )
    parser.add_argument("--dtype", default="float64", choices=("float32", "float64"))
    parser.add_argument(
        "--repeat", type=_positive, default=3, help="processes of each side (3)"
    )
    parser.add_argument(
        "--iterations",
        type=_positive,
        help="iterations in a timed batch (about a second's)",
    )
    parser.add_argument("--sysmem", type=_positive, default=6000, help="MB for Legate")
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes, one process of each side"
    )
    parser.add_argument("--json", type=_file, help="write the records to this file")
    parser.add_argument("--markdown", type=_file, help="write a table to this file")
    parser.add_argument(
        "--results", type=Path, help="write data, page and plots into this folder"
    )
    options = parser.parse_args()
    options.apps = chosen_programs(parser, options.apps or ALL, APPLICATIONS)
    if options.quick:
        options.size, options.repeat = ["quick"], 1
        options.sysmem = min(options.sysmem, 500)
    if options.results and importlib.util.find_spec("matplotlib") is None:
        parser.error("--results draws with matplotlib: pip install matplotlib")
    return options


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number")
    return int(text)


def _cpus(text: str) -> list[int]:
    return [_positive(part) for part in text.split(",")]


def _sizes(text: str) -> list[str]:
    return [
        part if part in ("large", "small") else str(_positive(part))
        for part in text.split(",")
    ]


def _file(text: str) -> Path:
    if not Path(text).absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder for {text}")
    return Path(text)


if __name__ == "__main__":
    sys.exit(main())
