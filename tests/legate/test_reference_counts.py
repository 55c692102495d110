# SPDX-License-Identifier: Apache-2.0
"""References are counted right, whichever of them a version of Python counts."""

from __future__ import annotations

import functools
import subprocess

import pytest
from process import run_python
from tiers import some

# In a function of Python's a call has one reference more than in one of C.
COUNTS = {
    "what calls borrow is not counted": "count(held) - 2",
    "calls have more references": "count(held) + 1",
}
BEGIN = """
import sys
count = sys.getrefcount
sys.getrefcount = lambda held: {}
import legate_diffuse
legate_diffuse.enable()
import numpy as np
import cupynumeric as cn
import legate.core as lc
"""
PROGRAM = """
# a temporary is never made, and what lives is
x = cn.arange(1000.0)
y = (x + 1.0) * 2.0
z = y - 1.0
assert float(z[3]) == 7.0
print(legate_diffuse.stats()["temporaries_removed"])
# memory that NumPy holds is written through, and no other
view = np.asarray(x)
x += 1.0
assert float(view[3]) == float(x[3]) == 4.0
del view
old = x.copy()
x[1:-1] = old[:-2] + old[2:]
assert float(x[3]) == 8.0
# a buffer that somebody holds stays his
kept = np.arange(1000.0)
array = cn.asarray(kept)
array += 1.0
kept *= 2.0
print(float(array[3]), kept[3])
print(legate_diffuse.stats()["failures"])
"""


@functools.cache
def counted(how: str, small_bytes: str) -> subprocess.CompletedProcess[str]:
    """Return what the program does where references are counted in some way.

    Some are counted when legate_diffuse is imported, so the process is started.
    """
    program = BEGIN.format(how) + PROGRAM
    return run_python(program, LEGATE_DIFFUSE_SMALL_BYTES=small_bytes)


# arrays in Legate, and arrays in the process
@pytest.mark.parametrize("small_bytes", some(["0", ""], 2))
@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)
def test_it_makes_no_difference_what_is_counted(counts: str, small_bytes: str) -> None:
    # as in this version of Python
    usual, done = (counted(each, small_bytes) for each in ("count(held) - 1", counts))
    assert (usual.returncode, usual.stderr) == (0, "")
    removed = int(usual.stdout.split()[0])
    # what runs at once has none
    assert removed > 0 or not small_bytes
    assert (done.returncode, done.stdout, done.stderr) == (0, usual.stdout, "")


def test_no_buffer_is_taken_over_where_it_cannot_be_told_who_has_it() -> None:
    """As in a version that counts no parameters of what is kept by a caller."""
    program = "from legate_diffuse.interpose import runtime as r\n"
    printed = "print(r._references(object()) <= r._SOLE_REFERENCES)\n"
    done = run_python(BEGIN.format("1") + program + printed)
    assert (done.returncode, done.stdout, done.stderr) == (0, "False\n", "")
