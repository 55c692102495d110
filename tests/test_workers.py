# SPDX-License-Identifier: Apache-2.0
"""A worker runs programs as processes would, and notices what they leave."""

from __future__ import annotations

import os
from typing import Any

import pytest
import workers
from workers import Done, run_in_worker

ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("LEGATE_", "CUPYNUMERIC_"))
} | {
    "LEGATE_CONFIG": "--cpus 1 --gpus 0 --sysmem 500",
    "LEGATE_DIFFUSE": "1",
    "LEGATE_DIFFUSE_DRIVER_STUB": "1",
    "LEGATE_DIFFUSE_SYNC_COMPILE": "1",
    "LEGATE_DIFFUSE_SMALL_BYTES": "0",
}


def run(program: str, *arguments: str) -> Done:
    return run_in_worker(program, *arguments, environment=ENVIRONMENT)


def test_programs_share_a_process_and_no_names() -> None:
    which = "import os\nprint(os.getpid(), __name__, 'kept' in globals())\nkept = 1\n"
    first, second = run(which), run(which)
    assert first.stdout == second.stdout
    assert first.stdout.endswith(" __main__ False\n")


def test_a_program_counts_for_itself() -> None:
    program = """
    import sys
    import cupynumeric as cn
    import legate_diffuse
    x = cn.arange(10.0) * 2.0
    print(float(x[3]), legate_diffuse.stats()["groups"], *sys.argv[1:])
    y = x + 1.0
    """
    for argument in ("a", "b"):
        done = run(program, argument)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"6.0 1 {argument}\n"
        # what is pending at the end is done
        assert done.counters["groups"] == 2


def test_an_error_is_the_programs_own() -> None:
    done = run("def f():\n    raise LookupError('mine')\nf()\n")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "Traceback (most recent call last):",
        '  File "<string>", line 3, in <module>',
        '  File "<string>", line 2, in f',
        "LookupError: mine",
    ]
    done = run("import sys\nsys.exit('a message')")
    assert (done.returncode, done.stderr) == (1, "a message\n")
    assert run("raise SystemExit(7)").returncode == 7


def test_what_the_process_prints_itself_belongs_to_the_program() -> None:
    done = run("import os\nos.write(1, b'out\\n')\nos.write(2, b'err\\n')")
    assert (done.stdout, done.stderr) == ("out\n", "err\n")


LEAVE = {
    "$LEFT": "import os\nos.environ['LEFT'] = '1'",
    "the handler of SIGUSR1": "import signal\n"
    "signal.signal(signal.SIGUSR1, lambda *_: None)",
    "legate_diffuse.launch.planner.make_plan": "import "
    "legate_diffuse.launch.planner as m\nm.make_plan = lambda *_: None",
    "what legate_diffuse.codegen.compiler.Compiler defines": "from "
    "legate_diffuse.codegen import Compiler\nCompiler.compile = lambda *_: None",
    "window.queue.native": "from legate_diffuse.interpose.window import window\n"
    "window.queue.native = None",
    "arrays": "import sys\nimport cupynumeric as cn\n"
    "sys.left = cn.ones(3) + 1.0\nfloat(sys.left[0])",
    "whether cycles are collected": "import gc\ngc.disable()",
    "threads": "import threading\n"
    "threading.Thread(target=threading.Event().wait, daemon=True).start()",
}


@pytest.mark.parametrize("what", LEAVE)
def test_what_a_program_leaves_is_a_failure(what: str) -> None:
    which = "import os\nprint(os.getpid())"
    before = run(which).stdout
    with pytest.raises(pytest.fail.Exception, match="leaves the process") as failure:
        run(LEAVE[what])
    assert what in str(failure.value)
    assert run(which).stdout != before


def test_warnings_are_as_they_were() -> None:
    run("import warnings\nwarnings.simplefilter('error')")
    assert "error" not in run("import warnings\nprint(warnings.filters[0])").stdout


def test_a_process_that_ends_is_replaced() -> None:
    done = run("import os\nprint('so far', flush=True)\nos.abort()")
    assert (done.returncode, done.stdout) == (-6, "so far\n")
    assert done.counters == {}
    assert run("print('next')").stdout == "next\n"


def test_a_failure_tells_what_programs_do_alone(monkeypatch: Any) -> None:
    monkeypatch.setattr(workers, "_of_this_test", [])
    run("import numpy\nprint(1)\nnumpy.seen_by_a_worker = 1")
    run("import numpy\nprint(hasattr(numpy, 'seen_by_a_worker'))")
    (_, first), (_, second) = workers.programs_alone()
    assert first.endswith("It does the same in a process of its own.\n")
    assert "True\n\nIn a process of its own:\nstatus 0\nFalse\n" in second
