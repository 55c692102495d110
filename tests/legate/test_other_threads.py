# SPDX-License-Identifier: Apache-2.0
"""Arrays may be dropped in any thread, and used in Legate's alone."""

from __future__ import annotations

from process import run_in_worker

BEGIN = """
import gc
import threading
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
from legate_diffuse.interpose.window import window

def in_thread(function):
    thread = threading.Thread(target=function, name="worker")
    thread.start()
    thread.join()
"""


def test_the_last_reference_to_an_array_may_go_in_another_thread() -> None:
    program = """
for _ in range(20):
    arrays = [cn.arange(8.0) + n for n in range(4)]
    parts = [array[1:] * 2.0 for array in arrays]
    assert float(parts[3][0]) == 8.0
    in_thread(arrays.clear)
    in_thread(parts.clear)
print((cn.ones(4) + 1.0).tolist())
"""
    done = run_in_worker(BEGIN + program, LEGATE_DIFFUSE_SMALL_BYTES="0")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{[2.0] * 4}\n", "")


def test_a_finalizer_may_drop_arrays_in_another_thread() -> None:
    program = """
class Cycle:
    def __init__(self, array):
        self.cycle, self.array = self, array
gc.disable()
for _ in range(20):
    array = cn.arange(8.0)
    array += 1.0
    assert float(array[1]) == 2.0
    Cycle(array)
    del array
    in_thread(gc.collect)
gc.enable()
print((cn.ones(4) + 1.0).tolist())
"""
    done = run_in_worker(BEGIN + program, LEGATE_DIFFUSE_SMALL_BYTES="0")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{[2.0] * 4}\n", "")


def test_a_frame_may_drop_stores_in_another_thread() -> None:
    """Tracebacks hold frames, and those what Legate made itself."""
    program = """
import legate.core as lc
from cupynumeric.config import CuPyNumericOpCode
from legate_diffuse.interpose.originals import real
def fail():
    runtime = real.runtime
    store = runtime.create_store(lc.types.float64, (1_000_000,))
    runtime.issue_fill(store, lc.Scalar(1.0, lc.types.float64))
    array = real.LogicalArray.from_store(store)
    parts = store.partition_by_tiling((500_000,))
    task = runtime.create_auto_task(library, CuPyNumericOpCode.FILL)
    task.add_output(store)
    raise ValueError(array, parts)
def keep():
    try:
        fail()
    except ValueError as error:
        cycle = [error]
        cycle.append(cycle)
library = cn.ones(3)._thunk.library
gc.disable()
for _ in range(200):
    keep()
    in_thread(gc.collect)
gc.enable()
print((cn.ones(4) + 1.0).tolist())
"""
    done = run_in_worker(BEGIN + program, LEGATE_DIFFUSE_SMALL_BYTES="0")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{[2.0] * 4}\n", "")


def test_arrays_that_are_used_in_another_thread_are_one_sentence() -> None:
    program = """
def use():
    try:
        array.sum()
    except legate_diffuse.DiffuseError as error:
        print(error)
array = cn.arange(4.0)
array += 1.0
in_thread(use)
print(array.tolist())
"""
    done = run_in_worker(BEGIN + program)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "Legate was called in thread 'worker', but must be called in the thread that "
        "imported it, and in no other: move what works on its arrays there\n"
        "[1.0, 2.0, 3.0, 4.0]\n"
    )


def test_what_a_python_task_computes_is_not_recorded() -> None:
    program = """
from legate.core.task import InputStore, OutputStore, task
@task
def work(source: InputStore, target: OutputStore) -> None:
    x, y = cn.asarray(source), cn.asarray(target)
    cn.negative(x, out=y)
    cn.multiply(y, x, out=y)
x, y = cn.arange(4.0), cn.zeros(4)
window.flush("test")
before = legate_diffuse.stats()["tasks_seen"]
work(x, y)
window.flush("test")
seen = legate_diffuse.stats()["tasks_seen"] - before
print(seen, y.tolist())
"""
    done = run_in_worker(BEGIN + program)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "1 [-0.0, -1.0, -4.0, -9.0]\n"
