# SPDX-License-Identifier: Apache-2.0
"""What the benchmark programs share: arguments, timing, one line of JSON.

A program gives a function that makes its arrays, one that runs an iteration,
and one that says how wrong its answer is. It never says which package it runs
on: NumPy, cuPyNumeric, or cuPyNumeric under legate_diffuse.
"""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

State = dict[str, Any]


@dataclass(frozen=True)
class Parameter:
    """An option of one program, ``--name``, with the type of its default."""

    name: str
    default: int | float | str
    help: str
    choices: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Program:
    """A benchmark program.

    ``setup(np, size, dtype)`` makes the arrays, by tasks; the program's own
    parameters follow by name. ``step(np, state)`` runs one iteration.
    ``results(state)`` returns the arrays that must agree between runs, and
    ``error(np, state)`` the distance from an answer that is known otherwise,
    relative to its size.

    Iterations of an ``independent`` program start from the same data and have a
    fence between them; else only the last one's results would be computed, when
    fused.
    """

    name: str
    size: int
    setup: Callable[..., State]
    step: Callable[[Any, State], None]
    results: Callable[[State], dict[str, Any]]
    error: Callable[[Any, State], float]
    parameters: tuple[Parameter, ...] = ()
    independent: bool = False


def run(program: Program) -> None:
    """Run a program as its command line says, and print one line of JSON."""
    options = _parse(program)
    np = importlib.import_module(options.package)
    fence = _fence(options.package)

    parameters = {one.name: getattr(options, one.name) for one in program.parameters}
    state = program.setup(np, options.size, options.dtype, **parameters)
    if options.initial:
        _write(options.initial, program.results(state))
    fence(block=True)

    def iterate(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            program.step(np, state)
            if program.independent:
                fence(block=False)
        fence(block=True)
        return (time.perf_counter() - start) * 1e3 / count

    opening = [iterate(1) for _ in range(1 + max(1, options.iterations // 2))]
    # what is fused across iterations is planned and compiled here
    iterate(options.iterations)
    before = _statistics()
    batches = [iterate(options.iterations) for _ in range(options.batches)]
    after = _statistics()
    iterations = options.iterations * options.batches
    record = {
        "app": program.name,
        "size": options.size,
        "dtype": options.dtype,
        "opening_ms": opening,
        "iteration_ms": batches,
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "statistics_per_iteration": {
            key: (after[key] - before[key]) / iterations for key in before
        },
        "compile_seconds": after.get("compile_seconds", 0.0),
        "error": float(program.error(np, state)),
    }
    if options.output:
        _write(options.output, program.results(state))
    print(json.dumps(record))


def _parse(program: Program) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--size", type=int, default=program.size)
    parser.add_argument("--dtype", default="float64", choices=("float32", "float64"))
    parser.add_argument(
        "--iterations", type=int, default=10, help="iterations in a timed batch"
    )
    parser.add_argument("--batches", type=int, default=3, help="timed batches")
    parser.add_argument(
        "--package", default="cupynumeric", choices=("cupynumeric", "numpy")
    )
    parser.add_argument("--output", help="write the result arrays to this .npz file")
    parser.add_argument("--initial", help="write them as they are before any iteration")
    for one in program.parameters:
        parser.add_argument(
            f"--{one.name}",
            type=type(one.default),
            default=one.default,
            choices=one.choices,
            help=f"{one.help} ({one.default})",
        )
    return parser.parse_args()


def _write(path: str, arrays: dict[str, Any]) -> None:
    numpy = importlib.import_module("numpy")
    numpy.savez(path, **{name: numpy.asarray(one) for name, one in arrays.items()})


def _fence(package: str) -> Callable[..., None]:
    """Return what keeps tasks apart and, with ``block``, waits for the earlier ones."""
    if package == "numpy":
        return lambda block: None
    from legate.core import get_legate_runtime

    return get_legate_runtime().issue_execution_fence  # type: ignore[no-any-return]


def _statistics() -> dict[str, float]:
    if "legate_diffuse" not in sys.modules:
        return {}
    import legate_diffuse

    return {
        key: value
        for key, value in legate_diffuse.stats().items()
        if not isinstance(value, dict)
    }
