# SPDX-License-Identifier: Apache-2.0
"""Runs small programs: in processes of their own, as a user would, or in workers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent

import forked
import workers
from fork_server import UNFUSED

LEGATE = str(Path(sys.executable).parent / "legate")
# the command of the package, which is a file of Python
DIFFUSE = f"{LEGATE}-diffuse"
LEGATE_OPTIONS = ("--cpus", "1", "--gpus", "0", "--sysmem", "500")

# Prints whether the tasks of a cuPyNumeric program were fused.
REPORT = """
import legate_diffuse
import cupynumeric as cn
x = cn.arange(10.0) * 2.0 + 1.0
assert x.sum() == 100.0
print("fused" if legate_diffuse.stats()["groups"] else "unfused")
"""

# scripts/sanitize
_TIMEOUT_SECONDS = 120 * int(os.environ.get("TESTS_SLOWER", "1"))
# Lines that Legate prints on a machine without a GPU, or with few processors.
_NOISE = ("{gpu}", "cannot be satisfied")


def run(
    *command: str, pass_fds: Sequence[int] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command without this process's own settings of Legate and of the switch.

    The command inherits the files ``pass_fds``.
    """
    done = subprocess.run(
        command,
        env=_environment(environment),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
        check=False,
        pass_fds=pass_fds,
    )
    return _without_noise(done)


def run_python(
    program: str, *arguments: str, pass_fds: Sequence[int] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the text of a program that uses Legate, in a process that is started.

    It is forked where nothing is to be fused, as only those know of that.
    """
    environment.setdefault("LEGATE_CONFIG", " ".join(LEGATE_OPTIONS))
    command = "-c", dedent(program), *arguments
    if UNFUSED in os.environ:
        return run_forked(*command, pass_fds=pass_fds, **environment)
    return run(sys.executable, *command, pass_fds=pass_fds, **environment)


def run_alone(
    program: str, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the text of a program that uses Legate, in a process of its own.

    It is forked, which takes half as long as to start it: see ``forked.py``.
    """
    environment.setdefault("LEGATE_CONFIG", " ".join(LEGATE_OPTIONS))
    return run_forked("-c", dedent(program), *arguments, **environment)


def run_file(
    program: Path | str, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a file as :func:`run_alone` does a text."""
    environment.setdefault("LEGATE_CONFIG", " ".join(LEGATE_OPTIONS))
    return run_forked(str(program), *arguments, **environment)


def run_forked(
    *command: str, pass_fds: Sequence[int] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a file of Python, or ``-c`` and a text, as :func:`run` does, but forked."""
    return _without_noise(
        forked.run(command, _environment(environment), _TIMEOUT_SECONDS, pass_fds)
    )


def prepare(**environment: str) -> None:
    """Let processes with such variables be forked, by several threads at a time."""
    if forked.is_forked():
        forked.prepare(_environment(environment))


def run_in_worker(
    program: str, *arguments: str, fresh: bool = False, **environment: str
) -> workers.Done:
    """Run the text of a program after others: see ``workers.py``. Fusion is on."""
    environment.setdefault("LEGATE_CONFIG", " ".join(LEGATE_OPTIONS))
    environment.setdefault("LEGATE_DIFFUSE", "1")
    # where helpers are; for all programs, so that they share processes
    environment.setdefault("PYTHONPATH", str(Path(__file__).parent))
    return workers.run_in_worker(
        program, *arguments, environment=_environment(environment), fresh=fresh
    )


def run_checks(checks: Path, settings: Mapping[str, str]) -> tuple[int, str]:
    """Run a file of tests in a process of its own; return its status and output."""
    program = "import sys, pytest\nsys.exit(pytest.main(sys.argv[1:]))\n"
    # -s: what was printed is not lost if the process ends
    command = "-c", program, "-s", "-q", "--timeout=0", str(checks)
    # with "PROGRAMS" it may take hours
    done = forked.run(command, os.environ | settings, timeout=None)
    return done.returncode, done.stdout + done.stderr


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a process, none of them this process's own settings.

    Where there is no CUDA driver, programs that run unfused get the stub as well.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LEGATE_", "CUPYNUMERIC_"))
        or name in ("LEGATE_DIFFUSE_CACHE_DIR", "LEGATE_DIFFUSE_PROOF")
    }
    # the launcher runs the first python on the path
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    defaults = {
        "LEGATE_DIFFUSE_DRIVER_STUB": "1",
        "PATH": path,
        # small arrays would otherwise be fused the second time only
        "LEGATE_DIFFUSE_SYNC_COMPILE": "1",
    }
    return inherited | defaults | settings


def _without_noise(
    done: subprocess.CompletedProcess[str],
) -> subprocess.CompletedProcess[str]:
    done.stdout = _quiet(done.stdout)
    done.stderr = _quiet(done.stderr)
    return done


def _quiet(output: str) -> str:
    return "".join(
        line
        for line in output.splitlines(keepends=True)
        if not any(noise in line for noise in _NOISE)
    )
