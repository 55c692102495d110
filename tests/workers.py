# SPDX-License-Identifier: Apache-2.0
"""Processes that run many programs: one for each configuration.

Starting Legate takes longer than most programs of tests. A program runs in a namespace
of its own, with the arrays, plans and kernels of those before it in the process. It is
to leave the process as it found it (``worker_process.py`` says what that is): else the
test fails, and the next program has a new process.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

import forked
import pytest

PROCESS: Final = Path(__file__).with_name("worker_process.py")
MOST_WORKERS: Final = 5
"""Processes that wait for programs at the same time, as each holds memory."""
_TIMEOUT_SECONDS: Final = 300


@dataclass(frozen=True)
class Done:
    """A program that has ended: its status, and what it printed and counted.

    ``counters`` has those of legate_diffuse; it is empty if the process ended.
    """

    returncode: int
    stdout: str
    stderr: str
    counters: Mapping[str, Any] = field(default_factory=dict)
    left: tuple[str, ...] = ()


class Worker:
    """A process that runs programs."""

    def __init__(self, command: tuple[str, ...], environment: Mapping[str, str]):
        self._folder = Path(tempfile.mkdtemp(prefix="worker_"))
        self.log = self._folder / "log"
        self.num_programs = 0
        requests, self._requests = os.pipe()
        self._replies, replies = os.pipe()
        arguments = [str(requests), str(replies), str(self._folder)]
        with self.log.open("w") as log, Path(os.devnull).open() as nothing:
            self._process = forked.start(
                [*command, *arguments],
                environment,
                stdin=nothing.fileno(),
                stdout=log.fileno(),
                stderr=log.fileno(),
                pass_fds=(requests, replies),
            )
        os.close(requests)
        os.close(replies)

    def run(self, program: str, arguments: tuple[str, ...]) -> Done:
        """Run a program; if the process ends with it, return the process's status."""
        self.num_programs += 1
        request = json.dumps({"program": program, "arguments": arguments})
        answer = self._ask(request)
        files = [self._folder / name for name in ("stdout", "stderr")]
        printed = [file.read_text() if file.exists() else "" for file in files]
        if answer is None:
            status = self._process.wait()
            return Done(status, printed[0], printed[1] + self.log.read_text())
        return Done(
            answer["status"], *printed, answer["counters"], tuple(answer["left"])
        )

    def _ask(self, request: str) -> dict[str, Any] | None:
        try:
            os.write(self._requests, f"{request}\n".encode())
        except BrokenPipeError:
            return None
        answer = b""
        while not answer.endswith(b"\n"):
            if not select.select([self._replies], [], [], _TIMEOUT_SECONDS)[0]:
                self._process.kill()
                return None
            more = os.read(self._replies, 1 << 16)
            if not more:
                return None
            answer += more
        found: dict[str, Any] = json.loads(answer)
        return found

    @property
    def has_ended(self) -> bool:
        """Whether the process ended by itself."""
        return self._process.poll() is not None

    def end(self) -> str:
        """Let the process end; return what it printed if its status is not 0."""
        os.close(self._requests)
        os.close(self._replies)
        try:
            status = self._process.wait(_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        told = f"a worker ended with {status}:\n{self.log.read_text()}"
        shutil.rmtree(self._folder)
        return told if status else ""


@dataclass(frozen=True)
class _Ran:
    """A program, what became of it, and how to run it alone."""

    program: str
    done: Done
    alone: Callable[[], Done]


_workers: dict[tuple[tuple[str, ...], frozenset[tuple[str, str]]], Worker] = {}
_of_this_test: list[_Ran] = []


def run_in_worker(
    program: str,
    *arguments: str,
    environment: Mapping[str, str],
    command: tuple[str, ...] = (str(PROCESS),),
    fresh: bool = False,
) -> Done:
    """Run the text of a program in a process of Python's arguments and an environment.

    A ``fresh`` process runs this program alone. Fails the test if the program leaves
    the process in another state, or if a plan of it is refuted, which is said once.
    """
    text = dedent(program)
    # pytest sets one to the name of the test
    environment = {
        name: value
        for name, value in environment.items()
        if not name.startswith("PYTEST_")
    }
    key = command, frozenset(environment.items())
    worker = (None if fresh else _workers.pop(key, None)) or (
        Worker(command, environment)
    )
    done = worker.run(text, arguments)

    def alone() -> Done:
        fresh = Worker(command, environment)
        try:
            return fresh.run(text, arguments)
        finally:
            fresh.end()

    _of_this_test.append(_Ran(text, done, alone))
    if worker.has_ended or done.left or fresh:
        worker.end()
    else:
        _workers[key] = worker
        if len(_workers) > MOST_WORKERS:
            _end(_least_needed())
    if done.left:
        pytest.fail("the program leaves the process changed: " + ", ".join(done.left))
    if done.counters.get("plans_refuted"):
        pytest.fail("a plan of the program was refuted")
    return done


def _least_needed() -> Any:
    """Return the settings that are the longest ago, but those of most programs."""
    most = max(_workers, key=lambda key: _workers[key].num_programs)
    return next(key for key in _workers if key != most)


def _end(key: Any) -> None:
    told = _workers.pop(key).end()
    assert not told, told


def end_all() -> None:
    """Let all processes end, which is to be without an error."""
    for key in [*_workers]:
        _end(key)


def begin_test() -> None:
    """Forget the programs of the test before."""
    _of_this_test.clear()


def programs_alone() -> list[tuple[str, str]]:
    """Run the programs of this test alone; return what to tell, with titles.

    If a program does the same alone, then what ran before it did no harm.
    """
    told = []
    for number, ran in enumerate(_of_this_test, 1):
        alone = ran.alone()
        same = (alone.returncode, alone.stdout, alone.stderr) == (
            ran.done.returncode,
            ran.done.stdout,
            ran.done.stderr,
        )
        text = f"{_told(ran.done)}\nIt does the same in a process of its own.\n"
        if not same:
            text = f"{_told(ran.done)}\nIn a process of its own:\n{_told(alone)}"
        told.append((f"Program {number} in a worker", text))
    return told


def _told(done: Done) -> str:
    return f"status {done.returncode}\n{done.stdout}{done.stderr}"


atexit.register(end_all)
