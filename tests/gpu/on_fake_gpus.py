# SPDX-License-Identifier: Apache-2.0
"""Runs a program in this process, whose GPUs are the CPU: see ``fake_gpus.py``.

The program runs in a scope that has CPUs only. What the native part submits, or asks
of Legate's scope, it does in one that has the GPUs only.

Arguments: a file for the counters, the program, and its arguments.
"""

from __future__ import annotations

import ctypes
import json
import runpy
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import legate.core
from fake_gpus import DRIVER
from legate.core import Scope, TaskTarget, get_legate_runtime

import legate_diffuse

TESTS = Path(__file__).parents[1]
ON_GPUS = ("submit_program", "launch_policy", "scope_runs_kernels", "scratch_bytes")


def emulate_kernels() -> None:
    """Let kernels be compiled to what the driver of the tests can run."""
    sys.path.insert(0, str(TESTS / "codegen" / "gpu"))
    import emulated

    emulated.install()


def submit_to(machine: Any) -> None:
    """Let fused tasks run on a machine."""
    from legate_diffuse import _native

    def on_machine(function: Callable[..., Any]) -> Callable[..., Any]:
        def scoped(*arguments: Any) -> Any:
            with Scope(machine=machine):
                return function(*arguments)

        @wraps(function)
        def called(*arguments: Any) -> Any:
            # the scope is no concern of the window's
            return _native.call(scoped, *arguments)

        return called

    for name in ON_GPUS:
        setattr(_native, name, on_machine(getattr(_native, name)))


def main() -> None:
    """Run the program, and write down the counters when it has ended."""
    report, program, *arguments = sys.argv[1:]
    runtime = get_legate_runtime()
    machine = runtime.machine
    emulate_kernels()
    submit_to(machine.only(TaskTarget.GPU))
    sys.argv = [program, *arguments]
    sys.path.insert(0, str(Path(program).parent))
    with Scope(machine=machine.only(TaskTarget.CPU)):
        runpy.run_path(program, run_name="__main__")
        legate.core.get_legate_runtime().issue_execution_fence(block=True)
    driver = ctypes.CDLL(DRIVER)
    counters = {
        **legate_diffuse.stats(),
        "loads": driver.fake_driver_loads(),
        "launches": driver.fake_driver_launches(),
    }
    Path(report).write_text(json.dumps(counters, default=str))


if __name__ == "__main__":
    main()
