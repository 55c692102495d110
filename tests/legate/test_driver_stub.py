# SPDX-License-Identifier: Apache-2.0
"""Legate's wheels on a machine without the CUDA driver, and with one."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from process import REPORT, run, run_python

from legate_diffuse import _native
from legate_diffuse.startup import DRIVER_STUB

STUB = Path(str(_native.__file__)).parent / DRIVER_STUB
DRIVERS = """
print(*sorted({
    line.split()[-1] for line in open("/proc/self/maps")
    if "libcuda.so" in line or "driver_stub" in line
}))
"""


def installed_driver() -> bool:
    """Whether the machine has a driver where every program finds it."""
    load = "import ctypes; ctypes.CDLL('libcuda.so.1')"
    return run(sys.executable, "-c", load, LD_LIBRARY_PATH="").returncode == 0


without_driver = pytest.mark.skipif(
    installed_driver(), reason="this machine has a CUDA driver"
)


@without_driver
@pytest.mark.parametrize("name", ["LEGATE_DIFFUSE", "LEGATE_DIFFUSE_DRIVER_STUB"])
def test_without_a_driver_the_stub_lets_programs_run(name: str) -> None:
    done = run_python(REPORT + DRIVERS, LD_LIBRARY_PATH="", **{name: "1"})
    assert done.returncode == 0
    first, second = done.stdout.splitlines()
    assert first == ("fused" if name == "LEGATE_DIFFUSE" else "unfused")
    assert second.endswith(DRIVER_STUB)


@without_driver
@pytest.mark.parametrize("on_gpus", ["0", "1"])
def test_without_a_driver_programs_that_ask_for_gpus_run_on_cpus(on_gpus: str) -> None:
    done = run_python(
        REPORT,
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_GPU=on_gpus,
        LEGATE_CONFIG="--cpus 1 --gpus 1 --fbmem 100 --zcmem 32 --sysmem 500 "
        "--auto-config 0",
        LD_LIBRARY_PATH="",
    )
    # Realm says that it finds no GPU, which is one of Legate's lines
    assert (done.returncode, done.stdout, done.stderr) == (0, "fused\n", "")


def test_a_driver_that_is_there_is_used_and_not_the_stub(tmp_path: Path) -> None:
    driver = tmp_path / "libcuda.so.1"
    shutil.copy(STUB, driver)
    done = run_python(
        REPORT + DRIVERS, LEGATE_DIFFUSE="1", LD_LIBRARY_PATH=str(tmp_path)
    )
    assert done.stdout == f"fused\n{driver}\n"


@without_driver
def test_the_stub_is_not_loaded_by_programs_without_legate() -> None:
    done = run(sys.executable, "-c", DRIVERS, LEGATE_DIFFUSE="1", LD_LIBRARY_PATH="")
    assert done.stdout == "\n"


def test_a_program_may_begin_with_another_module_of_legate() -> None:
    program = "import legate.util.has_started\n" + REPORT
    done = run_python(program, LEGATE_DIFFUSE="1", LD_LIBRARY_PATH="")
    assert done.stdout == "fused\n"
