# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of NPBench (github spcl/npbench), unmodified, unfused and fused.

``bench.py npbench CHECKOUT``: NumPy's versions run on NumPy and, with ``import
cupynumeric`` in place of ``import numpy``, unfused and fused; those written for Numba,
JAX and DaCe run in the environment that is given. Each program has processes of its
own, which alternate; times are medians. Results are compared with NumPy's as NPBench
does. Nothing of NPBench is part of this package: give the path of a checkout.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import machine
import numpy as np
from measurement import FUSED, NUMPY, UNFUSED, package_settings
from records import SideError, run_side
from rich.console import Console

SIDE = Path(__file__).parent / "npbench_side.py"
PEERS = ("numba", "jax", "dace")
DATA, PAGE = "npbench.json", "npbench.md"
# As in NPBench: results are alike, or near enough in the norm.
RELATIVE, ABSOLUTE, NORM = 1e-5, 1e-8, 1e-5


@dataclass(frozen=True)
class Result:
    """One program; milliseconds by side, and why a side has none.

    Attributes:
        tasks: of the fused run.
        wrong: sides whose results differ from NumPy's.
    """

    name: str
    times: dict[str, float]
    failures: dict[str, str] = field(default_factory=dict)
    tasks: int = 0
    wrong: tuple[str, ...] = ()

    def over_fused(self, side: str) -> float | None:
        """A side's time over the fused one, None if one of them did not run."""
        if side not in self.times or FUSED not in self.times:
            return None
        return self.times[side] / self.times[FUSED]


def main(arguments: list[str]) -> int:
    """Measure the programs, and write the page."""
    options = _parse(arguments)
    console = Console(stderr=True)
    results = []
    for name in options.programs:
        with console.status(name):
            results.append(_measure(name, options))
    text = page(results, options)
    if options.results:
        options.results.mkdir(parents=True, exist_ok=True)
        document = {
            "command": "scripts/bench.py npbench " + " ".join(arguments),
            "machine": machine.describe(),
            "results": [asdict(result) for result in results],
        }
        (options.results / DATA).write_text(json.dumps(document, indent=1) + "\n")
        (options.results / PAGE).write_text(text)
    print(text)
    return 1 if any(result.wrong for result in results) else 0


def page(results: Sequence[Result], options: argparse.Namespace) -> str:
    """Return the page, the programs in which NumPy is ahead most at the top."""
    sides = options.sides
    lines = [
        "# NPBench",
        "",
        f"Made by `scripts/bench.py npbench`, preset {options.preset}, --cpus "
        f"{options.cpus}. Milliseconds until an element of each result was read, "
        "medians. A factor below 1 says that the other side is the faster one.",
        "",
    ]
    for side in sides:
        factors = [each for one in results if (each := one.over_fused(side))]
        if side == FUSED or not factors:
            continue
        behind = sum(each < 1.0 for each in factors)
        lines.append(
            f"- {side} over fused: {statistics.geometric_mean(factors):.2g} in the "
            f"geometric mean of {len(factors)} programs, {behind} of them below 1."
        )
    lines += [
        "",
        f"| program | {' | '.join(sides)} | tasks | NumPy over fused | |",
        "|---|" + "---:|" * (len(sides) + 2) + "---|",
    ]
    for one in sorted(results, key=lambda one: one.over_fused(NUMPY) or 0.0):
        times = [_cell(one, side) for side in sides]
        factor = one.over_fused(NUMPY)
        shown = "" if factor is None else f"{factor:.2g}"
        differs = ", ".join(one.wrong)
        remark = f"{differs}: results differ" if differs else ""
        lines.append(
            f"| {one.name} | {' | '.join(times)} | {one.tasks:,} | {shown} | {remark} |"
        )
    failures = [
        f"- {one.name}, {side}: {why}"
        for one in results
        for side, why in one.failures.items()
    ]
    if failures:
        lines += ["", "What did not run:", "", *failures]
    return "\n".join(lines) + "\n"


def _cell(result: Result, side: str) -> str:
    time = result.times.get(side)
    return "" if time is None else f"{time:.3g}"


def _measure(name: str, options: argparse.Namespace) -> Result:
    times: dict[str, list[float]] = {}
    failures: dict[str, str] = {}
    tasks = 0
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(options.repeat):
            order = options.sides if repeat % 2 == 0 else options.sides[::-1]
            for side in [side for side in order if side not in failures]:
                try:
                    found = _run(side, name, options, Path(folder))
                except subprocess.TimeoutExpired:
                    failures[side] = f"takes more than {options.limit:g} seconds"
                except SideError as error:
                    failures[side] = error.reason[:200]
                else:
                    times.setdefault(side, []).append(found["time"])
                    tasks = found["tasks"] if side == FUSED else tasks
        wrong = tuple(
            side
            for side in times
            if NUMPY in times and not _agrees(name, side, options, Path(folder))
        )
    medians = {
        side: statistics.median(own)
        for side, own in times.items()
        if side not in failures
    }
    return Result(name, medians, failures, tasks, wrong)


def _run(
    side: str, name: str, options: argparse.Namespace, folder: Path
) -> dict[str, Any]:
    kind = side if side in (NUMPY, *PEERS) else "cupynumeric"
    python = options.peers if side in PEERS else sys.executable
    command = [str(python), str(SIDE), kind, str(options.checkout), name]
    command += [options.preset, "--seconds", str(options.seconds)]
    command += ["--output", str(folder / f"{side}.npz")]
    settings = package_settings(side, cpus=options.cpus, sysmem=options.sysmem)
    settings["NUMBA_NUM_THREADS"] = settings["OMP_NUM_THREADS"] = str(options.cpus)
    return run_side(command, settings, options.limit)


def _agrees(name: str, side: str, options: argparse.Namespace, folder: Path) -> bool:
    """Whether a side has NumPy's results, as NPBench sees it."""
    information = options.checkout / "bench_info" / f"{name}.json"
    limits = json.loads(information.read_text())["benchmark"]
    right, found = (np.load(folder / f"{one}.npz") for one in (NUMPY, side))
    # what is written into arguments JAX returns
    if side != "jax" and len(right.files) != len(found.files):
        return False
    for key in right.files[: len(found.files)]:
        one, other = right[key], found[key]
        if one.shape != other.shape:
            return False
        rtol, atol = limits.get("rtol", RELATIVE), limits.get("atol", ABSOLUTE)
        if np.allclose(one, other, rtol=rtol, atol=atol, equal_nan=True):
            continue
        error = np.linalg.norm(one - other) / np.linalg.norm(one)
        if not error < limits.get("norm_error", NORM):
            return False
    return True


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.py npbench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("checkout", type=Path, help="a folder with NPBench")
    parser.add_argument("programs", nargs="*", help="names in bench_info/ (all)")
    parser.add_argument("--preset", default="S", choices=("S", "M", "L", "paper"))
    parser.add_argument("--cpus", type=int, default=1, help="point tasks at a time")
    parser.add_argument("--repeat", type=int, default=3, help="processes of each side")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each program")
    parser.add_argument(
        "--limit", type=float, default=300.0, help="seconds of a process"
    )
    parser.add_argument("--sysmem", type=int, default=8000, help="MB for Legate")
    parser.add_argument(
        "--peers",
        type=Path,
        help="the Python of an environment with Numba, JAX and DaCe",
    )
    parser.add_argument(
        "--results", type=Path, help="write data and page into this folder"
    )
    options = parser.parse_intermixed_args(arguments)
    known = sorted(path.stem for path in options.checkout.glob("bench_info/*.json"))
    if not known:
        parser.error(
            f"{options.checkout} has no bench_info/*.json; give the folder of a "
            "checkout of https://github.com/spcl/npbench"
        )
    unknown = [name for name in options.programs if name not in known]
    if unknown:
        parser.error(f"no program is called {unknown[0]}; there are {', '.join(known)}")
    options.programs = options.programs or known
    options.sides = (NUMPY, UNFUSED, FUSED, *(PEERS if options.peers else ()))
    return options
