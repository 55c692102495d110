# SPDX-License-Identifier: Apache-2.0
"""Runs everyday statements one at a time, on NumPy, unfused and fused.

``bench.py statements``: operators, functions, methods and indices of cuPyNumeric, on
arrays of some elements. The sides alternate in processes of their own; times are
medians of the least times in each. The page shows where NumPy is ahead.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import machine
from measurement import FUSED, NUMPY, SIDES, UNFUSED, run_package
from records import SideError
from rich.console import Console

SIDE = Path(__file__).parent / "statements_side.py"
DATA, PAGE = "statements.json", "statements.md"
# How many times slower than NumPy is counted.
LIMITS = (10, 30, 100)


@dataclass(frozen=True)
class Result:
    """One statement; microseconds."""

    statement: str
    numpy_us: float
    unfused_us: float
    fused_us: float

    @property
    def over_numpy(self) -> float:
        """The fused time over NumPy's."""
        return self.fused_us / self.numpy_us

    @property
    def over_unfused(self) -> float:
        """The fused time over the unfused one."""
        return self.fused_us / self.unfused_us


def main(arguments: list[str]) -> int:
    """Measure the statements, and write the page."""
    options = _parse(arguments)
    console = Console(stderr=True)
    try:
        results = _measure(options, console)
    except SideError as error:
        console.print(f"bench: failed\n{error}", markup=False)
        return 1
    text = page(results, options)
    if options.results:
        options.results.mkdir(parents=True, exist_ok=True)
        document = {
            "command": "scripts/bench.py statements " + " ".join(arguments),
            "machine": machine.describe(),
            "results": [asdict(result) for result in results],
        }
        (options.results / DATA).write_text(json.dumps(document, indent=1) + "\n")
        (options.results / PAGE).write_text(text)
    print(text)
    return 0


def page(results: Sequence[Result], options: argparse.Namespace) -> str:
    """Return the page, the statements in which NumPy is ahead most at the top."""
    factors = [one.over_numpy for one in results]
    over = ", ".join(
        f"{sum(f > limit for f in factors)} over {limit}" for limit in LIMITS
    )
    behind = sum(one.over_unfused > 1.0 for one in results)
    lines = [
        "# Everyday statements",
        "",
        f"Made by `scripts/bench.py statements`, --cpus {options.cpus}, "
        f"{options.elements:,} elements. Microseconds.",
        "",
        f"{len(results)} statements: fused over NumPy {_mean(factors):.2f} in the "
        f"geometric mean, {over} times; fused over unfused "
        f"{_mean([one.over_unfused for one in results]):.2f}, {behind} are slower than "
        "unfused.",
        "",
        "| statement | NumPy | unfused | fused | over NumPy | over unfused |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| `{one.statement}` | {one.numpy_us:.3g} | {one.unfused_us:.3g} "
        f"| {one.fused_us:.3g} | {one.over_numpy:.2g} | {one.over_unfused:.2g} |"
        for one in sorted(results, key=lambda one: -one.over_numpy)
    ]
    return "\n".join(lines) + "\n"


def _mean(factors: Sequence[float]) -> float:
    return statistics.geometric_mean(factors)


def _measure(options: argparse.Namespace, console: Console) -> list[Result]:
    times: dict[str, dict[str, list[float | None]]] = {side: {} for side in SIDES}
    for repeat in range(options.repeat):
        for side in SIDES if repeat % 2 == 0 else SIDES[::-1]:
            with console.status(f"{side}, run {repeat + 1}"):
                run = run_package(
                    side,
                    SIDE,
                    [str(options.elements)],
                    cpus=options.cpus,
                    sysmem=options.sysmem,
                )
            for name, time in run["times"].items():
                times[side].setdefault(name, []).append(time)
    results = []
    for name in times[NUMPY]:
        found = [times[side][name] for side in (NUMPY, UNFUSED, FUSED)]
        known = [[time for time in own if time is not None] for own in found]
        if all(known):
            results.append(Result(name, *map(statistics.median, known)))
    return results


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.py statements",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--elements", type=int, default=1000, help="of an array (1000), in hundreds"
    )
    parser.add_argument("--cpus", type=int, default=1, help="point tasks at a time")
    parser.add_argument("--repeat", type=int, default=3, help="processes of each side")
    parser.add_argument("--sysmem", type=int, default=4000, help="MB for Legate")
    parser.add_argument(
        "--results", type=Path, help="write data and page into this folder"
    )
    return parser.parse_args(arguments)
