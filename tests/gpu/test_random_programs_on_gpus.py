# SPDX-License-Identifier: Apache-2.0
"""Random programs: fused on GPUs, unfused on CPUs, and NumPy agree.

``PROGRAMS=1000 pytest --timeout=0`` makes as many, others every time; without it they
are the same ones. See ``tests/legate/test_programs.py``. Other programs may differ by
design: a float that an integer type cannot hold becomes another number on GPUs.
"""

from __future__ import annotations

import os

import pytest
from fake_gpus import HERE, run
from tiers import examples

PROGRAMS = os.environ.get("PROGRAMS") or str(examples(8, 25))


@pytest.mark.parametrize("gpus", [1, 2])
def test_random_programs_agree(gpus: int) -> None:
    settings = {"PROGRAMS": PROGRAMS, "LEGATE_DIFFUSE_MATH": "libm"}
    if "PROGRAMS" not in os.environ:
        # which hypothesis takes as a wish for the same examples every time
        settings["CI"] = "1"
    done = run(HERE / "random_programs.py", gpus=gpus, **settings)
    assert done.status == 0, done.output[-8000:] + done.errors[-2000:]
    assert done.counters["failures"] == 0
    assert done.counters["groups"] > 0
