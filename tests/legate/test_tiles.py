# SPDX-License-Identifier: Apache-2.0
"""Points that need what others have: fused, unfused and NumPy agree.

``PROGRAMS=10000 pytest --timeout=0 tests/legate/test_tiles.py`` makes as many random
programs on each machine.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from process import run_checks, run_python

CHECKS = Path(__file__).with_name("numpy_tiles_agree.py")
# Two points, of small arrays too.
PARTITIONED = {
    "LEGATE_CONFIG": "--cpus 2 --gpus 0 --sysmem 500",
    "LEGATE_TEST": "1",
    "LEGATE_DIFFUSE": "1",
    "LEGATE_DIFFUSE_THREADS": "1",
    "LEGATE_DIFFUSE_SMALL_BYTES": "0",
}


@pytest.mark.parametrize("cpus", [2, 3, 4])
def test_random_tiles_agree(cpus: int) -> None:
    settings = {
        "LEGATE_CONFIG": f"--cpus {cpus} --gpus 0 --sysmem 1000 --utility 1",
        "LEGATE_DIFFUSE_THREADS": "1",
        "LEGATE_TEST": "1",
        # Legion looks whether partitions have the kind that it is told
        "LEGION_DEFAULT_ARGS": "-lg:partcheck",
    }
    status, told = run_checks(CHECKS, settings)
    assert status == 0, told[-8000:]


STEPS = """
import gc
import cupynumeric as np
from legate_diffuse.stores.root import Root

def roots():
    return sum(isinstance(each, Root) for each in gc.get_objects())

def step(x):
    y = np.zeros_like(x)
    y[1:-1] = x[:-2] + x[2:]
    return 0.25 * (x + y)

# what is no longer used goes at once, and not when Python looks for cycles
gc.disable()
x = np.arange(64.0)
found = []
for count in range(1, 31):
    x = step(x)
    float(x[1])
    if count % 10 == 0:
        found.append(roots())
assert found[0] == found[1] == found[2], found
"""


def test_no_store_waits_for_the_garbage_collector() -> None:
    done = run_python(STEPS, **PARTITIONED)
    assert done.returncode == 0, done.stderr


RESHAPED = """
import cupynumeric as np

# Legate divides the first into rows, and points of a task the second
for rows, columns in ((400, 38), (3, 38)):
    x = np.ones((rows, columns))
    y = x + x
    x[:, 0] = x[:, 1]
    part = y[:, 19:]
    flat = part.reshape(rows * (columns - 19))
    assert float(flat.sum()) == 2.0 * rows * (columns - 19)
"""


def test_parts_of_what_is_divided_into_rows_are_reshaped() -> None:
    done = run_python(RESHAPED, **PARTITIONED)
    assert done.returncode == 0, done.stderr
