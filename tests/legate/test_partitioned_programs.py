# SPDX-License-Identifier: Apache-2.0
"""Ordinary programs with partitioned arrays: fused, unfused and NumPy agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from process import run_checks
from tiers import some

CHECKS = Path(__file__).with_name("numpy_partitions_agree.py")


# three points divide what two or four leave whole
@pytest.mark.parametrize("cpus", some([3, 2, 4], 3))
def test_partitioned_programs_agree(cpus: int) -> None:
    settings = {
        "LEGATE_CONFIG": f"--cpus {cpus} --gpus 0 --sysmem 1000 --utility 1",
        "LEGATE_DIFFUSE_THREADS": "1",
        "LEGATE_DIFFUSE_SMALL_BYTES": "0",
        "LEGATE_DIFFUSE_PROOF": "all",
        "LEGATE_TEST": "1",
    }
    status, told = run_checks(CHECKS, settings)
    assert status == 0, told[-8000:]
