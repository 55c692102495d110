# SPDX-License-Identifier: Apache-2.0
"""How a program ends: its work is done, and its own error is what one sees."""

from __future__ import annotations

import pytest
from process import LEGATE, LEGATE_OPTIONS, run, run_alone, run_python
from tiers import some

# Runs after everything that the libraries do at exit.
AT_THE_END = """
import atexit, legate_diffuse
@atexit.register
def report():
    counts = legate_diffuse.stats()
    print("groups", counts["groups"], "flushes", counts["flushes"])
"""
# Operations on small arrays would run at once.
IN_LEGATE = {"LEGATE_DIFFUSE_SMALL_BYTES": "0"}

PENDING = AT_THE_END + "import cupynumeric as cn\nx = cn.ones(10) * 2.0 + 1.0\n"
DONE = "groups 1 flushes {'shutdown': 1}\n"


def test_pending_work_is_done_at_exit() -> None:
    done = run_python(PENDING, LEGATE_DIFFUSE="1", **IN_LEGATE)
    assert (done.stdout, done.stderr, done.returncode) == (DONE, "", 0)


@pytest.mark.parametrize("code", some(["3", "0", "'a message'"], 2))
def test_exit_codes_are_kept(code: str) -> None:
    program = PENDING + f"import sys\nsys.exit({code})"
    fused = run_alone(program, LEGATE_DIFFUSE="1", **IN_LEGATE)
    plain = run_alone(program)
    assert fused.returncode == plain.returncode
    assert fused.stderr == plain.stderr
    assert fused.stdout == DONE


def test_an_exception_shows_the_programs_own_traceback() -> None:
    program = PENDING + "def f():\n    raise LookupError('mine')\nf()\n"
    fused = run_alone(program, LEGATE_DIFFUSE="1", **IN_LEGATE)
    plain = run_alone(program)
    assert fused.returncode == plain.returncode == 1
    assert fused.stderr == plain.stderr
    assert fused.stderr.endswith("LookupError: mine\n")
    assert fused.stdout == DONE


def test_an_exception_of_a_task_keeps_its_type_and_the_programs_traceback() -> None:
    program = PENDING + "y = x + 1.0\ncn.linalg.cholesky(-cn.eye(4))\n"
    fused = run_alone(program, LEGATE_DIFFUSE="1", **IN_LEGATE)
    plain = run_alone(program)
    assert fused.returncode == plain.returncode == 1
    assert fused.stderr.splitlines()[:2] == plain.stderr.splitlines()[:2]
    assert fused.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]
    assert "LinAlgError" in fused.stderr


def test_the_launcher_passes_exit_codes_on(tmp_path: object) -> None:
    path = f"{tmp_path}/program.py"
    with open(path, "w") as file:
        file.write(PENDING + "import sys\nsys.exit(5)\n")
    done = run(LEGATE, "--diffuse", *LEGATE_OPTIONS, path, **IN_LEGATE)
    assert (done.stdout, done.returncode) == (DONE, 5)


def test_shutdown_callbacks_can_still_compute() -> None:
    done = run_alone(
        """
        import cupynumeric as cn
        from legate.core import get_legate_runtime
        x = cn.ones(10) * 2.0
        get_legate_runtime().add_shutdown_callback(lambda: print((x + 1.0).sum()))
        """,
        LEGATE_DIFFUSE="1",
        **IN_LEGATE,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("30.0\n", "", 0)


def test_work_that_a_shutdown_callback_leaves_is_done() -> None:
    program = PENDING + (
        "from legate.core import get_legate_runtime\n"
        "def late():\n    global x\n    x = x + 1.0\n"
        "get_legate_runtime().add_shutdown_callback(late)\n"
    )
    done = run_alone(program, LEGATE_DIFFUSE="1", **IN_LEGATE)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.startswith("groups 2 ")


def test_arrays_may_outlive_the_runtime() -> None:
    done = run_alone(
        """
        import sys
        import cupynumeric as cn
        sys.kept = cn.ones(10) * 2.0
        sys.kept_view = sys.kept[2:5] + 1.0
        """,
        LEGATE_DIFFUSE="1",
        **IN_LEGATE,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_an_explicit_finish_does_pending_work() -> None:
    program = PENDING + (
        "from legate.core import get_legate_runtime\n"
        "get_legate_runtime().finish()\nprint('finished')\n"
    )
    fused = run_alone(program, LEGATE_DIFFUSE="1", **IN_LEGATE)
    plain = run_alone(program)
    assert fused.returncode == plain.returncode
    assert fused.stdout.startswith("finished\ngroups 1 ")
