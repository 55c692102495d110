# SPDX-License-Identifier: Apache-2.0
"""The process in which inject.py runs a program, and lets something come between.

It reads lines ``kind number`` and writes a line for each: what was wrong, or nothing.

At a point of legate_diffuse's code, of those at which CPython lets it happen:

- ``interrupt``, ``error``: a KeyboardInterrupt or another exception arrives.
- ``work``, ``read``: a finalizer or a signal handler uses arrays, or reads them.

At a call of the native part that submits something:

- ``before``, ``after``: it raises, once, before or after it has done so.
- ``refuse``: it raises whenever it is called, from then on, for fused tasks.

At any time, after so many microseconds:

- ``alarm``, ``alarm-read``: a signal handler raises, or reads arrays.

While the program runs:

- ``finalizer``, ``finalizer-low``: finalizers of garbage use arrays, at the default
  thresholds of the collector and at low ones; the number seeds how much there is.

``count kind`` asks for the number of points or calls.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy
from injected_programs import PROGRAMS, Program
from injection_points import POINTS, Point, Tracer

import legate_diffuse

legate_diffuse.enable()

import cupynumeric  # noqa: E402

from legate_diffuse.codegen import Compiler  # noqa: E402
from legate_diffuse.interpose.window import window  # noqa: E402
from legate_diffuse.launch import policy, steps  # noqa: E402

Space = dict[str, Any]


class InjectedError(Exception):
    """What a signal handler of the program might raise."""


def raise_interrupt() -> None:
    raise KeyboardInterrupt


def raise_error() -> None:
    raise InjectedError


class Bystander:
    """Arrays that a finalizer or a signal handler uses."""

    def __init__(self) -> None:
        self.array = cupynumeric.arange(5.0)
        self.times = 0

    def work(self) -> None:
        """Use arrays, without reading them."""
        self.times += 1
        self.array *= 2.0
        self.array[1:] += 1.0

    def read(self) -> None:
        """Use arrays, and read them."""
        self.work()
        self.check()

    def check(self) -> None:
        expected = numpy.arange(5.0)
        for _ in range(self.times):
            expected *= 2.0
            expected[1:] += 1.0
        if self.array.tolist() != expected.tolist():
            raise AssertionError(
                f"{self.array.tolist()} instead of {expected.tolist()}"
            )


class FailingNative:
    """The native part, of which some call raises."""

    def __init__(self, native: Any, number: int, kind: str) -> None:
        self._native = native
        self._number = number
        self._kind = kind
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._native, name)
        if name not in ("submit_program", "submit_original"):
            return found

        def call(*arguments: Any) -> Any:
            self.calls += 1
            if self._kind == "refuse":
                if name != "submit_original" and self.calls >= self._number > 0:
                    raise ValueError("refused")
            elif self.calls == self._number and self._kind == "before":
                raise InjectedError
            result = found(*arguments)
            if self.calls == self._number and self._kind == "after":
                raise InjectedError
            return result

        return call


class Garbage:
    """A cycle whose finalizer uses arrays."""

    def __init__(self, bystander: Bystander) -> None:
        self._self = self
        self.bystander = bystander

    def __del__(self) -> None:
        self.bystander.work()


class Runner:
    """Runs one program, lets something come between, and looks at what is left."""

    def __init__(self, program: Program) -> None:
        self._cold = program.cold
        self._text = program.statements
        self._code = [compile(line, "<program>", "exec") for line in self._text]
        self._known_points: dict[frozenset[int], list[Point]] = {}
        self._expected = [self._copy(space) for space in self._states()]
        if program.splits:
            vars(steps)["may_take_much"] = lambda planned, *_: len(planned.tasks) > 1
            vars(steps)["num_parts"] = lambda *_: 2
        if program.capacity:
            # no window becomes longer, or is cut to fewer operations than three
            policy._MAX_STEP, policy._LEAST, policy._CONTEXT = 0, 3, 2
            window._policy.capacity = program.capacity
            window._policy._preferred = program.capacity // 2

    def _states(self) -> Any:
        space: Space = {"np": numpy, "out": []}
        yield space
        for code in self._code:
            exec(code, space)
            yield space

    def _copy(self, space: Space) -> Space:
        """Return the values of the variables, read."""
        return {
            name: list(value) if name == "out" else numpy.array(value)
            for name, value in space.items()
            if name not in ("np", "__builtins__")
        }

    def reset(self) -> None:
        """Forget what the program is to meet for the first time.

        The bystander is there in all runs: some of its plans are the program's.
        """
        submitter = window.submitter
        window.flush("test")
        if self._cold == "cuts":
            window._policy._forget()
        elif self._cold:
            submitter.planner.clear()
            submitter.at_once._operations.clear()
        if self._cold == "kernels":
            submitter._kernels._compiler = Compiler()
            submitter._kernels._numbers.clear()
            submitter._kernels._combining.clear()
        self.bystander = Bystander()

    def run(self, space: Space, before: Callable[[], object] = int) -> None:
        """Run the program; ``done`` says how many statements were completed.

        Args:
            space: the variables.
            before: is called before each statement.
        """
        self.done = 0
        try:
            for code in self._code:
                before()
                exec(code, space)
                self.done += 1
            window.flush("test")
        except (KeyboardInterrupt, InjectedError):
            self.raised = True

    def check(self, space: Space, *expected: int) -> str:
        """Compare the variables with what they are after so many statements."""
        found = self._copy(space)
        wrong = ""
        for count in expected:
            wrong = _difference(found, self._expected[count])
            if not wrong:
                return ""
        return f"after {expected[0]} of {len(self._text)} statements: {wrong}"

    def inject(self, kind: str, number: int) -> str:
        """Run the program with an injection, then without; returns what is wrong."""
        self.reset()
        self.raised, self.done = False, 0
        bystander = self.bystander
        space: Space = {"np": cupynumeric, "out": []}
        if kind in POINTS:
            where = self._run_traced(space, kind, number, bystander)
            if not where:
                # the order of a set was another one, and there are fewer points
                return self.inject(kind, number - 1)
        elif kind in ("before", "after", "refuse"):
            where = self._run_failing(space, kind, number)
        elif kind in ("alarm", "alarm-read"):
            where = self._run_alarmed(space, kind, number, bystander)
        else:
            where = self._run_collected(space, kind, number, bystander)
        done = self.done
        allowed = (done, min(done + 1, len(self._code))) if self.raised else (done,)
        wrong = ""
        if kind in ("interrupt", "error", "before", "after") and not self.raised:
            wrong = "nothing was raised"
        if number % 2:
            # now, or with what comes next still pending
            wrong = wrong or self.check(space, *allowed)
        for _ in range(2):
            again: Space = {"np": cupynumeric, "out": []}
            self.run(again)
            wrong = wrong or self.check(again, len(self._code))
            wrong = wrong or self.check(space, *allowed)
        bystander.check()
        return f"{where}: {wrong}" if wrong else ""

    def _run_traced(
        self, space: Space, kind: str, number: int, bystander: Bystander
    ) -> str:
        actions = {
            "interrupt": raise_interrupt,
            "error": raise_error,
            "work": bystander.work,
            "read": bystander.read,
        }
        points = self._points(kind)
        # another process may have found more
        wanted = points[min(number, len(points)) - 1]
        with Tracer(POINTS[kind], wanted, actions[kind]) as tracer:
            self.run(space)
        return tracer.where

    def _points(self, kind: str) -> list[Point]:
        """Return the points of the program, which are the same in all runs."""
        opcodes = POINTS[kind]
        found = self._known_points.get(opcodes)
        if found is None:
            self.reset()
            with Tracer(opcodes, None, raise_error) as tracer:
                self.run({"np": cupynumeric, "out": []})
            found = self._known_points[opcodes] = tracer.points
        return found

    def _run_failing(self, space: Space, kind: str, number: int) -> str:
        with failing_native(number, kind):
            self.run(space)
        return f"call {number}"

    def _run_alarmed(
        self, space: Space, kind: str, number: int, bystander: Bystander
    ) -> str:
        armed = True
        where = "no alarm"

        def handle(_: int, frame: FrameType | None) -> None:
            nonlocal where
            if armed and frame is not None:
                where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                if kind == "alarm":
                    raise InjectedError
                bystander.read()

        signal.signal(signal.SIGALRM, handle)
        try:
            signal.setitimer(signal.ITIMER_REAL, number * 1e-6)
            self.run(space)
            armed = False
        except InjectedError:
            # just before the program, or just after it
            self.raised = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        return where

    def _run_collected(
        self, space: Space, kind: str, number: int, bystander: Bystander
    ) -> str:
        chance = random.Random(number)
        thresholds = gc.get_threshold()
        if kind == "finalizer-low":
            gc.set_threshold(chance.randint(2, 20), 3, 3)
        gc.enable()
        kept: list[list[int]] = []

        def litter() -> None:
            Garbage(bystander)
            kept.extend([] for _ in range(chance.randint(0, 300)))

        try:
            self.run(space, litter)
        finally:
            gc.disable()
            gc.set_threshold(*thresholds)
        return f"{bystander.times} finalizers"

    def count(self, kind: str) -> int:
        """Return the number of points or calls."""
        if kind in POINTS:
            return len(self._points(kind))
        self.reset()
        with failing_native(0, kind) as native:
            self.run({"np": cupynumeric, "out": []})
        return native.calls

    def measure(self) -> int:
        """Return how many microseconds the program takes."""
        began = time.perf_counter()
        for _ in range(10):
            self.reset()
            self.run({"np": cupynumeric, "out": []})
        return round((time.perf_counter() - began) * 1e5)


@contextmanager
def failing_native(number: int, kind: str) -> Iterator[FailingNative]:
    """Let a call of the native part raise."""
    native = window.queue.native
    failing = FailingNative(native, number, kind)
    window.queue.native = window.submitter.native = failing
    try:
        yield failing
    finally:
        window.queue.native = window.submitter.native = native


def _difference(found: Space, expected: Space) -> str:
    if found.keys() != expected.keys():
        return f"{sorted(found)} instead of {sorted(expected)}"
    for name, value in expected.items():
        if name == "out":
            # numbers and lists of numbers
            pairs = list(zip(found[name], value, strict=False))
            same = len(found[name]) == len(value)
        else:
            pairs, same = [(found[name], value)], True
        same = same and all(
            numpy.allclose(one, other, rtol=1e-12, atol=1e-12) for one, other in pairs
        )
        if not same:
            return f"{name} is {found[name]} instead of {value}"
    return ""


def _essence(message: str) -> str:
    """Return a message without what Legate says of its stack."""
    lines = [line for line in message.splitlines() if " #0 std" in line]
    return " ".join(lines) or message


def main() -> None:
    """Serve the parent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=PROGRAMS)
    options = parser.parse_args()
    runner = Runner(PROGRAMS[options.program])
    for _ in range(3):
        runner.reset()
        runner.run({"np": cupynumeric, "out": []})
        # native code never forgets how an operator ran: so it has run before
        runner.bystander.read()
    gc.disable()
    # what is there now need not be looked at after each run
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        kind, number = line.split()
        if kind == "count":
            answer = str(runner.count(number))
        elif kind == "measure":
            answer = str(runner.measure())
        else:
            try:
                answer = runner.inject(kind, int(number))
            except Exception as error:
                answer = f"{type(error).__name__}: {_essence(str(error))}"
        print(json.dumps(answer), flush=True)
        gc.collect(1)


if __name__ == "__main__":
    main()
