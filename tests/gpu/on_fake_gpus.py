# SPDX-License-Identifier: Apache-2.0
"""Runs a program in this process, whose GPUs are the CPU: see ``fake_gpus.py``.

Tasks that are not fused run on CPUs: they are made in a scope of Legate's that has no
GPU. Where nothing is fused all of the program runs in such a scope.

Arguments: ``run``, a file for the counters, the program, and its arguments; or
``serve`` and what a worker takes.
"""

from __future__ import annotations

import ctypes
import json
import runpy
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

TESTS: Final = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))

from fake_gpus import DRIVER  # noqa: E402

# before Legate's libraries: see reductions.cc
driver: Final = ctypes.CDLL(DRIVER, mode=ctypes.RTLD_GLOBAL)

from legate.core import Scope, TaskTarget, get_legate_runtime  # noqa: E402

import legate_diffuse  # noqa: E402
from legate_diffuse import _native  # noqa: E402
from legate_diffuse.interpose.install import installed  # noqa: E402
from legate_diffuse.interpose.originals import real  # noqa: E402

# What makes a task, or an operation that runs where tasks do.
MAKES: Final = ("create_auto_task", "create_manual_task", "issue_copy", "issue_fill")


class OnCpus:
    """Stands in for Legate's runtime, whose own tasks run on CPUs."""

    def __init__(self, runtime: Any) -> None:
        self._runtime = runtime
        self._cpus = runtime.machine.only(TaskTarget.CPU)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._runtime, name)
        if name not in MAKES:
            return found

        def on_cpus(*arguments: Any, **options: Any) -> Any:
            with Scope(machine=self._cpus):
                return found(*arguments, **options)

        # the scope is no concern of the window's
        return lambda *arguments, **options: _native.call(
            lambda: on_cpus(*arguments, **options)
        )


def emulate_kernels() -> None:
    """Let kernels be compiled to what the driver of the tests can run."""
    sys.path[:0] = [str(TESTS / "codegen" / "gpu"), str(TESTS)]
    import emulated

    emulated.install()


def counters() -> dict[str, Any]:
    """Return the counters of legate_diffuse and of the driver."""
    return {
        **legate_diffuse.stats(),
        "loads": driver.fake_driver_loads(),
        "launches": driver.fake_driver_launches(),
        "synchronizations": driver.fake_driver_synchronizations(),
    }


def run(report: str, program: str, *arguments: str) -> None:
    """Run a program, and write down the counters when it has ended."""
    sys.argv = [program, *arguments]
    runpy.run_path(program, run_name="__main__")
    get_legate_runtime().issue_execution_fence(block=True)
    Path(report).write_text(json.dumps(counters(), default=str))


def serve(requests: str, replies: str, folder: str) -> None:
    """Run many programs: see ``worker_process.py``."""
    import worker_process

    worker_process.serve(int(requests), int(replies), Path(folder), counters)


def main() -> None:
    """Run what the arguments say."""
    what, *arguments = sys.argv[1:]
    runtime = get_legate_runtime()
    scope: Any = nullcontext()
    if installed() is None:
        scope = Scope(machine=runtime.machine.only(TaskTarget.CPU))
    else:
        emulate_kernels()
        real.runtime = OnCpus(real.runtime)
    with scope:
        {"run": run, "serve": serve}[what](*arguments)


if __name__ == "__main__":
    main()
