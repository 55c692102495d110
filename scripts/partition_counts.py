# SPDX-License-Identifier: Apache-2.0
"""Counts what Legate and Legion do in an iteration of a program on partitions.

``bench.py counts``: the programs of scripts/apps/ unfused and fused, with an array's
parts on as many CPUs of one process. What is counted is in the profile that Legion
writes, in two runs of which one has more iterations; nothing is measured in seconds, so
that pages of two moments may be compared. What Legion copies and fills at the start
depends on its timing, so that a small number of these may be negative. Under the
profiler all arrays are Legate's.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from applications import APPLICATIONS, add_programs, chosen_programs
from legion_profile import records
from measurement import APPS, FUSED, UNFUSED
from records import SideError, run_side

SIZES: Final = {
    "cg": 1000,
    "bicgstab": 1000,
    "jacobi": 1000,
    "shallow_water": 500,
    "channel_flow": 500,
    "heat": 96,
}
"""The programs that are counted by default; others have a tenth of their size."""
ITERATIONS: Final = 10
BATCHES: Final = 3
"""How many more batches one run has than the other."""
KIB: Final = 1024

COLUMNS: Final = {
    "launches": "tasks that were launched, but for the next ones",
    "extracted": "tasks of Legate's that take a number from what points return",
    "reductions": "combinations of the points' numbers",
    "points": "tasks that ran, on any CPU",
    "waits": "how often the program's thread waited, but for the end of a batch",
    "copies": "from one place of an array to another",
    "copied KiB": "what these move",
    "fills": "of parts of arrays",
    "filled KiB": "what these write",
    "partitions": "ways to divide an array that were made",
    "instances": "places for arrays that were made, of at least 1 KiB",
    "closes": "operations of Legion's between different ways to divide an array",
}


def main(arguments: list[str]) -> int:
    """Count, and print a table."""
    options = _parse(arguments)
    lines = [f"- {name}: {meaning}" for name, meaning in COLUMNS.items()]
    head = ["program", "size", "CPUs", "side", *COLUMNS]
    lines += ["", *_rows([head, ["---", *["---:"] * (len(head) - 1)]])]
    print("\n".join(lines), flush=True)
    for app in options.programs:
        known = APPLICATIONS[app]
        size = options.size or SIZES.get(app, max(known.large // 10, known.small))
        for cpus in options.cpus:
            for side in (UNFUSED, FUSED):
                try:
                    counts = per_iteration(app, size, cpus, side, options.sysmem)
                except SideError as error:
                    print(f"bench: {app} failed\n{error}")
                    return 1
                numbers = [f"{counts[name]:,.4g}" for name in COLUMNS]
                row = [app, f"{size:,}", str(cpus), side, *numbers]
                print(*_rows([row]), flush=True)
    return 0


def per_iteration(
    app: str, size: int, cpus: int, side: str, sysmem: int = 2000
) -> dict[str, float]:
    """Return what an iteration of a program takes, by ``COLUMNS``.

    Raises:
        SideError: the program has failed.
    """
    few, many = (_counts(app, size, cpus, side, sysmem, b) for b in (1, 1 + BATCHES))
    # each batch ends with a fence that is waited for
    many["waits"] -= BATCHES
    return {name: (many[name] - few[name]) / (BATCHES * ITERATIONS) for name in COLUMNS}


def count(path: Path) -> Counter[str]:
    """Return what a profile tells of, by ``COLUMNS``."""
    found: Counter[str] = Counter()
    names: dict[int, str] = {}
    kinds: dict[int, str] = {}
    tasks: dict[int, int] = {}
    launched: set[int] = set()
    # index tasks become slices of points
    parts: set[int] = set()
    for name, fields in records(path):
        match name:
            case "OpDesc":
                kinds[fields["kind"]] = fields["name"]
            case "TaskKind":
                names[fields["task_id"]] = fields["name"]
            case "OperationInstance":
                kind = kinds[fields["kind"]]
                if kind == "Task":
                    launched.add(fields["op_id"])
                found["reductions"] += kind == "All-Reduce"
                found["closes"] += kind == "Merge Close"
                found["partitions"] += kind.endswith(" Partition")
            case "MultiTask":
                tasks[fields["op_id"]] = fields["task_id"]
            case "SliceOwner":
                parts.add(fields["op_id"])
            case "TaskInfo":
                tasks[fields["op_id"]] = fields["task_id"]
                found["points"] += 1
            case "TaskWaitInfo":
                # the program's own is the first operation
                found["waits"] += fields["op_id"] == 1
            case "CopyInfo":
                found["copies"] += 1
                found["copied KiB"] += fields["size"] / KIB
            case "FillInfo":
                found["fills"] += 1
                found["filled KiB"] += fields["size"] / KIB
            case "InstTimelineInfo":
                found["instances"] += fields["size"] >= KIB
    launched -= parts
    extracted = sum(
        "ExtractScalar" in names.get(tasks.get(n, -1), "") for n in launched
    )
    found["extracted"] = extracted
    found["launches"] = len(launched) - extracted
    return found


def _counts(
    app: str, size: int, cpus: int, side: str, sysmem: int, batches: int
) -> Counter[str]:
    known = APPLICATIONS[app]
    command = [sys.executable, str(APPS / f"{known.script or app}.py"), *known.options]
    command += ["--size", str(size), "--iterations", str(ITERATIONS)]
    command += ["--batches", str(batches)]
    with tempfile.TemporaryDirectory() as folder:
        config = f"--cpus {cpus} --gpus 0 --sysmem {sysmem}"
        settings = {
            "LEGATE_CONFIG": f"{config} --profile --logdir {folder}",
            "LEGATE_DIFFUSE": "1" if side == FUSED else "0",
            "LEGATE_DIFFUSE_THREADS": "1",
            "LEGATE_DIFFUSE_SYNC_COMPILE": "1",
        }
        run_side(command, settings)
        return count(Path(folder) / "legate_0.prof")


def _rows(cells: Sequence[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(row) + " |" for row in cells]


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.py counts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_programs(parser, APPLICATIONS, SIZES)
    parser.add_argument("--size", type=int, help="items, or those along a dimension")
    parser.add_argument(
        "--cpus", type=int, nargs="+", default=[2, 4], help="point tasks at a time"
    )
    parser.add_argument("--sysmem", type=int, default=2000, help="MB for Legate")
    options = parser.parse_args(arguments)
    options.programs = chosen_programs(parser, options.programs or SIZES, APPLICATIONS)
    return options
