# SPDX-License-Identifier: Apache-2.0
"""Random programs with edges of grids: fused and NumPy agree by bits.

``PROGRAMS=20000 pytest --timeout=0 tests/legate/test_edges.py`` makes as many on each
machine, others every time; without ``PROGRAMS`` they are the same few.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from numpy_programs import FAILED
from process import run_checks
from tiers import examples, some

PROGRAMS = int(os.environ.get("PROGRAMS") or examples(15, 200))
# CPUs, threads that share loops, whether small arrays are divided too, bytes of arrays
# that live in the process, and of the cache that loops are blocked for.
_ALL, _TINY, _LARGE = 2**30, 1500, 2**20
MACHINES = {
    "one processor, blocks": (1, 1, False, 0, _TINY),
    "one processor": (1, 1, False, 0, _LARGE),
    "one processor, arrays here": (1, 1, False, _ALL, _LARGE),
    "two threads": (2, 2, False, 0, _TINY),
    "three partitions": (3, 1, True, 0, _LARGE),
    "two partitions": (2, 1, True, 0, _LARGE),
}
CHECKS = Path(__file__).with_name("numpy_edges_agree.py")


@pytest.mark.parametrize("machine", some(MACHINES, 2))
def test_programs_with_edges_agree(machine: str) -> None:
    cpus, threads, divide_small_arrays, small_bytes, cache_bytes = MACHINES[machine]
    settings = {
        "LEGATE_CONFIG": f"--cpus {cpus} --gpus 0 --sysmem 1000 --utility 1",
        "LEGATE_DIFFUSE_THREADS": str(threads),
        "LEGATE_TEST": str(int(divide_small_arrays)),
        "LEGATE_DIFFUSE_SMALL_BYTES": str(small_bytes),
        "LEGATE_DIFFUSE_CACHE_BYTES": str(cache_bytes),
        "PROGRAMS": str(PROGRAMS),
    }
    if "PROGRAMS" not in os.environ:
        # which hypothesis takes as a wish for the same examples every time
        settings["CI"] = "1"
    status, printed = run_checks(CHECKS, settings)
    lines = printed.splitlines()
    first = next((n for n, line in enumerate(lines) if FAILED in line), len(lines))
    told = lines[max(first - 50, 0) : first + 20] + lines[-60:]
    assert status == 0, "\n".join(told)
