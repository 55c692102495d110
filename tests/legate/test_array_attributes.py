# SPDX-License-Identifier: Apache-2.0
"""Attributes that a program gives to arrays are its own affair."""

from __future__ import annotations

import pytest
from process import run_in_worker

BEGIN = """
import copy
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn

def noted(array):
    return [name for name in vars(array) if not name.startswith("_")]
"""

SUBCLASS = """
class Named(cn.ndarray):
    def __setattr__(self, name, value):
        if name == "name":
            value = value.upper()
        super().__setattr__(name, value)
    def __delattr__(self, name):
        gone.append(name)
        super().__delattr__(name)
gone = []
x = Named((4,), dtype="float64")
x[:] = 1.0
x.name = "x"
y = x + 1.0
print(x.name, y.tolist())
del x.name
print(gone, hasattr(x, "name"))
# plain arrays have what they had
z = cn.arange(4.0)
object.__setattr__(z, "note", 1)
z.note += 1
print(z.note, (z + 1.0).tolist())
del z.note
try:
    del z.note
except AttributeError as error:
    print("no note")
"""


def test_a_subclass_may_set_attributes_its_own_way() -> None:
    done = run_in_worker(BEGIN + SUBCLASS)
    assert done.counters["ran_in_process"] > 0
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        f"X {[2.0] * 4}\n['name'] False\n2 [1.0, 2.0, 3.0, 4.0]\nno note\n"
    )


# How an array gets an attribute that no other one may have.
WAYS = {
    "setattr": "a.note = 1",
    "object": "object.__setattr__(a, 'note', 1)",
    "vars": "vars(a)['note'] = 1",
    "__dict__": "a.__dict__.update(note=1)",
    "dict kept": "kept.append(vars(a))",
    "dict replaced": "a.__dict__ = {**vars(a), 'note': 1}",
    "copy": "copy.copy(a).note = 1",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_new_array_has_no_attributes_of_an_old_one(way: str) -> None:
    program = f"""
kept = []
def step(n):
    a = cn.ones(3) + n
    {way}
    return [float(a[i]) for i in range(3)]
for n in range(40):
    assert step(n) == [n + 1.0] * 3
    b = cn.ones(3) * n
    assert noted(b) == [], (n, noted(b))
    for each in kept:
        each["note"] = 1
    assert noted(b) == [], (n, noted(b))
    assert [float(b[i]) for i in range(3)] == [float(n)] * 3
    del b
    c = cn.full(3, 5.0) - n
    assert not hasattr(c, "note")
print(legate_diffuse.stats()["failures"])
"""
    done = run_in_worker(BEGIN + program)
    assert done.counters["ran_in_process"] > 0
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


def test_an_array_whose_attributes_are_cleared_is_no_danger() -> None:
    """The C library overwrites memory that is freed."""
    program = """
for n in range(40):
    a = cn.ones(3) + n
    vars(a).clear()
    try:
        print(a + 1.0 is None)
    except AttributeError:
        pass
    del a
    assert (cn.ones(3) * n).tolist() == [float(n)] * 3
"""
    done = run_in_worker(BEGIN + program, MALLOC_PERTURB_="165")
    assert done.counters["ran_in_process"] > 0
    assert done.returncode == 0, done.stderr


def test_arrays_are_still_used_again() -> None:
    """Asking for attributes does not end that."""
    program = """
a = cn.ones(3) + 1.0
address = id(a)
vars(a)
del a
found = set()
for n in range(40):
    b = cn.ones(3) * 2.0
    found.add(id(b))
    del b
print(len(found) <= 16)
"""
    done = run_in_worker(BEGIN + program)
    assert done.counters["ran_in_process"] > 0
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_errors_name_the_attribute_that_cannot_be_set() -> None:
    program = """
a = cn.ones(3) + 1j
for name in ("imag", "T"):
    try:
        setattr(a, name, 1)
    except AttributeError as error:
        print(name in str(error))
print(a.imag.tolist())
"""
    done = run_in_worker(BEGIN + program)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"True\nTrue\n{[1.0] * 3}\n"
