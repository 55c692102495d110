# SPDX-License-Identifier: Apache-2.0
"""Plans and kernels have a bound; those that were used longest ago are forgotten."""

from __future__ import annotations

from pathlib import Path

from process import run_alone

BEGIN = """
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
import legate_diffuse.launch.planner as planner
from legate_diffuse.interpose.window import window
planner.MAX_KERNELS = 8
kernels = window.submitter._kernels
most = 0
def chain(length):
    x = cn.arange(4.0)
    for _ in range(length):
        x = x * 2.0 + 1.0
    return x.tolist()
"""


def test_kernels_are_forgotten_and_made_again() -> None:
    program = """
for _ in range(2):
    for length in range(1, 21):
        expected = [n * 2.0**length + 2.0**length - 1.0 for n in range(4)]
        assert chain(length) == expected
        assert chain(1) == [1.0, 3.0, 5.0, 7.0]
        most = max(most, len(kernels))
counts = legate_diffuse.stats()
print(most, counts["failures"], counts["plans_made"])
"""
    done = run_alone(BEGIN + program, LEGATE_DIFFUSE_SMALL_BYTES="0")
    assert (done.returncode, done.stderr) == (0, "")
    # the chain that is used all the time is planned once, the others twice
    assert done.stdout == "8 0 39\n"


def test_a_kernel_is_used_by_nested_work_while_it_is_forgotten() -> None:
    """A finalizer or a signal handler runs while the last tasks are waited for."""
    program = """
native = window.submitter.planner.native
class Native:
    def __getattr__(self, name):
        return getattr(native, name)
    def call(self, *arguments):
        native.call(*arguments)
        window.submitter.planner.native = native
        print(chain(1))
for length in range(1, 9):
    chain(length)
window.submitter.planner.native = Native()
chain(9)
print(chain(1), legate_diffuse.stats()["failures"])
"""
    done = run_alone(BEGIN + program, LEGATE_DIFFUSE_SMALL_BYTES="0")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[1.0, 3.0, 5.0, 7.0]\n[1.0, 3.0, 5.0, 7.0] 0\n"


def test_what_is_new_each_time_leaves_nothing() -> None:
    """100,000 statements on other numbers, parts, shapes and lists each time."""
    program = """
import gc
import numpy as np
x, matrix = cn.arange(3000.0), cn.ones((60, 60))
def statements(n):
    a = x[n % 1000 : n % 1000 + 1 + n // 7 % 50] + 1.0
    b = x[:10] * (n + 0.5)
    c = cn.full(5, n * 1.5)
    d = cn.array([n, 1.5, n + 1])
    e = x[[n % 500, n % 400, n % 300]] + d
    f = cn.where(x[:7] > n, x[:7], n)
    g = cn.clip(cn.roll(x[:9], n), n, n + 1)
    h = matrix[n % 50 : n % 50 + 1 + n // 50 % 10, n % 37 :].sum(axis=0)
    matrix[n % 60, n // 60 % 60] = n
    b[...] = float(a[0]) ** (n % 100 * 0.001)
def objects():
    gc.collect()
    return len(gc.get_objects())
for n in range(2000):
    statements(n)
before = objects()
for n in range(2000, 9000):
    statements(n)
print(objects() - before < 1000, legate_diffuse.stats()["failures"])
"""
    done = run_alone(BEGIN + program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True 0\n", "")


def test_places_of_cells_are_forgotten(tmp_path: Path) -> None:
    program = """
import weakref
from legate_diffuse.observe import location
location._MAX_PLACES = 100
x, cells = cn.arange(4.0), []
for n in range(6000):
    code = compile("y = x + 1.0", f"<cell {n}>", "exec")
    cells.append(weakref.ref(code))
    exec(code)
    del code
print(sum(cell() is not None for cell in cells) <= 4096)
print(len(location._known), location._shorten.cache_info().currsize <= 4096)
"""
    explained = str(tmp_path / "explained.txt")
    settings = {"LEGATE_DIFFUSE_SMALL_BYTES": "0", "LEGATE_DIFFUSE_EXPLAIN": explained}
    done = run_alone(BEGIN + program, **settings)
    assert (done.returncode, done.stdout) == (0, "True\n100 True\n"), done.stderr
    assert "other lines" in Path(explained).read_text()
