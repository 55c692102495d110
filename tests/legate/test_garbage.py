# SPDX-License-Identifier: Apache-2.0
"""Python's garbage collector has nothing to do with operations that wait."""

from __future__ import annotations

import pytest
from process import run_alone

# Arrays of several elements are not small: what is done to them waits.
WAIT = {"LEGATE_DIFFUSE_SMALL_BYTES": "8"}

BEGIN = """
import gc
import weakref
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn

def step(x, y):
    y[1:-1] = x[2:] - x[:-2] * 0.5 + y[1:-1]
    return cn.maximum(x * 0.5 + y, 0.25)

def loop(steps):
    x, y = cn.arange(40.0), cn.ones(40)
    for _ in range(steps):
        x = step(x, y)
    return float(x[3])

# nothing is compiled, or made for the first time, from now on
for _ in range(3):
    loop(200)
"""


IMPORT = """
import gc
{before}
frozen = gc.get_freeze_count()
import legate_diffuse
legate_diffuse.enable()
import cupynumeric
print(gc.get_freeze_count() - frozen > 10_000, gc.isenabled())
"""


@pytest.mark.parametrize(
    ("before", "found"),
    [
        ("", "True True"),
        # whatever a program has made may be garbage later
        ("made = [[] for _ in range(70_000)]", "False True"),
        ("gc.disable()", "False False"),
    ],
)
def test_the_collector_is_not_told_of_what_is_imported(before: str, found: str) -> None:
    done = run_alone(IMPORT.format(before=before))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{found}\n", "")


def run(program: str) -> str:
    done = run_alone(BEGIN + program, **WAIT)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_collector_is_not_told_of_operations_that_wait() -> None:
    program = """
def told():
    return sum(str(type(each).__module__).startswith("legate_diffuse")
               for each in gc.get_objects())

x, y = cn.arange(40.0), cn.ones(40)
for _ in range(5):
    x = step(x, y)
before = told()
for _ in range(5):
    x = step(x, y)
print(told() - before)
"""
    assert run(program) == "0\n"


def test_arrays_in_a_cycle_are_collected() -> None:
    program = """
x, y = cn.arange(40.0), cn.ones(40)
z = step(x, y)
root = weakref.ref(z._thunk.base._view.root)
z.itself = [z]
del z
before = root() is not None
float(x[3])
gc.collect()
print(before, root())
"""
    assert run(program) == "True None\n"


def test_the_collector_waits_while_plans_are_made() -> None:
    program = """
import legate_diffuse.launch.planner as planner
make, states = planner.make_plan, []

def watched(*arguments):
    states.append(gc.isenabled())
    return make(*arguments)

planner.make_plan = watched
x = cn.arange(40.0) % 3.0 - cn.floor(cn.ones(40) * 0.3)
float(x[3])
print(set(states), gc.isenabled())
gc.disable()
float((x % 7.0 * 3.0 - 1.0)[3])
print(gc.isenabled())
"""
    assert run(program) == "{False} True\nFalse\n"
