# SPDX-License-Identifier: Apache-2.0
"""When kernels are compiled: at once if a task's work is worth it, else the next time.

Each program prints how many groups were fused after each of its windows.
"""

from __future__ import annotations

from pathlib import Path

from process import run_alone

BEGIN = """
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
from legate_diffuse.interpose.window import window

def fused():
    window.flush("test")
    return legate_diffuse.stats()["groups"]

"""
SMALL = """
x = cn.ones(8)
x += x
before = fused()
for _ in range(3):
    x = x * 2.0 + 1.0
    print(fused() - before)
"""
LARGE_AND_SMALL = """
large, small = cn.ones(1_000_000), cn.ones(8)
large *= 2.0
large += 1.0
large *= large
large -= 3.0
small *= 2.0
small += 1.0
print(fused(), float(large[5]), float(small[5]))
"""
MANY = """
x = cn.ones(8)
for _ in range(25):
    x = x * 0.5 + 1.0
print(fused(), float(x[5]))
"""
# Operations on small arrays run as they come.
LINES = """
COUNTS = "plans_made", "kernels_compiled", "tasks_submitted"

def counts():
    found = legate_diffuse.stats()
    return [found[each] for each in COUNTS]

x, i = cn.ones(8), cn.arange(8)
for _ in range(4):
    before = counts()
    y = x * 2.0 + x
    y = cn.sqrt(abs(y - x / 3.0))
    k = i // 3 - i % 2
    k = k * k + i
    y = cn.maximum(y, x)
    new = [now - was for now, was in zip(counts(), before)]
    print(float(y[5]), int(k[5]), float(y.sum()), *new)
"""
OFTEN = """
x = cn.ones(32_000)
compiled = legate_diffuse.stats()["kernels_compiled"]
found = set()
for number in range(80):
    found.add((float(((x + 0.1) * 0.3)[5]), float((x * 0.7).sum())))
    if number in (0, 79):
        print(legate_diffuse.stats()["kernels_compiled"] - compiled)
print(len(found))
"""
# Operations that compiled kernels round differently.
ROUNDED = {
    "sums": "x.sum()",
    "sums of rows": "x.reshape(33, -1).sum(axis=1)",
    "products": "(1.0 + x * 1e-3).prod()",
    "scalar products": "cn.dot(x, x + 0.1)",
    "powers": "x ** 2",
    "tangents": "cn.tan(x * 9.0)",
}
BITS = """
import numpy
x = cn.sin(cn.arange(33 * 29) * 0.37) ** 3
for name, operation in {operations}.items():
    found = {{numpy.asarray(eval(operation)).tobytes().hex() for _ in range(3)}}
    print(name, *found)
    before = fused()
    y = eval(operation)
    assert fused() > before, name
"""


def run(program: str, folder: Path, **environment: str) -> str:
    """Return the output of a program that finds kernels in a folder only."""
    environment.setdefault("LEGATE_DIFFUSE_SYNC_COMPILE", "0")
    # operations on small arrays would run at once
    environment.setdefault("LEGATE_DIFFUSE_SMALL_BYTES", "0")
    done = run_alone(
        BEGIN + program, LEGATE_DIFFUSE_CACHE_DIR=str(folder), **environment
    )
    assert done.stderr == ""
    return done.stdout


def test_a_small_group_is_fused_when_it_comes_again(tmp_path: Path) -> None:
    assert run(SMALL, tmp_path).split() == ["0", "1", "2"]


def test_a_small_group_is_fused_at_once_from_disk(tmp_path: Path) -> None:
    run(SMALL, tmp_path)
    assert run(SMALL, tmp_path).split() == ["1", "2", "3"]


def test_a_small_group_is_fused_at_once_if_that_is_wanted(tmp_path: Path) -> None:
    printed = run(SMALL, tmp_path, LEGATE_DIFFUSE_SYNC_COMPILE="1")
    assert printed.split() == ["1", "2", "3"]


def test_a_group_of_many_small_tasks_is_fused_at_once(tmp_path: Path) -> None:
    fused, value = run(MANY, tmp_path).split()
    assert (fused, float(value)) == ("1", 2.0 - 2.0**-25)


def test_a_small_loop_of_a_large_task_does_not_keep_it_unfused(tmp_path: Path) -> None:
    assert run(LARGE_AND_SMALL, tmp_path) == "1 6.0 3.0\n"


def test_what_runs_as_it_comes_is_interpreted_at_first(tmp_path: Path) -> None:
    """Nothing has to wait for a kernel, and nothing is compiled that may not come."""
    small = {"LEGATE_DIFFUSE_SMALL_BYTES": "393216"}
    lines = [line.split() for line in run(LINES, tmp_path, **small).splitlines()]
    assert len({tuple(line[:3]) for line in lines}) == 1
    plans, *others = map(int, lines[0][3:])
    assert plans > 0
    assert others == [0, 0]
    assert [line[3:] for line in lines[1:]] == [["0", "0", "0"]] * 3


def test_what_runs_often_is_compiled(tmp_path: Path) -> None:
    """Its results stay as they were."""
    small = {"LEGATE_DIFFUSE_SMALL_BYTES": "393216"}
    first, last, results = map(int, run(OFTEN, tmp_path, **small).split())
    assert (first, results) == (0, 1)
    assert last == 3  # a sum and a product with a number, and the sum of elements


def test_bits_do_not_depend_on_what_is_on_disk(tmp_path: Path) -> None:
    """Nor on whether the operation ran before."""
    operations = {name.replace(" ", "-"): f"1.5 * {o}" for name, o in ROUNDED.items()}
    program = BITS.format(operations=operations)
    cold = run(program, tmp_path).splitlines()
    assert cold == run(program, tmp_path).splitlines()
    assert len(cold) == len(ROUNDED)
    # its name and the bits of all runs
    assert {len(line.split()) for line in cold} == {2}, cold
