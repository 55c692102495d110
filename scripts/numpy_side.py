# SPDX-License-Identifier: Apache-2.0
"""Runs programs of ``written_programs`` on one package, and prints their times as JSON.

A program is timed from its start until an element of each result was read.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
import time
from typing import Any

import numpy
from written_programs import PROGRAMS
from written_programs.program import Program

# Runs before the timed ones: kernels are compiled when they come for the second time,
# and arrays are where a loop leaves them.
WARM = 3
MOST_RUNS = 30


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", choices=("numpy", "cupynumeric"))
    parser.add_argument("size", choices=("small", "large"))
    parser.add_argument("programs", nargs="+", choices=PROGRAMS)
    parser.add_argument("--seconds", type=float, default=0.3, help="of each program")
    parser.add_argument("--output", help="write the results to this file")
    options = parser.parse_args()
    np = importlib.import_module(options.package)
    times: dict[str, float] = {}
    tasks: dict[str, int] = {}
    results: dict[str, Any] = {}
    for name in options.programs:
        program = PROGRAMS[name]
        size = getattr(program, options.size)
        found = measured(np, program, size, options.seconds)
        times[name] = found * 1e3
        before = submitted()
        for number, result in enumerate(program.run(np, size)):
            results[f"{name} {number}"] = numpy.asarray(result)
        tasks[name] = submitted() - before
    if options.output:
        numpy.savez(options.output, **results)
    print(json.dumps({"times": times, "tasks": tasks}))


def measured(np: Any, program: Program, size: int, seconds: float) -> float:
    """Return the median time of a program's runs, in seconds.

    Without time to measure it runs once, if nothing depends on what ran before.
    """
    last = 0.0
    for _ in range(WARM if seconds or is_fused() else 0):
        last = timed(np, program, size)
    runs = max(3, min(MOST_RUNS, int(seconds / last))) if seconds else 1
    return statistics.median(timed(np, program, size) for _ in range(runs))


def timed(np: Any, program: Program, size: int) -> float:
    """Return the time of one run."""
    start = time.perf_counter()
    for result in program.run(np, size):
        float(result[(0,) * result.ndim] if result.ndim else result)
    return time.perf_counter() - start


def is_fused() -> bool:
    """Return whether this process has started with fusion on."""
    return "legate_diffuse.launch.window" in sys.modules


def submitted() -> int:
    """Return how many tasks were submitted, 0 without fusion."""
    if not is_fused():
        return 0
    stats = sys.modules["legate_diffuse"].stats()
    return int(stats["tasks_submitted"] - stats["fills_submitted"])


if __name__ == "__main__":
    main()
