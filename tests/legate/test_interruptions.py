# SPDX-License-Identifier: Apache-2.0
"""Whatever comes between two steps, nothing is lost, and nothing happens twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest
from process import run_alone, run_in_worker
from tiers import examples, some

INJECT = Path(__file__).parents[2] / "scripts" / "inject.py"

BEGIN = """
import gc
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
from legate_diffuse.interpose.window import window
import legate_diffuse.launch.planner as planner
gc.disable()
native, make_plan = window.queue.native, planner.make_plan

class Interrupt(Exception):
    pass

class Native:
    # the native part, whose n-th launch raises, before or after it was made
    def __init__(self, number, before):
        self.number, self.before, self.native = number, before, window.queue.native
        window.queue.native = window.submitter.native = self
    def __getattr__(self, name):
        found = getattr(self.native, name)
        if name not in ("submit_program", "submit_original"):
            return found
        def call(*arguments):
            self.number -= 1
            if self.number == 0 and self.before:
                raise Interrupt
            found(*arguments)
            if self.number == 0:
                raise Interrupt
        return call
"""


# Leaves the process as it was, also if the program has raised.
END = """
finally:
    window.queue.native = window.submitter.native = native
    planner.make_plan = make_plan
    gc.enable()
"""

# Operations on arrays of at most so many bytes run as they come, the first ones too.
AT_ONCE = {"LEGATE_DIFFUSE_SMALL_BYTES": "100", "LEGATE_DIFFUSE_SYNC_COMPILE": "1"}


def output_of(program: str, fresh: bool = False, **environment: str) -> str:
    # operations that run at once have no launches
    settings = {"LEGATE_DIFFUSE_SMALL_BYTES": "0"} | environment
    body = indent(program, "    ")
    done = run_in_worker(f"{BEGIN}try:\n{body}{END}", fresh=fresh, **settings)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


SAMPLES = {
    "recording": ("--program", "slices", "--kind", "interrupt", "work", "read"),
    "flush": ("--program", "flush", "--kind", "error", "before", "after", "refuse"),
    "any time": ("--program", "recording", "--kind", "alarm", "finalizer-low"),
    "native recording": (
        "--program",
        "native recording",
        "--kind",
        "interrupt",
        "read",
        "work",
        "finalizer-low",
    ),
    "at once": (
        "--program",
        "at once",
        "--kind",
        "interrupt",
        "work",
        "read",
        "finalizer-low",
    ),
    "planned": (
        "--program",
        "at once, cold plan",
        "--kind",
        "interrupt",
        "error",
        "work",
    ),
    "waiting": (
        "--program",
        "before what waits",
        "--kind",
        "interrupt",
        "work",
        "read",
        "after",
    ),
}


@pytest.mark.parametrize("name", some(SAMPLES, 2))
def test_a_sample_of_injections(name: str) -> None:
    """Everything is injected by ``scripts/inject.py``, which takes an hour."""
    sample = "--sample", str(examples(20, 60))
    command = (sys.executable, str(INJECT), *SAMPLES[name], *sample)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1].endswith("injections, 0 wrong"), done.stdout


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("number", [1, 2])
def test_an_exception_at_a_launch_loses_nothing_and_repeats_nothing(
    before: bool, number: int
) -> None:
    program = f"""
    x, y = cn.zeros(6), cn.zeros((2, 2))
    window.flush("test")
    for _ in range(3):
        x += 1.0
        x = cn.sort(x)
        y += 2.0
        Native({number}, {before})
        try:
            window.flush("test")
        except Interrupt:
            print("raised")
    print(x.tolist(), y.tolist())
    """
    expected = "raised\n" * 3 + f"{[3.0] * 6} {[[6.0] * 2] * 2}\n"
    assert output_of(_dedent(program)) == expected


def test_an_exception_from_outside_is_no_failure() -> None:
    """The plan is made again, and remembered."""
    program = """
    make_plan = planner.make_plan
    def interrupted(*arguments):
        planner.make_plan = make_plan
        raise Interrupt
    x = cn.zeros(6)
    for n in range(3):
        x += 1.0
        x *= 2.0
        if n == 1:
            planner.make_plan = interrupted
            window.submitter.planner.clear()
        try:
            window.flush("test")
        except Interrupt:
            print("raised")
            window.flush("test")
    counts = legate_diffuse.stats()
    print(x.tolist(), counts["failures"], counts["groups"])
    """
    assert output_of(_dedent(program)) == f"raised\n{[14.0] * 6} 0 3\n"


def test_a_window_that_is_submitted_while_it_is_prepared() -> None:
    """What is let go of after a launch is still there for who prepares the same."""
    program = """
    prepare = window.submitter.prepare
    def nested(closed, *how):
        window.submitter.prepare = prepare
        window.flush("nested")
        return prepare(closed, *how)
    for _ in range(2):
        x, y = cn.zeros(6), cn.zeros(4)
        x += 1.0
        y += cn.sort(x * 2.0)[:4]
        x *= y.sum()
        y -= x[1:5]
        window.submitter.prepare = nested
        window.flush("test")
        print(x.tolist(), y.tolist(), legate_diffuse.stats()["failures"])
    """
    expected = f"{[8.0] * 6} {[-6.0] * 4} 0\n"
    assert output_of(_dedent(program)) == 2 * expected


def test_a_plan_sees_what_its_key_says() -> None:
    """An array that goes while a window is planned was alive in its key."""
    program = """
    translate = planner.translate
    def collecting(*arguments):
        kept.clear()
        return translate(*arguments)
    kept = []
    for translated in (collecting, translate):
        planner.translate = translated
        x = cn.arange(4.0)
        y = x + 1.0
        kept.append(y)
        del x, y
        window.flush("test")
    print(kept[0].tolist(), legate_diffuse.stats()["groups"])
    """
    assert output_of(_dedent(program)) == "[1.0, 2.0, 3.0, 4.0] 2\n"


def test_a_finalizer_that_uses_arrays_runs_while_a_window_is_submitted() -> None:
    program = """
    class Resource:
        def __init__(self, array):
            self.array, self.cycle = array, self
        def __del__(self):
            self.array *= 2.0
            print("finalized")
    make_plan = planner.make_plan
    def collecting(*arguments):
        gc.collect()
        return make_plan(*arguments)
    planner.make_plan = collecting
    x = cn.arange(4.0)
    y = x + 1.0
    Resource(y)
    z = y * 3.0
    print(z.tolist(), y.tolist(), x.tolist())
    """
    assert output_of(_dedent(program)) == (
        "finalized\n[3.0, 6.0, 9.0, 12.0] [2.0, 4.0, 6.0, 8.0] [0.0, 1.0, 2.0, 3.0]\n"
    )


@pytest.mark.parametrize("place", ["recognize_task"])
def test_a_handler_that_reads_while_an_operation_is_recorded(place: str) -> None:
    program = f"""
    recognize = window.recognizer.{place}
    def reading(task):
        window.recognizer.{place} = recognize
        found = recognize(task)
        print(x.tolist())
        return found
    x = cn.arange(4.0)
    x += 1.0
    y = cn.zeros(4)
    window.recognizer._kinds.clear()
    window.recognizer.{place} = reading
    y += x
    y[:] = y * 2.0
    y[1:] = 5.0
    x += y
    print(x.tolist(), y.tolist())
    """
    assert output_of(_dedent(program)) == (
        "[1.0, 2.0, 3.0, 4.0]\n[3.0, 7.0, 8.0, 9.0] [2.0, 5.0, 5.0, 5.0]\n"
    )


def test_an_exception_from_outside_while_a_slice_is_computed() -> None:
    program = """
    from cupynumeric._thunk.deferred import DeferredArray
    get_view = DeferredArray._get_view
    def interrupted(*arguments):
        DeferredArray._get_view = get_view
        raise Interrupt
    x = cn.arange(6.0)
    DeferredArray._get_view = interrupted
    try:
        x[1:4]
    except Interrupt:
        print("raised")
    print(x[1:4].tolist())
    """
    assert output_of(_dedent(program)) == "raised\n[1.0, 2.0, 3.0]\n"


def test_an_exception_in_a_flush_that_legate_asked_for_is_raised() -> None:
    """Legate's own code has no use for it; Python goes on after it has returned."""
    program = """
    import legate.core as lc
    x = cn.zeros(4)
    window.flush("test")
    x += 1.0
    Native(1, True)
    try:
        lc.get_legate_runtime().issue_execution_fence(block=True)
        print("went on")
    except Interrupt:
        print("raised")
    print(x.tolist())
    """
    assert output_of(_dedent(program)) == f"raised\n{[1.0] * 4}\n"


def test_an_exception_in_a_flush_that_other_libraries_ask_for_is_raised() -> None:
    """They call Legate from C++: the exception waits until Python goes on."""
    program = """
    import legate_diffuse
    legate_diffuse.enable()
    import cupynumeric as cn
    import legate.core as lc
    from legate_diffuse import _native
    from legate_diffuse.interpose.window import window

    class Interrupt(Exception):
        pass

    def interrupt():
        raise Interrupt(3, "in the flush")

    x = cn.arange(1000.0)
    window.flush("test")
    _native.set_flush_callback(interrupt)
    _native.set_pending(True)
    try:
        lc.get_legate_runtime().issue_execution_fence(block=True)
        for _ in range(1000):
            pass
        print("went on")
    except Interrupt as error:
        print("raised", error)
    _native.set_flush_callback(lambda: window.flush("test"))
    print((x + 1.0)[2])
    """
    done = run_alone(program)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "raised (3, 'in the flush')\n3.0\n"


def test_an_exception_while_an_operation_is_planned_that_is_to_run_at_once() -> None:
    program = """
    make_plan = planner.make_plan
    def interrupted(*arguments):
        planner.make_plan = make_plan
        raise Interrupt
    x = cn.arange(4.0)
    x += 1.0
    planner.make_plan = interrupted
    try:
        cn.hypot(x, 0.0 * x, out=x)
    except Interrupt:
        print("raised")
    print(x.tolist())
    cn.hypot(x, 0.0 * x, out=x)
    x += 1.0
    counts = legate_diffuse.stats()
    print(x.tolist(), counts["failures"], counts["tasks_submitted"])
    """
    assert output_of(_dedent(program), **AT_ONCE) == (
        "raised\n[1.0, 2.0, 3.0, 4.0]\n[2.0, 3.0, 4.0, 5.0] 0 0\n"
    )


@pytest.mark.parametrize(
    ("use", "output"),
    [
        # it waits, and needs the elements as they were
        (
            "late.append(large[:4] * x)",
            "[0.0, 2.0, 6.0, 12.0] [-2.0, -4.0, -6.0, -8.0] 3.0\n",
        ),
        # NumPy shares the memory, and sees what comes then
        (
            "late.append(numpy.asarray(x)); large[:4] *= 2.0",
            "[-2.0, -4.0, -6.0, -8.0] [-2.0, -4.0, -6.0, -8.0] 6.0\n",
        ),
        (
            "late.append(cn.sort(x))",
            "[1.0, 2.0, 3.0, 4.0] [-2.0, -4.0, -6.0, -8.0] 3.0\n",
        ),
        (
            "late.append(float(x.sum())); x[1:] += x[:-1]",
            "10.0 [-2.0, -6.0, -10.0, -14.0] 3.0\n",
        ),
    ],
)
def test_a_finalizer_uses_what_an_operation_is_to_change_at_once(
    use: str, output: str
) -> None:
    program = f"""
    import numpy
    class Last:
        def __init__(self):
            self.cycle = self
        def __del__(self):
            {use}
    make_plan = planner.make_plan
    def collecting(*arguments):
        planner.make_plan = make_plan
        gc.collect()
        return make_plan(*arguments)
    late = []
    large, x = cn.arange(1000.0), cn.arange(4.0)
    x += 1.0
    Last()
    window.flush("test")
    planner.make_plan = collecting
    cn.copysign(x, -x, out=x)
    assert planner.make_plan is make_plan
    x *= 2.0
    print(numpy.asarray(late[0]).tolist(), x.tolist(), float(large[3]))
    """
    # the operation is to be planned
    assert output_of(_dedent(program), fresh=True, **AT_ONCE) == output


def _dedent(program: str) -> str:
    return program.replace("\n    ", "\n")
