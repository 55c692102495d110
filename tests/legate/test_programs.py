# SPDX-License-Identifier: Apache-2.0
"""Random cuPyNumeric programs: fused, unfused and NumPy agree.

``PROGRAMS=50000 pytest --timeout=0 tests/legate/test_programs.py`` makes as many
programs, others every time; without ``PROGRAMS`` it is the same 200, or 2,000 with
``--all``. A program that
fails is printed as source, as short as hypothesis can make it; one that ends the
process as it is.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from numpy_programs import FAILED
from process import run_checks
from tiers import examples

PROGRAMS = int(os.environ.get("PROGRAMS") or examples(200, 2000))
# CPUs, threads that share loops (0: they and points take turns), whether small arrays
# are divided too, how functions of the maths library are computed, bytes of arrays that
# live in the process, and the share of the programs
_ALL = 2**30
MACHINES = {
    "one processor": (1, 1, False, "libm", _ALL, 0.15),
    "one processor, arrays in Legate": (1, 1, False, "libm", 0, 0.1),
    "one processor, large arrays": (1, 1, False, "vector", _ALL, 0.1),
    "one processor, windows apart": (1, 1, False, "vector", _ALL, 0.1),
    "one processor, windows by a thread": (1, 1, False, "vector", _ALL, 0.1),
    "three threads": (3, 3, True, "vector", _ALL, 0.1),
    "three threads, few arrays here": (3, 3, True, "vector", 8, 0.1),
    "two processors": (2, 1, True, "vector", _ALL, 0.15),
    "three processors": (3, 1, True, "libm", 0, 0.1),
    # single elements
    "two processors, few arrays here": (2, 1, False, "vector", 8, 0.1),
    "two processors, used in both ways": (2, 0, True, "vector", 8, 0.1),
}
# where kernels are interpreted until they have run often
_COMPILES_LATER = ("one processor", "three threads")
CHECKS = Path(__file__).with_name("numpy_programs_agree.py")
_NOISE = ("LEGION WARNING", "{gpu}", "{threads}")


@pytest.mark.parametrize("machine", MACHINES)
def test_random_programs_agree(machine: str) -> None:
    cpus, threads, divide_small_arrays, maths, small_bytes, share = MACHINES[machine]
    settings = {
        "LEGATE_CONFIG": f"--cpus {cpus} --gpus 0 --sysmem 1000 --utility 1",
        "LEGATE_DIFFUSE_THREADS": str(threads or ""),
        "LEGATE_TEST": str(int(divide_small_arrays)),
        "LEGATE_DIFFUSE_MATH": maths,
        "LEGATE_DIFFUSE_SMALL_BYTES": str(small_bytes),
        "LEGATE_DIFFUSE_SYNC_COMPILE": str(int(machine not in _COMPILES_LATER)),
        "PROGRAMS": str(round(PROGRAMS * share)),
    }
    if "large arrays" in machine or "windows" in machine:
        settings["TESTS_LARGE_FROM"] = "64"
    if "windows" in machine:
        settings["TESTS_APART"] = "thread" if "thread" in machine else "held back"
    if "PROGRAMS" not in os.environ:
        # which hypothesis takes as a wish for the same examples every time
        settings["CI"] = "1"
    status, printed = run_checks(CHECKS, settings)
    lines = [
        line
        for line in printed.splitlines()
        if not any(noise in line for noise in _NOISE)
    ]
    first = next((n for n, line in enumerate(lines) if FAILED in line), len(lines))
    told = lines[max(first - 50, 0) : first + 50] + lines[-100:]
    assert status == 0, "\n".join(told)
