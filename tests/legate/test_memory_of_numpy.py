# SPDX-License-Identifier: Apache-2.0
"""Arrays whose memory NumPy has as well, where arrays live in the process."""

from __future__ import annotations

from pathlib import Path

import pytest
from process import run_checks
from tiers import some

CHECKS = Path(__file__).with_name("numpy_memory_agree.py")
# CPUs, and whether small arrays are divided.
MACHINES = {"one processor": (1, False), "two partitions": (2, True)}


@pytest.mark.parametrize("machine", some(MACHINES, 2))
def test_both_see_all(machine: str) -> None:
    cpus, divide_small_arrays = MACHINES[machine]
    settings = {
        "LEGATE_CONFIG": f"--cpus {cpus} --gpus 0 --sysmem 1000 --utility 1",
        "LEGATE_DIFFUSE_THREADS": "1",
        "LEGATE_TEST": str(int(divide_small_arrays)),
        "LEGATE_DIFFUSE_SMALL_BYTES": str(2**25),
    }
    status, printed = run_checks(CHECKS, settings)
    assert status == 0, printed[-6000:]
