# SPDX-License-Identifier: Apache-2.0
"""Runs NumPy programs as people write them, on NumPy, unfused and fused.

``bench.py numpy``: the programs of scripts/written_programs/, with scalar loops, masks,
rolls, products and small arrays among them. The sides alternate, each size in
processes of its own that run all programs one after the other; times are medians. The
page shows where NumPy is ahead, and by how much.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import machine
import numpy as np
from applications import chosen_programs
from measurement import FUSED, NUMPY, SIDES, UNFUSED, run_package
from records import SideError
from rich.console import Console
from written_programs import PROGRAMS

SIDE = Path(__file__).parent / "numpy_side.py"
SIZES = ("small", "large")
OURS = (UNFUSED, FUSED)
DATA, PAGE = "numpy.json", "numpy.md"
# How far results may be apart, relative to the largest element: sums are combined in
# another order, and iterations carry that on.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Result:
    """One program at one size; milliseconds, and tasks of the fused run."""

    name: str
    field: str
    size: str
    numpy_ms: float
    unfused_ms: float
    fused_ms: float
    tasks: int
    agrees: bool

    @property
    def over_numpy(self) -> float:
        """NumPy's time over fused."""
        return self.numpy_ms / self.fused_ms

    @property
    def over_unfused(self) -> float:
        """The unfused time over fused."""
        return self.unfused_ms / self.fused_ms


def main(arguments: list[str]) -> int:
    """Measure the programs, and write the page."""
    options = _parse(arguments)
    console = Console(stderr=True)
    results: list[Result] = []
    for size in options.size.split(","):
        try:
            results += _measure(size, options, console)
        except SideError as error:
            console.print(f"bench: failed\n{error}", markup=False)
            return 1
    text = page(results, options.cpus)
    if options.results:
        options.results.mkdir(parents=True, exist_ok=True)
        document = {
            "command": "scripts/bench.py numpy " + " ".join(arguments),
            "machine": machine.describe(),
            "results": [asdict(result) for result in results],
        }
        (options.results / DATA).write_text(json.dumps(document, indent=1) + "\n")
        (options.results / PAGE).write_text(text)
    print(text)
    return 0 if all(result.agrees for result in results) else 1


def page(results: Sequence[Result], cpus: int) -> str:
    """Return the page, the programs in which NumPy is ahead most at the top."""
    lines = [
        "# NumPy programs as people write them",
        "",
        f"Made by `scripts/bench.py numpy`, --cpus {cpus}. Milliseconds until an "
        "element of each result was read, medians. A factor below 1 says that NumPy, "
        "or the unfused program, is the faster one.",
    ]
    for size in SIZES:
        own = [result for result in results if result.size == size]
        if not own:
            continue
        ahead = sum(result.over_numpy < 1.0 for result in own)
        behind = sum(result.over_unfused < 1.0 for result in own)
        lines += [
            "",
            f"## {size.capitalize()} arrays",
            "",
            f"NumPy is ahead in {ahead} of {len(own)} programs. NumPy's time over "
            f"fused is {_mean([one.over_numpy for one in own]):.2g} in the geometric "
            f"mean, the unfused time {_mean([one.over_unfused for one in own]):.2g}; "
            f"{behind} are slower than unfused.",
            "",
            "| program | field | NumPy | unfused | fused | tasks | times faster than "
            "NumPy | than unfused |",
            "|---|---|---:|---:|---:|---:|---:|---:|",
        ]
        lines += [
            f"| {one.name} | {one.field} | {one.numpy_ms:.3g} | {one.unfused_ms:.3g} "
            f"| {one.fused_ms:.3g} | {one.tasks:,} | {one.over_numpy:.2g} "
            f"| {one.over_unfused:.2g} |" + ("" if one.agrees else " results differ |")
            for one in sorted(own, key=lambda one: one.over_numpy)
        ]
    return "\n".join(lines) + "\n"


def _mean(factors: list[float]) -> float:
    return statistics.geometric_mean(factors)


def _measure(size: str, options: argparse.Namespace, console: Console) -> list[Result]:
    times: dict[str, dict[str, list[float]]] = {side: {} for side in SIDES}
    tasks: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(options.repeat):
            for side in SIDES if repeat % 2 == 0 else SIDES[::-1]:
                with console.status(f"{size}, {side}, run {repeat + 1}"):
                    run = _run(side, size, options, folder)
                for name, time in run["times"].items():
                    times[side].setdefault(name, []).append(time)
                if side == FUSED:
                    tasks = run["tasks"]
        found = {side: np.load(Path(folder) / f"{side}.npz") for side in SIDES}
        agree = {
            name: all(agrees(name, found[NUMPY], found[side]) for side in OURS)
            for name in options.programs
        }
    return [
        Result(
            name,
            PROGRAMS[name].field,
            size,
            *(statistics.median(times[side][name]) for side in (NUMPY, UNFUSED, FUSED)),
            tasks[name],
            agree[name],
        )
        for name in options.programs
    ]


def agrees(name: str, expected: Any, found: Any) -> bool:
    """Whether a program's results are those of NumPy, but for rounding."""
    for key in expected.files:
        if key.rsplit(" ", 1)[0] != name:
            continue
        right, one = expected[key], found[key]
        if one.shape != right.shape or one.dtype != right.dtype:
            return False
        limit = TOLERANCE * float(abs(right).max(initial=1.0))
        if not np.allclose(one, right, rtol=0.0, atol=limit, equal_nan=True):
            return False
    return True


def _run(
    side: str, size: str, options: argparse.Namespace, folder: str
) -> dict[str, Any]:
    arguments = [size, *options.programs]
    arguments += ["--output", str(Path(folder) / f"{side}.npz")]
    arguments += ["--seconds", str(options.seconds)]
    return run_package(side, SIDE, arguments, cpus=options.cpus, sysmem=options.sysmem)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.py numpy",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "programs", nargs="*", metavar="program", help=f"any of {', '.join(PROGRAMS)}"
    )
    parser.add_argument(
        "--size", default="small,large", choices=("small", "large", "small,large")
    )
    parser.add_argument("--cpus", type=int, default=1, help="point tasks at a time")
    parser.add_argument("--repeat", type=int, default=3, help="processes of each side")
    parser.add_argument(
        "--seconds", type=float, default=0.3, help="of each program in a process"
    )
    parser.add_argument("--sysmem", type=int, default=4000, help="MB for Legate")
    parser.add_argument(
        "--results", type=Path, help="write data and page into this folder"
    )
    options = parser.parse_args(arguments)
    options.programs = chosen_programs(parser, options.programs or PROGRAMS, PROGRAMS)
    return options
