# SPDX-License-Identifier: Apache-2.0
"""Compares fused programs with other ways to run them: ``bench.py peers``.

Four programs run unfused and fused, with NumPy, and rewritten for numexpr, Numba,
JAX and torch.compile; the limit is the memory: the bytes that a program must read
and write, at the bandwidth of STREAM's triad in the same run. Every contender has
as many threads as CPUs are compared, and runs in processes of its own, in turns
with all others. Results are compared with NumPy's.

Peers allocate their results anew in each iteration. glibc gives large blocks back
to the system, and the page faults of the next ones can take most of the time;
so peers run with glibc's default and with heaps that keep them, cuPyNumeric with its
pools in small pages and in huge ones, and the best median counts.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from records import json_line
from rich import box
from rich.console import Console
from rich.table import Table

APPS = Path(__file__).parent / "apps"
PEERS = Path(__file__).parent / "peers"

# Results may differ from NumPy's by this much, relative to the largest value.
BOUND = 1e-11
# Timed batches of a process.
BATCHES = 3
# Settings of glibc: its default; all blocks from one heap that never shrinks (a high
# mmap_threshold does that only where no other thread allocates); the same in huge
# pages; only these.
KEEP = (
    "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=68719476736"
    ":glibc.malloc.arena_max=1"
)
MALLOC: dict[str, dict[str, str]] = {
    "default": {},
    "keep": {"GLIBC_TUNABLES": KEEP},
    "keep, huge pages": {"GLIBC_TUNABLES": f"{KEEP}:glibc.malloc.hugetlb=1"},
    "huge pages": {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"},
}
MARKS = {"keep": "*", "keep, huge pages": "**", "huge pages": "***"}
# Legate's pools keep their memory by themselves.
FOR_PEERS = ("default", "keep", "keep, huge pages")
FOR_LEGATE = ("default", "huge pages")


@dataclass(frozen=True)
class Program:
    """A program: its sizes, and what it must move through memory.

    ``arrays`` counts arrays of ``size ** dimensions`` float64 that are read or
    written, each once.
    """

    size: int
    quick_size: int
    arrays: int
    dimensions: int = 1


PROGRAMS = {
    "black_scholes": Program(10_000_000, 1_000, arrays=5),
    "chain": Program(20_000_000, 1_000, arrays=2),
    "stencil": Program(4_000, 50, arrays=2, dimensions=2),
    "update": Program(20_000_000, 1_000, arrays=6),
}


@dataclass(frozen=True)
class Contender:
    """One way to run the programs; ``package`` is a peer's, and names its script."""

    label: str
    package: str | None = None
    environment: tuple[tuple[str, str], ...] = ()
    malloc: tuple[str, ...] = FOR_PEERS


NUMPY = Contender("NumPy")
UNFUSED, FUSED = (
    Contender(label, None, (("LEGATE_DIFFUSE", switch),), FOR_LEGATE)
    for label, switch in (
        ("cuPyNumeric, unfused", "0"),
        ("cuPyNumeric, fused", "1"),
    )
)
REWRITTEN = (
    Contender("numexpr", "numexpr"),
    Contender("Numba, fused by hand", "numba"),
    Contender("JAX jit", "jax"),
    Contender("torch.compile", "torch"),
)
LIMITS = {
    "normal": "limit: triad",
    "nontemporal": "limit: triad, non-temporal stores",
}


@dataclass(frozen=True)
class Figure:
    """One contender's time of one program, in milliseconds per iteration.

    ``elements_differing`` counts the elements of the results whose bits aren't
    NumPy's, ``elements_differing_from_unfused`` those that aren't unfused's.
    """

    app: str
    size: int
    cpus: int
    contender: str
    version: str | None
    malloc: str | None
    ms: float
    ms_quartiles: tuple[float, float]
    difference: float | None = None
    elements_differing: int | None = None
    elements_differing_from_unfused: int | None = None

    @property
    def agrees(self) -> bool:
        """Whether results are NumPy's within the bound."""
        return self.difference is None or self.difference <= BOUND


class FailedError(Exception):
    """A contender's process failed; the text is the end of what it said."""


def main(arguments: list[str]) -> int:
    """Measure all contenders, and print a table for each number of CPUs."""
    options = _parse(arguments)
    console = Console(stderr=True)
    versions = _versions(options.peers_python)
    missing = [
        f"{peer.label} is left out: {peer.package} isn't installed for --peers-python"
        for peer in REWRITTEN
        if peer.package not in versions
    ]
    figures: list[Figure] = []
    failures: list[str] = []
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        for cpus in options.cpus:
            for app in options.apps:
                try:
                    measured = Measurement(app, cpus, options, versions, Path(folder))
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
        printed.print(table([one for one in figures if one.cpus == cpus], cpus))
    for malloc, mark in MARKS.items():
        tunables = MALLOC[malloc]["GLIBC_TUNABLES"]
        printed.print(f"{mark} {malloc}: GLIBC_TUNABLES={tunables}", markup=False)
    printed.print(
        f"load of the machine: {load:.1f} before, {os.getloadavg()[0]:.1f} after"
    )
    for note in missing + failures:
        printed.print(note, markup=False)
    if options.json:
        rows = [asdict(figure) for figure in figures]
        Path(options.json).write_text(json.dumps(rows, indent=2) + "\n")
    return 0 if all(figure.agrees for figure in figures) and not failures else 1


class Measurement:
    """The processes of all contenders for one program on a number of CPUs."""

    def __init__(
        self,
        app: str,
        cpus: int,
        options: argparse.Namespace,
        versions: dict[str, str],
        folder: Path,
    ) -> None:
        self.app = app
        self.cpus = cpus
        self.options = options
        self.versions = versions
        self.folder = folder
        self.size = options.size or (
            PROGRAMS[app].quick_size if options.quick else PROGRAMS[app].size
        )
        self.failures: list[str] = []
        # NumPy and unfused first: the results of others are compared with theirs
        self._contenders = [
            *(NUMPY, UNFUSED, FUSED),
            *(peer for peer in REWRITTEN if peer.package in versions),
        ]
        self._times: dict[tuple[Contender, str], list[float]] = {}
        self._bandwidths: dict[str, list[float]] = {kind: [] for kind in LIMITS}
        self._compared: dict[Contender, tuple[float, int, int]] = {}

    def runs(self) -> Iterator[str]:
        """Run every contender's processes in turns; says what comes next."""
        for repeat in range(self.options.repeat):
            turns = [(one, malloc) for one in self._contenders for malloc in one.malloc]
            if repeat % 2:
                turns.reverse()
            yield f"triad, turn {repeat + 1}"
            self._run_triad()
            for contender, malloc in turns:
                if contender not in self._contenders:
                    continue
                yield f"{contender.label}, turn {repeat + 1}"
                try:
                    self._run(contender, malloc)
                except FailedError as error:
                    if contender.package is None:
                        raise
                    self._leave_out(contender, error)

    def figures(self) -> Iterator[Figure]:
        """Yield each contender's figure, with the best setting of malloc."""
        for contender in self._contenders:
            best = min(
                contender.malloc,
                key=lambda malloc: statistics.median(self._times[contender, malloc]),
            )
            difference, from_numpy, from_unfused = self._compared[contender]
            yield Figure(
                app=self.app,
                size=self.size,
                cpus=self.cpus,
                contender=contender.label,
                version=self.versions.get(contender.package or ""),
                malloc=best,
                **_spread(self._times[contender, best]),
                difference=difference,
                elements_differing=from_numpy,
                elements_differing_from_unfused=(
                    from_unfused if contender is FUSED else None
                ),
            )
        program = PROGRAMS[self.app]
        moved = 8e-9 * program.arrays * self.size**program.dimensions
        for kind, label in LIMITS.items():
            times = [moved / bandwidth * 1e3 for bandwidth in self._bandwidths[kind]]
            figure = (self.app, self.size, self.cpus, label, None, None)
            yield Figure(*figure, **_spread(times))

    def _leave_out(self, contender: Contender, error: FailedError) -> None:
        self._contenders.remove(contender)
        reason = str(error).strip().splitlines() or ["no message"]
        self.failures.append(
            f"{contender.label} is left out of {self.app} on {self.cpus} CPUs,"
            f" it failed: {reason[-1]}"
        )

    def _run_triad(self) -> None:
        count = 200_000 if self.options.quick else 20_000_000
        command = [sys.executable, str(PEERS / "triad.py"), "--size", str(count)]
        found = _output([*command, "--cpus", str(self.cpus)], dict(os.environ))
        for kind, bandwidths in found.items():
            self._bandwidths[kind] += bandwidths

    def _run(self, contender: Contender, malloc: str) -> None:
        if contender.package is None:
            command = [sys.executable, str(APPS / f"{self.app}.py")]
        else:
            script = PEERS / f"with_{contender.package}.py"
            command = [self.options.peers_python, str(script), self.app]
        if contender not in (UNFUSED, FUSED):
            command += ["--package", "numpy"]
        command += ["--size", str(self.size), "--batches", str(BATCHES)]
        command += ["--iterations", str(self.options.iterations)]
        output = self.folder / f"{contender.label}.npz"
        if contender not in self._compared:
            command += ["--output", str(output)]
        environment = self._environment() | dict(contender.environment) | MALLOC[malloc]
        record = _output(command, environment)
        times = self._times.setdefault((contender, malloc), [])
        times += record["iteration_ms"]
        if contender not in self._compared:
            self._compare(contender, output)

    def _compare(self, contender: Contender, output: Path) -> None:
        reference = self.folder / f"{NUMPY.label}.npz"
        unfused = self.folder / f"{UNFUSED.label}.npz"
        difference, from_numpy = _difference(reference, output)
        from_unfused = _difference(unfused, output)[1] if contender is FUSED else 0
        self._compared[contender] = (difference, from_numpy, from_unfused)
        if contender not in (NUMPY, UNFUSED):
            output.unlink()

    def _environment(self) -> dict[str, str]:
        threads = str(self.cpus)
        several = "true" if self.cpus > 1 else "false"
        return {
            **os.environ,
            "LEGATE_CONFIG": (
                f"--cpus {self.cpus} --gpus 0 --sysmem {self.options.sysmem}"
            ),
            "LEGATE_DIFFUSE": "0",
            # see measurement.py
            "LEGATE_DIFFUSE_DRIVER_STUB": "1",
            "LEGATE_DIFFUSE_YIELD": "1",
            "LEGATE_DIFFUSE_CACHE_DIR": str(self.folder / "diffuse"),
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
            "NUMEXPR_MAX_THREADS": threads,
            "NUMEXPR_NUM_THREADS": threads,
            "NUMBA_NUM_THREADS": threads,
            "NUMBA_CACHE_DIR": str(self.folder / "numba"),
            # XLA's number of threads
            "NPROC": threads,
            "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={several}",
            "TORCHINDUCTOR_CACHE_DIR": str(self.folder / "torch"),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
        }


def table(figures: list[Figure], cpus: int) -> Table:
    """Return the figures for one number of CPUs as a table for a person."""
    made = Table(title=f"ms per iteration, medians, {cpus} CPUs", box=box.SIMPLE)
    made.add_column("")
    cells: dict[str, dict[str, str]] = {}
    differing: dict[str, str] = {}
    for one in figures:
        text = f"{one.ms:.3g}" + MARKS.get(one.malloc or "", "")
        if not one.agrees:
            text += f" WRONG BY {one.difference:.0e}"
        cells.setdefault(one.contender, {})[one.app] = text
        if one.elements_differing_from_unfused is not None:
            differing[one.app] = f"{one.elements_differing_from_unfused:,}"
    apps = list(dict.fromkeys(one.app for one in figures))
    for app in apps:
        made.add_column(app, justify="right", no_wrap=True)
    for label, row in cells.items():
        made.add_row(label, *(row.get(app, "-") for app in apps))
    made.add_row("elements that differ, fused and unfused", *differing.values())
    return made


def _spread(times: list[float]) -> dict[str, Any]:
    low, middle, high = statistics.quantiles(times, n=4, method="inclusive")
    return {"ms": middle, "ms_quartiles": (low, high)}


def _output(command: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """Return the last line that a command prints, which is JSON."""
    done = subprocess.run(
        command, env=environment, check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise FailedError(done.stderr[-2000:])
    return json_line(done.stdout)


def _difference(reference: Path, found: Path) -> tuple[float, int]:
    """Return the largest difference, relative to the largest value, and how many bits.

    The second counts elements with other bits, except where both are NaN.
    """
    worst, count = 0.0, 0
    with np.load(reference) as old, np.load(found) as new:
        for key in old:
            a, b = np.atleast_1d(old[key]), np.atleast_1d(new[key])
            if a.dtype != b.dtype or a.shape != b.shape:
                return math.inf, a.size
            other = (a.view(np.int64) != b.view(np.int64)) & ~(
                np.isnan(a) & np.isnan(b)
            )
            count += int(np.count_nonzero(other))
            if not (np.isfinite(a[other]).all() and np.isfinite(b[other]).all()):
                return math.inf, count
            scale = float(np.max(np.abs(a[np.isfinite(a)]), initial=0.0)) or 1.0
            apart = np.abs(a[other] - b[other])
            worst = max(worst, float(np.max(apart, initial=0.0)) / scale)
    return worst, count


def _versions(python: str) -> dict[str, str]:
    """Return the versions of the peers that an interpreter has."""
    names = [peer.package for peer in REWRITTEN]
    code = f"""
import importlib.metadata, json
found = {{}}
for name in {names}:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""
    versions: dict[str, str] = _output([python, "-c", code], dict(os.environ))
    return versions


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
    options.apps = options.apps or list(PROGRAMS)
    unknown = sorted(set(options.apps) - set(PROGRAMS))
    if unknown:
        parser.error(f"no program {unknown[0]}; choose from {', '.join(PROGRAMS)}")
    return options
