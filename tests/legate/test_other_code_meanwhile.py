# SPDX-License-Identifier: Apache-2.0
"""What other code of a program does while an operation on small arrays begins."""

from __future__ import annotations

import pytest
from process import run_alone

BEGIN = """
import gc
import signal
import legate_diffuse
legate_diffuse.enable()
import numpy as np
import cupynumeric as cn
"""

FLOATS = "float32", "float64", "complex64", "complex128"
INTEGERS = (
    *("int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
)

# A finalizer comes when the array of a result is made, and lets functions learn types
# that were not used before.
NEW_TYPES = """
class Cycle:
    armed = False
    def __init__(self, types):
        self.cycle, self.types = self, types
    def __del__(self):
        for dtype in self.types:
            operate(cn.ones(SHAPE, dtype=dtype))
def operate(a):
    return OPERATION
gc.disable()
for first in range(len(TYPES)):
    array = cn.ones(SHAPE, dtype=TYPES[first])
    operate(array)
    kept = [operate(array) for _ in range(40)]
    Cycle(TYPES[first + 1 : first + 2])
    gc.enable()
    gc.set_threshold(1)
    found = operate(array)
    gc.set_threshold(700)
    gc.disable()
    expected = np.ones(SHAPE, dtype=TYPES[first])
    assert np.array_equal(found, EXPECTED), (found, EXPECTED)
    del kept
assert legate_diffuse.stats()["ran_in_process"] > len(TYPES)
print(legate_diffuse.stats()["failures"])
"""
OPERATIONS = {
    "add": ("a + a", "expected + expected", "(5,)"),
    "dot": ("a @ a", "expected @ expected", "(5,)"),
    "matrix product": ("a @ a", "expected @ expected", "(3, 3)"),
    "sum": ("a.sum(axis=0)", "expected.sum(axis=0)", "(3, 4)"),
    "roll": ("cn.roll(a, 1)", "expected", "(5,)"),
    "element": ("a[2]", "expected[2]", "(5,)"),
    "selection": ("a[a == 1]", "expected", "(5,)"),
}


@pytest.mark.parametrize(
    ("operation", "expected", "shape"), OPERATIONS.values(), ids=OPERATIONS
)
def test_a_finalizer_may_use_new_types(
    operation: str, expected: str, shape: str
) -> None:
    """The C library overwrites memory that is freed, as anybody may use it again."""
    # cuPyNumeric multiplies no matrices of integers
    types = FLOATS if shape == "(3, 3)" else INTEGERS + FLOATS
    program = f"TYPES = {types}\n" + NEW_TYPES.replace("OPERATION", operation)
    program = program.replace("EXPECTED", expected).replace("SHAPE", shape)
    done = run_alone(BEGIN + program, MALLOC_PERTURB_="165")
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
