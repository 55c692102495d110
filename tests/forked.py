# SPDX-License-Identifier: Apache-2.0
"""Processes that begin where Legate's start does: forks of ``fork_server.py``.

A process of Python that is forked finds the variables, arguments, folder and files that
it would find if it were started, imports what it imports, and ends as it would, but
that an interrupt which nothing handles makes its status 1. What a test says of the
start itself, of the command line or of what differs from one start to the next, as the
order of sets does, needs a process that is started. With ``--all`` all of them are.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from fork_server import BYTES_OF_NUMBERS, UNFUSED

SERVER: Final = Path(__file__).with_name("fork_server.py")
STARTED: Final = "TESTS_STARTED"
"""Set to 1, all processes are started."""
# What is read before Python's first line.
_AT_START: Final = ("LD_", "GLIBC_", "MALLOC_", "OMP_", "OPENBLAS_", "PYTHON")
# Set in a process that is forked already.
_LATER: Final = "PYTHONPATH"
_OWN: Final = ("LEGATE_", "CUPYNUMERIC_", "LEGION_", "REALM_", "COVERAGE_")


class Forked:
    """A process that was forked, as ``Popen`` has those that were started."""

    def __init__(self, report: int) -> None:
        self._report = report
        self.pid = self._told()
        self.returncode: int | None = None

    def _told(self) -> int:
        told = os.read(self._report, BYTES_OF_NUMBERS)
        if not told:
            raise RuntimeError(f"{SERVER.name} has ended")
        return int.from_bytes(told, "little", signed=True)

    def poll(self) -> int | None:
        """Return the status, None while the process runs."""
        if self.returncode is None and select.select([self._report], [], [], 0)[0]:
            return self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the status when the process has ended."""
        if self.returncode is None:
            if not select.select([self._report], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            self.returncode = self._told()
            os.close(self._report)
        return self.returncode

    def kill(self) -> None:
        """End the process."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


class _Server:
    """A process that is forked for those that read the same before Python runs."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._control, control = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET
        )
        with control:
            self._process = subprocess.Popen(
                [sys.executable, str(SERVER), str(control.fileno())],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(control.fileno(),),
            )

    def fork(self, request: Mapping[str, object], descriptors: Sequence[int]) -> Forked:
        report, write = os.pipe()
        try:
            message = json.dumps(request).encode()
            socket.send_fds(
                self._control, [message], [*descriptors[:3], write, *descriptors[3:]]
            )
        finally:
            os.close(write)
        return Forked(report)

    def end(self) -> None:
        self._control.close()
        self._process.wait()


_servers: dict[frozenset[tuple[str, str]], _Server] = {}
_asked: set[frozenset[tuple[str, str]]] = set()


def is_forked() -> bool:
    """Whether processes are forked, and not started."""
    return os.environ.get(STARTED) != "1"


def start(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdin: int,
    stdout: int,
    stderr: int,
    pass_fds: Sequence[int] = (),
) -> Forked | subprocess.Popen[bytes]:
    """Start Python with arguments: ``-c`` and a program, or a file, and the program's.

    The standard files are descriptors. The process inherits those of ``pass_fds``.
    The first one with such variables is started, as the only one may be.
    """
    key = _key(environment)
    if is_forked() and (key in _asked or UNFUSED in os.environ):
        prepare(environment)
    _asked.add(key)
    if not is_forked() or key not in _servers:
        return subprocess.Popen(
            [sys.executable, *arguments],
            env=dict(environment),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=pass_fds,
        )
    request = {
        "arguments": [*arguments],
        "environment": dict(environment),
        "folder": os.getcwd(),
        "inherited": [*pass_fds],
    }
    return _servers[key].fork(request, [stdin, stdout, stderr, *pass_fds])


def _key(environment: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Return what is read before Python runs."""
    return frozenset(
        (name, value)
        for name, value in environment.items()
        if name.startswith(_AT_START) and name != _LATER
    )


def prepare(environment: Mapping[str, str]) -> None:
    """Let processes with such variables be forked."""
    key = _key(environment)
    if key not in _servers:
        others = {
            name: value
            for name, value in environment.items()
            if not name.startswith(_OWN) and name != _LATER
        }
        _servers[key] = _Server(others)


def run(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    timeout: float | None,
    pass_fds: Sequence[int] = (),
) -> subprocess.CompletedProcess[str]:
    """Run Python with arguments, nothing to read; return what it has printed."""
    (stdout, write), (stderr, write_errors) = os.pipe(), os.pipe()
    with Path(os.devnull).open() as nothing:
        try:
            process = start(
                arguments,
                environment,
                stdin=nothing.fileno(),
                stdout=write,
                stderr=write_errors,
                pass_fds=pass_fds,
            )
        finally:
            os.close(write)
            os.close(write_errors)
    end = None if timeout is None else time.monotonic() + timeout
    with os.fdopen(stdout) as output, os.fdopen(stderr) as errors:
        try:
            printed = _read((output, errors), end)
            status = process.wait(_left(end))
        finally:
            process.kill()
    return subprocess.CompletedProcess([sys.executable, *arguments], status, *printed)


def _left(end: float | None) -> float | None:
    return None if end is None else max(end - time.monotonic(), 0.0)


def _read(files: tuple[IO[str], IO[str]], end: float | None) -> list[str]:
    """Return what comes until a time, or until nobody can write any more.

    Not by threads: Python looks for cycles in each, and Legate's arrays that are in one
    may go in its own thread only.
    """
    found = {file.fileno(): b"" for file in files}
    with selectors.DefaultSelector() as selector:
        for file in files:
            selector.register(file, selectors.EVENT_READ)
        while selector.get_map() and (ready := selector.select(_left(end))):
            for key, _ in ready:
                more = os.read(key.fd, 1 << 16)
                found[key.fd] += more
                if not more:
                    selector.unregister(key.fileobj)
    return [
        io.TextIOWrapper(io.BytesIO(each), file.encoding).read()
        for file, each in zip(files, found.values(), strict=True)
    ]


def end_all() -> None:
    """Let the servers end."""
    while _servers:
        _servers.popitem()[1].end()


atexit.register(end_all)
