# SPDX-License-Identifier: Apache-2.0
"""Small arrays live in the process, and operations on them are no tasks.

Programs run in other processes than this one, where Legate holds all arrays.
"""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess

import pytest
from process import run_alone, run_in_worker

BEGIN = """
import gc
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
import numpy as np
from comparison import counts
import legate_diffuse.interpose.originals as originals
from legate_diffuse.interpose.window import window

native = originals.real.legate.native

def here(program):
    # the program runs without a task of Legate's, and gives what NumPy gives
    found = counts(lambda: program(cn))
    assert found["ran_in_process"] == found["groups"] > 0, found
    assert found["tasks_submitted"] == found["failures"] == 0, found
    agree(program)

def agree(program):
    fused, expected = program(cn), program(np)
    for one, other in zip(fused, expected, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert one.dtype == other.dtype and one.shape == other.shape, (one, other)
        np.testing.assert_array_equal(one, other)
        if one.dtype.kind in "fc":
            np.testing.assert_array_equal(np.signbit(one.real), np.signbit(other.real))
    assert legate_diffuse.stats()["failures"] == 0
"""

# Lets a task that nobody has registered halve an array; NumPy does it otherwise.
HALVED = """
from legate.core.task import InputStore, OutputStore, task
@task
def halve(x: InputStore, y: OutputStore) -> None:
    np.asarray(y)[...] = np.asarray(x) * 0.5
def halved(n, x):
    if n is np:
        return x * 0.5
    y = n.empty(x.shape)
    halve(x, y)
    return y
"""


PATH = {"PYTHONPATH": str(Path(__file__).parent)}


def run_fresh(program: str, fuses: bool = True, **environment: str) -> None:
    """Run a program as :func:`run_here` does, in a process of its own."""
    run_here(program, fuses, fresh=True, **environment)


def run_begun(program: str, **environment: str) -> CompletedProcess[str]:
    """Run a program after ``BEGIN`` in a process of its own."""
    return run_alone(BEGIN + program, **PATH, **environment)


def run_here(
    program: str, fuses: bool = True, fresh: bool = False, **environment: str
) -> None:
    """Run a program after ``BEGIN`` that asserts what it claims.

    Unless it says otherwise something must be fused, or run in the process. A program
    that measures memory needs a ``fresh`` process.
    """
    done = run_in_worker(BEGIN + program, fresh=fresh, **environment)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.counters["failures"] == 0
    assert not fuses or done.counters["groups"] > 0, "nothing was fused"


def test_reads_of_elements_need_no_task() -> None:
    run_here(
        """
    def program(n):
        x = n.arange(10.0)
        y = x * 2.0 + 1.0
        y[3] = -0.0
        z = n.sqrt(y[1:6])
        return [float(y.sum()), float(y[3]), y.max() > 3.0, bool((z > 1.0).any()),
                int(n.argmin(x) if n is np else 0), float(z[0] + y[-1])]
    here(program)
    """.replace("\n    ", "\n")
    )


@pytest.mark.parametrize(
    "made",
    [
        "n.array([1.0, -0.0, 3.0, 4.0])",
        "n.array([True, False, True, True])",
        "n.array([1, 2, 3, 250], dtype='uint8')",
        "n.array([1 + 2j, -0.0j, 3.5, 1j])",
        "n.array([[1.0, n.nan], [n.inf, -0.0]], dtype='float32')",
        "n.array([[5]])",
        "n.full((1,), 2.5)",
        "n.zeros((0, 3))",
        "n.arange(24.0).reshape((2, 3, 4))",
    ],
)
def test_arrays_of_all_kinds(made: str) -> None:
    run_here(f"""
def program(n):
    x = {made}
    y = x + x
    z = y.T * x.T
    z = z * y.T
    z[...] = z * y.T
    w = n.where(x == x, y, x)
    return [x, y, z, w, (x == y).any(), x.sum(), n.zeros_like(x) + x[..., None].sum()]
agree(program)
""")


def test_changes_through_views_are_seen() -> None:
    run_here("""
def program(n):
    x = n.zeros((6, 6))
    rows, part = x[1:4], x[2:, ::1]
    rows += 1.0
    seen = [float(x[1, 1]), float(part[0, 0])]
    part[:, 2] = 7.0
    seen += [float(rows[1, 2]), float(x.sum())]
    x.T[0] = part[:, 2].sum()
    seen += [float(x[3, 0]), float(rows[0, 0])]
    y = x
    y *= 2.0
    return seen + [float(x[5, 2]), float(part.max())]
here(program)
""")


def test_single_elements_that_change_need_no_task() -> None:
    run_here("""
def program(n):
    x = n.arange(1.0, 101.0)
    s = n.full((), 3.0)
    old = s + 0.0
    for factor in (0.5, -0.0, 7.0):
        y = x * s
        s *= factor
        s /= 2.0
        x = x + y + s
    norm = (x * x).sum()
    norm /= 100
    norm = n.sqrt(norm)
    return [x / norm, y, s, old, norm]
here(program)
""")


def test_what_a_task_needs_is_stored_in_order_and_once() -> None:
    run_here("""
def program(n):
    x = n.array([3.0, 1.0, 2.0])
    y = x * 2.0
    first = n.partition(y, (0, 1, 2), axis=None)
    y += 1.0
    second = n.partition(y, (0, 1, 2), axis=None)
    y[0] = first[0] + second[2]
    return [first, second, y, float(y[0]), n.partition(x, (0, 1, 2), axis=None)]
agree(program)

from cupynumeric._array.thunk import perform_scan
from cupynumeric.config import ScanCode
def scanned(x):
    return perform_scan(ScanCode.SUM, x)
x = cn.array([3.0, 1.0, 2.0]) * 2.0
float(x[0])
assert x._thunk.base._view.root.is_here
stored = []
class Native:
    def __getattr__(self, name):
        found = getattr(native, name)
        if name != "store_array":
            return found
        def store(array, handle, keep):
            stored.append(array)
            found(array, handle, keep)
        return store
object.__setattr__(originals.real.legate, "native", Native())
scanned(x)
assert len(stored) == 1 and x._thunk.base._view.root.is_here, stored
scanned(x)
assert len(stored) == 2 and x._thunk.base._view.root.is_here
found = counts(lambda: float(x[1]))
assert (found["ran_in_process"], found["tasks_submitted"]) == (1, 0), found
x += 1.0
float(x[0])
np.testing.assert_array_equal(np.asarray(scanned(x)), [7.0, 10.0, 15.0])
object.__setattr__(originals.real.legate, "native", native)
""")


def test_what_tasks_have_made_is_brought_in_where_the_program_waits() -> None:
    run_here("""
def step():
    x = cn.partition(cn.array([3.0, 1.0, 2.0]), 0, axis=None)
    y = x * 2.0 + 1.0
    return float(y[1])
assert step() == 5.0
found = counts(step)
assert (found["ran_in_process"], found["tasks_submitted"]) == (1, 1), found
""")


def test_a_program_without_reads_comes_in_after_a_while() -> None:
    run_here("""
x = cn.partition(cn.array([3.0, 1.0, 2.0]), 0, axis=None)
def step():
    global x
    x = x * 0.5
    window.flush("test")
found = [counts(step)["ran_in_process"] for _ in range(7)]
assert found == [0, 0, 0, 0, 1, 1, 1], found
np.testing.assert_array_equal(np.asarray(x), np.array([1.0, 2.0, 3.0]) / 128)
""")


def test_large_arrays_are_computed_by_tasks() -> None:
    run_here("""
def program(n):
    x = n.arange(100_000.0)
    small = n.arange(4.0)
    small += x.sum()
    x *= small[1]
    outer = n.arange(300.0)
    spread = (outer[:, None] * outer).sum()
    return [small, x, float(small[2]), spread]
agree(program)
found = counts(lambda: program(cn))
assert found["tasks_submitted"] > 0, found
""")


def test_numpy_arrays_that_share_memory_go_on_sharing_it() -> None:
    run_here("""
x = cn.arange(5.0)
x += 1.0
float(x[0])
shared = np.asarray(x)
x *= 2.0
assert shared.tolist() == [2.0, 4.0, 6.0, 8.0, 10.0], shared
shared[1] = -1.0
assert float(x[1]) == -1.0
y = x + 0.0
assert float(y[1]) == -1.0
del shared
x += 1.0
assert float(x[1]) == 0.0

own = np.arange(4.0)
theirs = cn.asarray(own)
theirs += 1.0
own[0] = 5.0
assert (float(theirs[0]), own.tolist()) == (5.0, [5.0, 2.0, 3.0, 4.0])

data = np.arange(4.0)
copied = cn.array(data)
data[:] = 9.0
copied += 1.0
assert copied.tolist() == [1.0, 2.0, 3.0, 4.0]
""")


def test_a_task_that_is_being_built_sees_what_comes_before_it() -> None:
    run_here("""
import legate.core as lc
from cupynumeric.config import CuPyNumericOpCode, UnaryRedCode
x, sum_ = cn.ones(5), cn.zeros(())
x += 1.0
float(x[0])
task = lc.get_legate_runtime().create_auto_task(
    x._thunk.library, CuPyNumericOpCode.SCALAR_UNARY_RED
)
task.add_reduction(sum_._thunk.base, lc.ReductionOpKind.ADD)
task.add_input(lc.LogicalArray.from_store(x._thunk.base))
task.add_scalar_arg(UnaryRedCode.SUM, lc.types.int32)
task.add_scalar_arg(x.shape, (lc.types.int64,))
task.add_scalar_arg(False, lc.types.bool_)
x *= 3.0
assert float(x[1]) == 6.0
task.execute()
assert float(sum_) == 30.0
""")


def test_memory_is_freed() -> None:
    done = run_begun("""
# 16 arrays of fewer elements are kept for the next ones
x = cn.ones(5000)
float((x * 2.0).sum())
before = native.small_array_bytes()
assert before == 40000
for _ in range(50):
    y = x * 3.0
    z = y + x
    float(z.sum() + y[0])
del y, z
window.flush("test")
assert native.small_array_bytes() <= before + 32, native.small_array_bytes()
x.sort()
window.flush("test")
del x
gc.collect()
assert native.small_array_bytes() <= 32, native.small_array_bytes()
""")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_the_limit() -> None:
    program = """
x = cn.ones(100)
print(counts(lambda: float(x.sum()))["ran_in_process"])
"""
    for limit, expected in (("0", 0), ("799", 0), ("800", 1), (str(2**30), 1)):
        done = run_begun(program, LEGATE_DIFFUSE_SMALL_BYTES=limit)
        assert (done.stdout, done.stderr) == (f"{expected}\n", "")
    done = run_begun(program, LEGATE_DIFFUSE_SMALL_BYTES="few")
    assert done.returncode != 0
    assert "LEGATE_DIFFUSE_SMALL_BYTES=few is not understood" in done.stderr


def test_check_mode_has_legate_hold_all_arrays() -> None:
    run_here(
        """
x = cn.arange(6.0)
found = counts(lambda: float((x * 2.0 + 1.0).sum()))
assert found["ran_in_process"] == 0
assert legate_diffuse.stats()["launches_checked"] > 0
""",
        LEGATE_DIFFUSE_CHECK="1",
    )


INTERRUPTED = """
class Interrupt(Exception):
    pass

class Native:
    def __init__(self, names, number, before):
        self.names, self.number, self.before = names, number, before
        window.queue.native = window.submitter.native = self
        object.__setattr__(originals.real.legate, "native", self)
        window.submitter.small._native = self
    def restore(self):
        window.queue.native = window.submitter.native = native
        object.__setattr__(originals.real.legate, "native", native)
        window.submitter.small._native = native
    def __getattr__(self, name):
        found = getattr(native, name)
        if name not in self.names:
            return found
        def call(*arguments):
            self.number -= 1
            if self.number == 0 and self.before:
                raise Interrupt
            result = found(*arguments)
            if self.number == 0:
                raise Interrupt
            return result
        return call

def attempt(program):
    try:
        return program()
    except Interrupt:
        print("interrupted")
"""


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("name", ["run_program", "store_array"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_exception_loses_nothing_and_repeats_nothing(
    name: str, number: int, before: bool
) -> None:
    program = f"""
x, y = cn.zeros(6), cn.zeros((2, 2))
z = cn.array([2.0, 1.0])
window.flush("test")
# operations are recorded, and run in the process when the window ends
at_once, window.runs_at_once = window.runs_at_once, False
interrupting = Native(("{name}",), {number}, {before})
out = []
for _ in range(3):
    x += 1.0
    y += 1.0
    attempt(lambda: float(x[2]))
    y += 1.0
    attempt(lambda: window.flush("test"))
    z *= 2.0
    attempt(lambda: window.flush("test"))
    sorted_z = attempt(lambda: cn.sort(z))
    attempt(lambda: window.flush("test"))
interrupting.restore()
window.runs_at_once = at_once
print(x.tolist(), y.tolist(), z.tolist())
"""
    done = run_in_worker(BEGIN + INTERRUPTED + program, **PATH)
    right = f"{[3.0] * 6} {[[6.0] * 2] * 2} {[16.0, 8.0]}"
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == right, done.stdout
    assert done.stdout.splitlines().count("interrupted") == 1


def test_a_finalizer_may_use_the_arrays_that_are_being_computed() -> None:
    run_here("""
class Last:
    def __init__(self, array):
        self.array = array
    def __del__(self):
        self.array += 1.0
        seen.append(float(self.array[0]))
seen = []
x = cn.zeros(3)
for number in range(20):
    last = Last(x)
    y = x * 2.0
    del last
    x = x + y * 0.0
    assert float(y[0]) == 2.0 * number
    float(x[1])
assert seen == [float(number + 1) for number in range(20)], seen
""")


def test_what_numpy_has_let_go_of_is_like_any_other_array() -> None:
    run_here("""
x = cn.arange(10.0)
for make in (lambda: x.sum(), lambda: x.max(), lambda: x.any(), lambda: x + x):
    make()
shared = np.asarray(x)
shared[0] = 5.0
assert float(x.sum()) == 50.0
del shared
# it runs without Python's part
window.submitter.at_once.take = None
assert float(x.sum()) == 50.0
assert bool(x.any()) and float(x.max()) == 9.0 and float((x + x)[0]) == 10.0
del window.submitter.at_once.take
""")
