# SPDX-License-Identifier: Apache-2.0
"""The cases in which applications are tested, and their runs.

Starting Legate takes longer than an application at the size of a test: all cases of
one machine and mode are run in one process.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forked
import numpy as np
import pytest
import tiers

SCRIPTS = Path(__file__).parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))

from applications import APPLICATIONS, SPARSE  # noqa: E402
from measurement import largest_difference  # noqa: E402

# The first word of a case is its application.
Cases = dict[str, str]
Results = dict[str, np.ndarray]


def every_second(cases: Cases) -> Cases:
    """Return every second case; with ``--all`` all of them."""
    return dict([*cases.items()][:: tiers.examples(2, 1)])


# As ``bench.py --quick`` measures them: sizes at which every operation occurs.
QUICK = {
    name: " ".join(["--size", str(known.quick), *known.options])
    for name, known in APPLICATIONS.items()
    if name not in SPARSE
}
AGREEING = QUICK | {
    "cg with a tolerance": "--size 8 --tolerance 1e-3",
    "multigrid with injection": "--size 15 --restriction injection",
}
# The check is what is tested: other modes compare all results.
CHECKED = every_second(
    AGREEING
    | {
        "black_scholes": "--size 1000",
        "chain": "--size 1000",
        "stencil": "--size 30",
        "update": "--size 1000",
        "jacobi": "--size 60",
        "cg in single precision": "--size 20 --dtype float32",
        "channel_flow": "--size 21 --sweeps 5",
        "logistic_regression": "--size 200",
        "multigrid": "--size 7",
        "multigrid with injection": "--size 7 --restriction injection",
    }
)
SINGLE_PRECISION = {
    f"{case} in float32": f"{options} --dtype float32"
    for case, options in AGREEING.items()
}
WITH_NUMPY = {f"{app} of side 100": "--size 100" for app in QUICK}
# Their starts are made of sines, whose last bits libm alone has.
WITH_SINES = {case: AGREEING[case] for case in ("channel_flow", "heat")}
BY_MATRIX = {
    f"{app} by matrix": f"{QUICK[app]} --operator sparse"
    for app in ("cg", "bicgstab")
    if importlib.util.find_spec("scipy") is not None
}

# What more than two points divide, but for what is decided by what ran before.
DIVIDED = every_second(
    {
        app: AGREEING[app]
        for app in (
            "stencil",
            "cg",
            "bicgstab",
            "heat",
            "softmax",
            "layer_norm",
            "logistic_regression",
            "mandelbrot",
            "channel_flow",
            "shallow_water",
            "multigrid",
        )
    }
)

# With grids that Legate divides, and grids that it leaves in one piece.
GRIDS = {"multigrid": "--size 255"}
# In one solve, which no window holds.
SOLVERS = {"cg": AGREEING["cg"], "bicgstab": f"{AGREEING['bicgstab']} --solve 1000"}


@dataclass(frozen=True)
class Mode:
    """How applications are run.

    ``threads`` share the loops of a task; with one of several ``cpus`` arrays are
    partitioned; None: unfused. NumPy has no ``cpus``. ``maths`` is how functions of the
    maths library are computed. The program waits after so many ``iterations``. With
    ``small_apart`` small arrays are not divided as large ones are.
    """

    cpus: int | None
    threads: int | None = None
    check: bool = False
    maths: str = "vector"
    iterations: int = 2
    small_apart: bool = False

    def cases(self) -> Cases:
        """Return what is run."""
        if self.cpus is None:
            return AGREEING | SINGLE_PRECISION | WITH_NUMPY | BY_MATRIX
        if self.small_apart:
            return GRIDS
        if self.iterations > 2:
            return SOLVERS
        if self.maths == "libm":
            return WITH_SINES
        if self.cpus > 2:
            return DIVIDED
        if self.cpus == 1 and not (self.check or tiers.all_is_run()):
            # tasks are counted, and results compared on more
            return QUICK
        # those whose tasks are counted come first: what ran before decides on them
        return CHECKED if self.check else AGREEING

    def environment(self) -> dict[str, str]:
        """Return the settings of Legate and legate_diffuse."""
        # small arrays stand for large ones
        limits = {"LEGATE_DIFFUSE_SMALL_BYTES": "0"}
        # its plans are proven where another mode makes them
        again = self.check or self.maths == "libm" or self.iterations > 2
        if (again or (self.cpus or 1) > 2) and not tiers.all_is_run():
            limits |= {"LEGATE_DIFFUSE_PROOF": "1"}
        return limits | {
            "LEGATE_CONFIG": f"--cpus {self.cpus} --gpus 0 --sysmem 500",
            "LEGATE_TEST": str(int(not self.small_apart)),
            "LEGATE_DIFFUSE": str(int(self.threads is not None)),
            "LEGATE_DIFFUSE_THREADS": str(self.threads or 1),
            "LEGATE_DIFFUSE_MATH": self.maths,
            "LEGATE_DIFFUSE_CHECK": str(int(self.check)),
            "LEGATE_DIFFUSE_DRIVER_STUB": "1",
            "LEGATE_DIFFUSE_SYNC_COMPILE": "1",
        }


NUMPY = Mode(None)


@dataclass(frozen=True)
class Run:
    """What an application printed, how counters grew, and its results."""

    record: dict[str, Any]
    output: Path

    @functools.cached_property
    def results(self) -> Results:
        """Return the arrays."""
        with np.load(self.output) as arrays:
            return dict(arrays)


class Runs:
    """The runs of all cases in one mode."""

    def __init__(self, mode: Mode, folder: Path) -> None:
        package = "numpy" if mode is NUMPY else "cupynumeric"
        common = ["--package", package, "--batches", "1"]
        common += ["--iterations", str(mode.iterations)]
        commands = {
            case: [case.split()[0], *options.split(), *common]
            for case, options in mode.cases().items()
        }
        outputs = {case: folder / f"{case}.npz" for case in commands}
        for case, command in commands.items():
            command += ["--output", str(outputs[case])]
        file = folder / "commands.json"
        file.write_text(json.dumps(commands))
        done = forked.run(
            [str(Path(__file__).with_name("in_one_process.py")), str(file)],
            os.environ | mode.environment(),
            timeout=500,
        )
        # Realm prints to the standard output, too
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        records = {record["case"]: record for record in map(json.loads, lines)}
        self._runs = {case: Run(records[case], outputs[case]) for case in records}
        self._end = f"the process ended with {done.returncode}\n{done.stderr[-4000:]}"
        self._failed_after_all = (
            done.returncode != 0 and records.keys() == outputs.keys()
        )

    def __getitem__(self, case: str) -> Run:
        """Return a case's run, or fail the test if that or the process failed."""
        if self._failed_after_all:
            pytest.fail(f"all cases ended, but {self._end}")
        if case not in self._runs:
            pytest.fail(f"{case} did not end: after {list(self._runs)} {self._end}")
        return self._runs[case]


def difference(expected: Run, found: Run) -> float:
    """Return the largest difference, relative to the largest value.

    It is infinite if types or shapes differ, or a value is not finite.
    """
    return largest_difference(expected.output, found.output)
