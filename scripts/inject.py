#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Interrupts small programs wherever they can be interrupted, and looks at results.

Everything that CPython may let come between two steps of legate_diffuse comes at every
such point, one in each run: exceptions, finalizers and signal handlers that use
arrays, native calls that fail; see injection.py. Whatever comes, each statement of the
program happens once or, if it raised, not at all, and what the program does next is
right. SQLite's tests of failure are the model (https://sqlite.org/testing.html).

    scripts/inject.py                        everything, which takes hours
    scripts/inject.py --sample 1000          1,000 injections, spread over everything
    scripts/inject.py --program flush --kind interrupt --at 17
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from injected_programs import PROGRAMS

WORKER = Path(__file__).parent / "injection.py"
KINDS = ("interrupt", "error", "work", "read", "before", "after", "refuse")
# How often what comes at any time comes in each program, unless a number is given.
TIMED = {"alarm": 2000, "alarm-read": 1500, "finalizer": 3000, "finalizer-low": 200}
# Injections in one process.
_CHUNK = 250


class Worker:
    """A process that runs one program."""

    def __init__(self, program: str) -> None:
        environment = {
            "LEGATE_CONFIG": "--cpus 1 --gpus 0 --sysmem 300 --utility 1",
            "LEGATE_DIFFUSE_SYNC_COMPILE": "1",
            # in most programs all operations wait
            "LEGATE_DIFFUSE_SMALL_BYTES": "0",
            **PROGRAMS[program].environment,
        }
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER), program],
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )

    def ask(self, question: str) -> str | None:
        """Return the answer, None if the process ends instead."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            print(question, file=process.stdin, flush=True)
        except BrokenPipeError:
            return None
        for line in process.stdout:
            # Legate prints as well
            if line.startswith('"'):
                return str(json.loads(line))
        return None

    def end(self) -> str:
        """End the process; returns what it has said last of an error."""
        _, errors = self._process.communicate()
        said = [line for line in errors.splitlines() if "{gpu}" not in line]
        return f"status {self._process.returncode}: {' | '.join(said[-3:])[:500]}"


def main() -> int:
    """Do what was asked for, and tell what was wrong."""
    options = _parse()
    with ThreadPoolExecutor(options.jobs) as pool:
        plans = list(pool.map(lambda name: plan(name, options), options.program))
        chunks = [
            (program, chunk)
            for program, injections in zip(options.program, plans, strict=True)
            for chunk in _chunks(thin(injections, plans, options.sample))
        ]
        # what is broken off has been everywhere
        random.Random(0).shuffle(chunks)
        done: Counter[tuple[str, str]] = Counter()
        wrong = 0
        try:
            for (program, chunk), found in zip(
                chunks, pool.map(lambda one: run(*one), chunks), strict=True
            ):
                done.update((program, kind) for kind, _ in chunk)
                wrong += len(found)
                for what in found:
                    print(f"{program}, {what}", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
    for (program, kind), count in sorted(done.items()):
        print(f"{program:16} {kind:14} {count:7,}")
    print(f"{sum(done.values()):,} injections, {wrong} wrong")
    return 1 if wrong else 0


def plan(program: str, options: argparse.Namespace) -> list[tuple[str, int]]:
    """Return what is to be injected into a program."""
    if options.at is not None:
        return [(kind, options.at) for kind in options.kind]
    found: list[tuple[str, int]] = []
    worker = Worker(program)
    for kind in options.kind:
        if kind in TIMED:
            times = options.times or TIMED[kind]
            span = int(worker.ask("measure -") or 0) if "alarm" in kind else times
            found += [(kind, 1 + span * n // times) for n in range(times)]
        else:
            points = int(worker.ask(f"count {kind}") or 0)
            found += [(kind, n) for n in range(1, points + 1)]
    worker.end()
    return found


def thin(
    injections: list[tuple[str, int]],
    plans: list[list[tuple[str, int]]],
    sample: int | None,
) -> list[tuple[str, int]]:
    """Return every n-th injection, so that there are as many in all as asked for.

    Each program gets an equal share, and each kind of injection too.
    """
    if sample is None:
        return injections
    kinds = dict.fromkeys(kind for kind, _ in injections)
    share = sample / len(plans) / max(len(kinds), 1)
    chosen: list[tuple[str, int]] = []
    for kind in kinds:
        own = [one for one in injections if one[0] == kind]
        count = min(len(own), max(1, round(share)))
        chosen += [own[(2 * n + 1) * len(own) // (2 * count)] for n in range(count)]
    return chosen


def run(program: str, chunk: list[tuple[str, int]]) -> list[str]:
    """Inject into a program; returns what was wrong."""
    wrong: list[str] = []
    worker = Worker(program)
    for kind, number in chunk:
        answer = worker.ask(f"{kind} {number}")
        if answer is None:
            answer = f"the process ended, {worker.end()}"
            worker = Worker(program)
        if answer:
            wrong.append(f"--kind {kind} --at {number}: {answer}")
    ending = worker.end()
    if not ending.startswith("status 0"):
        wrong.append(f"{chunk[0]} to {chunk[-1]}: {ending}")
    return wrong


def _chunks(injections: list[tuple[str, int]]) -> Iterator[list[tuple[str, int]]]:
    for start in range(0, len(injections), _CHUNK):
        yield injections[start : start + _CHUNK]


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = (*KINDS, *TIMED)
    parser.add_argument("--program", nargs="+", choices=PROGRAMS, default=[*PROGRAMS])
    parser.add_argument("--kind", nargs="+", choices=every, default=[*every])
    parser.add_argument("--at", type=int, help="at this point, call or time only")
    parser.add_argument("--sample", type=int, help="so many injections in all")
    parser.add_argument("--times", type=int, help="alarms and finalizers, of each kind")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
