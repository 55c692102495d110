# SPDX-License-Identifier: Apache-2.0
"""The memory of large arrays may have huge pages, as NumPy's has."""

from __future__ import annotations

from process import run_python

PROGRAM = """
import cupynumeric as cn
import numpy as np

def may_be_huge(address):
    within = False
    for line in open("/proc/self/smaps"):
        first = line.split()[0]
        if "-" in first and not first.endswith(":"):
            begin, end = (int(each, 16) for each in first.split("-"))
            within = begin <= address < end
        elif within and first == "VmFlags:":
            return "hg" in line.split()
    raise AssertionError("no such memory")

made = cn.arange(1e6)
by_numpy = cn.sort(made + 1.0)
for array in made, by_numpy:
    # the first page may be shared with something else
    middle = np.asarray(array)[array.size // 2 :]
    print(may_be_huge(middle.ctypes.data), array[10])
"""


def test_large_arrays_may_have_huge_pages() -> None:
    done = run_python(PROGRAM, LEGATE_DIFFUSE="1", LEGATE_DIFFUSE_THREADS="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["True 10.0", "True 11.0"]
