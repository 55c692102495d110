# SPDX-License-Identifier: Apache-2.0
"""Legate may be imported in another thread than Python's main one.

It ends such programs with a signal when they exit, fused or not, so these do not.
"""

from __future__ import annotations

from process import run_alone

# Runs a program's function in a thread that imports Legate. Its exception is printed.
BEGIN = """
import os
import sys
import threading
import legate_diffuse
legate_diffuse.enable()

def in_thread(function):
    def run():
        try:
            function()
        except BaseException as error:
            print("raised:", type(error).__name__, error)
    thread = threading.Thread(target=run, name="worker")
    thread.start()
    return thread
"""
END = """
worker.join()
sys.stdout.flush()
os._exit(0)
"""


def test_what_the_main_thread_drops_goes_in_the_thread_of_legate() -> None:
    """Legate allows no other thread to drop its stores."""
    program = """
asked, dropped = threading.Event(), threading.Event()
arrays = []
def work():
    import cupynumeric as cn
    # 192 MB each time, of 500
    for _ in range(4):
        arrays.extend(cn.arange(6_000_000.0) + n for n in range(4))
        assert float(arrays[3][1]) == 4.0
        asked.set()
        dropped.wait(60)
        dropped.clear()
        assert float((cn.arange(8.0) * 2.0)[3]) == 6.0
worker = in_thread(work)
for _ in range(4):
    asked.wait(60)
    asked.clear()
    arrays.clear()
    for _ in range(1000):
        pass
    dropped.set()
worker.join()
print("dropped")
"""
    done = run_alone(BEGIN + program + END)
    assert (done.returncode, done.stdout, done.stderr) == (0, "dropped\n", "")


def test_an_exception_in_a_flush_is_raised_in_the_thread_of_legate() -> None:
    program = """
class Stopped(Exception):
    def __init__(self, number, text):
        super().__init__(number, text)
def work():
    import cupynumeric as cn
    import legate.core as lc
    from legate_diffuse.interpose.window import window
    x = cn.arange(8.0)
    y = x * 2.0
    def fail():
        raise Stopped(3, "in the flush")
    from legate_diffuse import _native
    _native.set_flush_callback(fail)
    _native.set_pending(True)
    lc.get_legate_runtime().issue_execution_fence(block=True)
    for _ in range(1000):
        pass
    print("not raised")
worker = in_thread(work)
worker.join()
print("the main thread goes on")
"""
    done = run_alone(BEGIN + program + END)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "raised: Stopped (3, 'in the flush')\nthe main thread goes on\n"
    )
