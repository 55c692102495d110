# SPDX-License-Identifier: Apache-2.0
"""Measures a program unfused, fused and with NumPy, in alternating processes."""

from __future__ import annotations

import math
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import machine
import numpy as np
from applications import APPLICATIONS, QUICK_ITERATIONS, SMALL_ITERATIONS, scaled
from records import run_side

APPS = Path(__file__).parent / "apps"
BATCHES = 3
# How far a program may be from the answer that it knows otherwise.
ERROR_BOUNDS = {"float32": 1e-4, "float64": 1e-10}
GIVEN_ITERATIONS = 10
# Huge pages for all sides. The first small pages that a process touches are the most
# scattered ones of the machine, and a matrix on them takes up to twice as long to read;
# fused programs touch fewer before they come to it.
TUNABLES = "glibc.malloc.hugetlb=1"
UNFUSED, FUSED, NUMPY = SIDES = ("unfused", "fused", "numpy")
Quartiles = tuple[float, float]


@dataclass(frozen=True)
class Case:
    """One program at one size on a number of CPUs.

    ``kind`` is "large", "small" or "quick" for the program's own sizes, "given" for
    one from the command line.
    """

    app: str
    kind: str
    size: int
    cpus: int
    iterations: int
    dtype: str
    repeat: int
    sysmem: int


@dataclass(frozen=True)
class Record:
    """What was measured of one case; times in milliseconds per iteration.

    ``ratio`` and ``numpy_ratio`` say how many times faster fused is than unfused and
    than NumPy, in one process and with a thread of BLAS for each CPU.
    The cold process is the first fused one, with an empty cache on disk; the others
    are warm. ``bandwidth_gbs`` is the memory's at that time, for large sizes.
    """

    app: str
    kind: str
    size: int
    elements: int
    cpus: int
    dtype: str
    iterations: int
    repeat: int
    options: tuple[str, ...]
    unfused_ms: float
    unfused_quartiles: Quartiles
    fused_ms: float
    fused_quartiles: Quartiles
    numpy_ms: float
    numpy_quartiles: Quartiles
    ratio: float
    numpy_ratio: float
    tasks_unfused: float
    tasks_fused: float
    agree: bool
    largest_difference: float
    error: float
    first_iteration_unfused_ms: float
    first_iteration_ms: float
    first_iteration_warm_ms: float | None
    break_even_iterations: int | None
    break_even_warm_iterations: int | None
    compile_seconds: float
    plans_made: float
    kernels_compiled: float
    temporaries_removed_bytes: float
    peak_rss_unfused_mb: float
    peak_rss_fused_mb: float
    peak_rss_numpy_mb: float
    bandwidth_gbs: float | None
    load_average: float

    @property
    def right(self) -> bool:
        """Whether fused and unfused agree, and all sides find their answers right."""
        return self.agree and self.error <= ERROR_BOUNDS[self.dtype]


def cases(
    apps: list[str],
    sizes: list[str],
    cpus: list[int],
    iterations: int | None,
    **settings: Any,
) -> list[Case]:
    """Return the cases in the order in which they are measured.

    Large sizes grow with the CPUs, so that each one has as much to do as a single one
    (weak scaling). Legate does not partition small arrays: they run on the first
    number of CPUs only.
    """
    found = []
    for app in apps:
        known = APPLICATIONS[app]
        for kind in sizes:
            for count in cpus[:1] if kind == "small" else cpus:
                if kind == "large":
                    size, default = scaled(app, known.large, count), known.iterations
                elif kind == "small":
                    size, default = known.small, SMALL_ITERATIONS
                elif kind == "quick":
                    size, default = known.quick, QUICK_ITERATIONS
                else:
                    size, default = int(kind), GIVEN_ITERATIONS
                label = "given" if kind.isdecimal() else kind
                case = (app, label, size, count, iterations or default)
                found.append(Case(*case, **settings))
    return found


def measure(case: Case, done: Callable[[], None]) -> Record:
    """Run one program ``case.repeat`` times each way; calls ``done`` after each run."""
    known = APPLICATIONS[case.app]
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
        for repeat in range(case.repeat):
            for side in SIDES if repeat % 2 == 0 else SIDES[::-1]:
                output = Path(folder) / f"{side}.npz" if repeat == 0 else None
                runs[side].append(run(case, side, folder, output))
                done()
        difference = largest_difference(
            *(Path(folder) / f"{side}.npz" for side in (UNFUSED, FUSED))
        )
    unfused, fused, numpy = (runs[side] for side in SIDES)
    unfused_ms, unfused_quartiles = _spread(unfused)
    fused_ms, fused_quartiles = _spread(fused)
    numpy_ms, numpy_quartiles = _spread(numpy)
    counts = fused[-1]["statistics_per_iteration"]
    opening, cold, warm = (_opening(runs) for runs in (unfused, fused[:1], fused[1:]))
    return Record(
        app=case.app,
        kind=case.kind,
        size=case.size,
        elements=known.elements(case.size),
        cpus=case.cpus,
        dtype=case.dtype,
        iterations=case.iterations,
        repeat=case.repeat,
        options=known.options,
        unfused_ms=unfused_ms,
        unfused_quartiles=unfused_quartiles,
        fused_ms=fused_ms,
        fused_quartiles=fused_quartiles,
        numpy_ms=numpy_ms,
        numpy_quartiles=numpy_quartiles,
        ratio=unfused_ms / fused_ms,
        numpy_ratio=numpy_ms / fused_ms,
        # a fill is no task: Legion keeps its value until the array is used
        tasks_unfused=counts["tasks_seen"] - counts["fills_seen"],
        tasks_fused=counts["tasks_submitted"] - counts["fills_submitted"],
        agree=difference <= known.roundings * float(np.finfo(case.dtype).eps),
        largest_difference=difference,
        error=max(run["error"] for run in unfused + fused + numpy),
        first_iteration_unfused_ms=opening[0],
        first_iteration_ms=cold[0],
        first_iteration_warm_ms=warm[0] if warm else None,
        break_even_iterations=break_even(opening, cold, unfused_ms, fused_ms),
        break_even_warm_iterations=(
            break_even(opening, warm, unfused_ms, fused_ms) if warm else None
        ),
        compile_seconds=fused[0]["compile_seconds"],
        plans_made=counts["plans_made"],
        kernels_compiled=counts["kernels_compiled"],
        temporaries_removed_bytes=counts["temporaries_removed_bytes"],
        peak_rss_unfused_mb=_peak(unfused),
        peak_rss_fused_mb=_peak(fused),
        peak_rss_numpy_mb=_peak(numpy),
        bandwidth_gbs=machine.bandwidth(case.cpus) if case.kind == "large" else None,
        load_average=load,
    )


def break_even(
    unfused_opening: list[float],
    fused_opening: list[float],
    unfused_ms: float,
    fused_ms: float,
) -> int | None:
    """Return after how many iterations the fused program is ahead in total.

    The first iterations count with their own times, those after them with the median.
    None: never.
    """
    behind = 0.0
    for count, (unfused, fused) in enumerate(
        zip(unfused_opening, fused_opening, strict=True), start=1
    ):
        behind += fused - unfused
        if behind <= 0.0:
            return count
    if fused_ms >= unfused_ms:
        return None
    return len(fused_opening) + math.ceil(behind / (unfused_ms - fused_ms))


def run(
    case: Case,
    side: str,
    folder: str,
    output: Path | None,
    more: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Run a program of one side in a process, and return its line of JSON.

    Args:
        case: what is run.
        side: one of ``SIDES``.
        folder: where compiled kernels are kept.
        output: where the results are written, if anywhere.
        more: environment variables.
    """
    known = APPLICATIONS[case.app]
    command = [sys.executable, str(APPS / f"{known.script or case.app}.py")]
    command += ["--size", str(case.size), "--dtype", case.dtype, *known.options]
    command += ["--iterations", str(case.iterations), "--batches", str(BATCHES)]
    if output is not None:
        command += ["--output", str(output)]
    settings = {
        "LEGATE_CONFIG": f"--cpus {case.cpus} --gpus 0 --sysmem {case.sysmem}",
        "GLIBC_TUNABLES": TUNABLES,
        "LEGATE_DIFFUSE": "1" if side == FUSED else "0",
        # an empty cache, so that the first fused process is a cold start
        "LEGATE_DIFFUSE_CACHE_DIR": str(Path(folder) / "cache"),
    }
    if side == NUMPY:
        command += ["--package", "numpy"]
        settings |= {"OPENBLAS_NUM_THREADS": str(case.cpus)}
    return run_side(command, settings | more)


def _spread(runs: list[dict[str, Any]]) -> tuple[float, Quartiles]:
    """Return the median of all batches, and their quartiles."""
    times = [time for run in runs for time in run["iteration_ms"]]
    low, middle, high = statistics.quantiles(times, n=4, method="inclusive")
    return middle, (low, high)


def _peak(runs: list[dict[str, Any]]) -> float:
    return float(max(run["peak_rss_mb"] for run in runs))


def _opening(runs: list[dict[str, Any]]) -> list[float]:
    """Return the medians of the first iterations' times, iteration by iteration."""
    return [
        statistics.median(times)
        for times in zip(*(run["opening_ms"] for run in runs), strict=True)
    ]


def largest_difference(left: Path, right: Path) -> float:
    """Return the largest difference of two results, relative to the largest value.

    It is infinite if types or shapes differ, or a value is not finite.
    """
    worst = 0.0
    with np.load(left) as old, np.load(right) as new:
        if sorted(old) != sorted(new):
            return math.inf
        for key in old:
            a, b = old[key], new[key]
            if a.dtype != b.dtype or a.shape != b.shape:
                return math.inf
            if not (np.isfinite(a).all() and np.isfinite(b).all()):
                return math.inf
            scale = float(np.max(np.abs(a), initial=0.0)) or 1.0
            worst = max(worst, float(np.max(np.abs(a - b), initial=0.0)) / scale)
    return worst


def run_package(
    side: str, script: Path, arguments: list[str], *, cpus: int, sysmem: int
) -> dict[str, Any]:
    """Run a script that takes a package, on one of ``SIDES``; return its line of JSON.

    Raises:
        SideError: it has failed.
    """
    package = "numpy" if side == NUMPY else "cupynumeric"
    settings = package_settings(side, cpus=cpus, sysmem=sysmem)
    return run_side([sys.executable, str(script), package, *arguments], settings)


def package_settings(side: str, *, cpus: int, sysmem: int) -> dict[str, str]:
    """Return the environment variables of a script that takes a package."""
    return {
        "GLIBC_TUNABLES": TUNABLES,
        "LEGATE_CONFIG": f"--cpus {cpus} --gpus 0 --sysmem {sysmem}",
        "LEGATE_DIFFUSE": "1" if side == FUSED else "0",
        "OPENBLAS_NUM_THREADS": str(cpus),
    }
