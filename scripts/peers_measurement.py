# SPDX-License-Identifier: Apache-2.0
"""Runs what ``bench.py peers`` compares, each contender in processes of its own."""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import by_hand
import numpy as np
from contenders import (
    BESIDE_C,
    EXACT_C,
    FUSED,
    HUGE_PAGES,
    LIMITS,
    MALLOC,
    NUMPY,
    PROGRAMS,
    REWRITTEN,
    UNFUSED,
    C,
    Contender,
    Program,
)
from records import json_line

APPS = Path(__file__).parent / "apps"
PEERS = Path(__file__).parent / "peers"

# Results may differ from the first contender's by this much, relative to the largest
# value.
BOUND = 1e-11
# Timed batches of a process.
BATCHES = 3


@dataclass(frozen=True)
class Figure:
    """One contender's time of one program, in milliseconds per iteration.

    ``elements_differing`` counts the elements of the results whose bits aren't the
    first contender's, ``elements_differing_from_unfused`` those that aren't unfused's.
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
        """Whether results are the first contender's, to the bit or within the bound."""
        if self.contender == EXACT_C.label:
            return self.elements_differing == 0
        return self.difference is None or self.difference <= BOUND


class FailedError(Exception):
    """A contender's process failed; the text is the end of what it said."""


@dataclass(frozen=True)
class Found:
    """What there is to compare with, and sentences on what there isn't."""

    versions: dict[str, str]
    compiled: by_hand.Compiled | None
    missing: list[str]

    def contenders(self, program: Program) -> list[Contender]:
        """Return a program's; results of others are compared with the first one's."""
        if program.by_hand:
            return [BESIDE_C, *(C if self.compiled else ())]
        installed = (peer for peer in REWRITTEN if peer.package in self.versions)
        return [NUMPY, UNFUSED, FUSED, *installed]

    def version(self, contender: Contender) -> str | None:
        """Return a contender's version, if it is a peer."""
        if contender.variant is not None and self.compiled is not None:
            return self.compiled.compiler
        return self.versions.get(contender.package or "")


def find(options: argparse.Namespace, folder: Path) -> Found:
    """Look for the peers that the programs need, and compile what is to be."""
    programs = [PROGRAMS[app] for app in options.apps]
    versions, compiled, missing = {}, None, []
    if not all(program.by_hand for program in programs):
        versions = _versions(options.peers_python)
        missing += [
            f"{peer.label} is left out: {peer.package} isn't installed for"
            " --peers-python"
            for peer in REWRITTEN
            if peer.package not in versions
        ]
    if any(program.by_hand for program in programs):
        try:
            compiled = by_hand.build(folder)
        except by_hand.MissingError as error:
            missing.append(f"C by hand is left out: {error}")
    return Found(versions, compiled, missing)


class Measurement:
    """The processes of all contenders for one program on a number of CPUs."""

    def __init__(
        self,
        app: str,
        cpus: int,
        options: argparse.Namespace,
        found: Found,
        folder: Path,
    ) -> None:
        self.app = app
        self.program = PROGRAMS[app]
        self.cpus = cpus
        self.options = options
        self.found = found
        self.folder = folder
        self.size = options.size or (
            self.program.quick_size if options.quick else self.program.size
        )
        self.failures: list[str] = []
        self._contenders = found.contenders(self.program)
        self._times: dict[tuple[Contender, str], list[float]] = {}
        self._bandwidths: dict[str, list[float]] = {kind: [] for kind in LIMITS}
        self._compared: dict[Contender, tuple[float, int, int]] = {}

    def runs(self) -> Iterator[str]:
        """Run every contender's processes in turns; says what comes next."""
        if self.program.by_hand:
            yield "the arrays to start from"
            self._write_initial()
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
                version=self.found.version(contender),
                malloc=best,
                **_spread(self._times[contender, best]),
                difference=difference,
                elements_differing=from_numpy,
                elements_differing_from_unfused=(
                    from_unfused if contender is FUSED else None
                ),
            )
        moved = 8e-9 * self.program.arrays * self.size**self.program.dimensions
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
        output = None
        if contender not in self._compared:
            output = self.folder / f"{contender.label}.npz"
        if contender.variant is None:
            command = self._python(contender)
            command += ["--batches", str(BATCHES)]
            command += ["--iterations", str(self.options.iterations)]
            command += ["--output", str(output)] if output else []
        else:
            command = self._by_hand(contender.variant)
        record = _output(command, self._environment(contender, malloc))
        times = self._times.setdefault((contender, malloc), [])
        times += record["iteration_ms"]
        if output is None:
            return
        reference = self._reference()
        if contender.variant is not None:
            by_hand.read_arrays(self.folder / "final", output, reference)
        unfused = self.folder / f"{UNFUSED.label}.npz"
        difference, from_reference = _difference(reference, output)
        from_unfused = _difference(unfused, output)[1] if contender is FUSED else 0
        self._compared[contender] = (difference, from_reference, from_unfused)
        if output not in (reference, unfused):
            output.unlink()

    def _reference(self) -> Path:
        return self.folder / f"{self._contenders[0].label}.npz"

    def _python(self, contender: Contender) -> list[str]:
        """Return the command of a NumPy program or a peer's, for any iterations."""
        if contender.package is None:
            name = self.program.script or self.app
            command = [sys.executable, str(APPS / f"{name}.py"), *self.program.options]
        else:
            script = PEERS / f"with_{contender.package}.py"
            command = [self.options.peers_python, str(script), self.app]
        if contender not in (UNFUSED, FUSED, BESIDE_C):
            command += ["--package", "numpy"]
        return [*command, "--size", str(self.size)]

    def _by_hand(self, variant: str) -> list[str]:
        """Return the command of a C program; its arguments are those of main.c."""
        assert self.found.compiled is not None
        program = self.found.compiled.programs[self.program.script or self.app, variant]
        count = self.options.iterations
        # what apps/harness.py runs before it measures
        warm_up = 1 + max(1, count // 2) + count
        files = (self.folder / name for name in ("initial", "final"))
        numbers = (self.size, self.program.sweeps, warm_up, count, BATCHES)
        return [str(program), *map(str, files), *map(str, numbers)]

    def _write_initial(self) -> None:
        """Write the arrays that C programs start from.

        In a process of its own: arrays that were read are slower to use.
        """
        arrays = self.folder / "initial.npz"
        command = [*self._python(BESIDE_C), "--initial", str(arrays)]
        command += ["--batches", "1", "--iterations", "1"]
        _output(command, self._environment(BESIDE_C, *HUGE_PAGES))
        by_hand.write_arrays(arrays, self.folder / "initial")

    def _environment(self, contender: Contender, malloc: str) -> dict[str, str]:
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
            **dict(contender.environment),
            **MALLOC[malloc],
        }


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
