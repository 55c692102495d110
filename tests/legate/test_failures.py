# SPDX-License-Identifier: Apache-2.0
"""Whatever fails in legate_diffuse, the program computes the right thing."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from process import run_alone, run_python

from legate_diffuse import startup

BEGIN = """
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
from legate_diffuse.interpose.window import window

calls = 0
original = None
def broken(*arguments, **options):
    global calls
    calls += 1
    raise RuntimeError("injected")
"""

# Operations on small arrays then wait until they are fused.
IN_LEGATE = {"LEGATE_DIFFUSE_SMALL_BYTES": "0"}

# Where a failure is injected: what the user is told, and how it is done.
STAGES = {
    "analysis": (
        "analysis",
        "import legate_diffuse.fusion.pipeline as m; m.group_window = broken",
    ),
    "liveness": (
        "analysis",
        "import legate_diffuse.fusion.pipeline as m; m.analyse_liveness = broken",
    ),
    "lowering": (
        "analysis",
        "import legate_diffuse.fusion.pipeline as m; m.lower_nest = broken",
    ),
    "compilation": (
        "compilation",
        "from legate_diffuse.codegen import Compiler; Compiler.compile = broken",
    ),
    "submission": (
        "submission",
        """
class Native:
    submit = submit_program = staticmethod(broken)
    def __getattr__(self, name):
        return getattr(native, name)
native, window.submitter.native = window.submitter.native, Native()
""",
    ),
}

# Statements whose order matters, in groups that are the same every time.
PROGRAM = """
x = cn.arange(8.0)
for _ in range(4):
    y = x * 2.0 + 1.0
    x[1:] += y[:-1]
    x = cn.where(x > 20.0, x - 10.0, x)
    y -= x
    print(x.__array__().tolist(), y.__array__().tolist())
"""
# The same, in which something has failed.
FAILED = PROGRAM + "if not calls:\n    print('nothing failed')\n"


def numpy_output() -> str:
    lines = []
    x = np.arange(8.0)
    for _ in range(4):
        y = x * 2.0 + 1.0
        x[1:] += y[:-1]
        x = np.where(x > 20.0, x - 10.0, x)
        y -= x
        lines.append(f"{x.tolist()} {y.tolist()}\n")
    return "".join(lines)


@pytest.mark.parametrize("stage", STAGES)
def test_a_failure_runs_the_original_tasks(stage: str) -> None:
    told, inject = STAGES[stage]
    after = "first = calls\n" + PROGRAM + "print(first > 0, calls == first)"
    # else no group is submitted once an array's memory is NumPy's, too
    settings = {"LEGATE_DIFFUSE_SMALL_BYTES": "0"} if stage == "submission" else {}
    done = run_alone(BEGIN + inject + PROGRAM + after, **settings)
    assert done.returncode == 0
    assert done.stderr == (
        f"legate_diffuse: {told} of a group of operations failed "
        "(RuntimeError: injected), so they run unfused\n"
    )
    # right every time, and what failed once was not tried again
    assert done.stdout == numpy_output() * 2 + "True True\n"


def test_a_failure_is_counted() -> None:
    report = "counts = legate_diffuse.stats()\nprint(counts['failures'] > 0)\n"
    done = run_alone(
        BEGIN + STAGES["lowering"][1] + "\nprint((cn.ones(4) * 2.0).sum())\n" + report
    )
    assert done.stdout == "8.0\nTrue\n"


def test_what_does_not_fail_stays_fused() -> None:
    inject = """
from legate_diffuse.codegen import Compiler
from legate_diffuse.kernel import print_kernel
original = Compiler.compile
def compile(self, kernel):
    if "exp" in print_kernel(kernel):
        broken()
    return original(self, kernel)
Compiler.compile = compile
"""
    program = """
x = cn.ones(4)
print(cn.exp(x * 0.0).sum())
print((x + 1.0).sum())
counts = legate_diffuse.stats()
print(counts["failures"], counts["groups"])
"""
    done = run_alone(BEGIN + inject + program, **IN_LEGATE)
    assert done.stdout == "4.0\n8.0\n1 1\n"


def test_warnings_as_errors_lose_no_work() -> None:
    warnings = "import warnings\nwarnings.simplefilter('error')\n"
    done = run_alone(BEGIN + STAGES["lowering"][1] + "\n" + warnings + FAILED)
    assert done.stdout == numpy_output()


@pytest.mark.parametrize("closed", ["sys.stderr.close()", "sys.stderr = None"])
def test_nobody_who_listens_loses_no_work(closed: str) -> None:
    done = run_alone(
        BEGIN + STAGES["lowering"][1] + f"\nimport sys\n{closed}\n" + FAILED
    )
    assert done.stdout == numpy_output()


def test_a_full_standard_error_loses_no_work() -> None:
    full = "\nimport sys\nsys.stderr = open('/dev/full', 'w', buffering=1)\n"
    done = run_alone(BEGIN + STAGES["lowering"][1] + full + FAILED)
    assert done.stdout == numpy_output()


INTERRUPTS = {
    "analysis": "import legate_diffuse.fusion.pipeline as m; at = m, 'group_window'",
    "compilation": "from legate_diffuse.codegen import Compiler; at = Compiler, "
    "'compile'",
    "preparation": "from legate_diffuse.stores.root import Root\n"
    "at = Root, 'materialize'",
}


@pytest.mark.parametrize("stage", INTERRUPTS)
def test_an_interrupt_loses_no_work(stage: str) -> None:
    inject = """
def interrupted(*arguments, **options):
    setattr(*at, original)
    raise KeyboardInterrupt
def interrupt():
    global original
    original = getattr(*at)
    setattr(*at, interrupted)
"""
    program = """
x = cn.zeros(8)
x += 1.0
x *= 3.0
interrupt()
try:
    window.flush("test")
except KeyboardInterrupt:
    print("interrupted")
x += 1.0
print(x.tolist())
"""
    done = run_alone(
        BEGIN + INTERRUPTS[stage] + inject + program, LEGATE_DIFFUSE_SMALL_BYTES="0"
    )
    assert done.stdout == f"interrupted\n{[4.0] * 8}\n"
    assert done.stderr == ""


# -- the cache of kernels ----------------------------------------------------------


SMALL = (
    BEGIN
    + """
print((cn.ones(8) * 2.0 + 1.0).tolist())
counts = legate_diffuse.stats()
print(counts["groups"], counts["kernels_compiled"], counts["kernel_disk_hits"])
"""
)
RIGHT = f"{[3.0] * 8}\n"


def test_kernels_are_found_on_disk(tmp_path: Path) -> None:
    cache = IN_LEGATE | {"LEGATE_DIFFUSE_CACHE_DIR": str(tmp_path / "cache")}
    # the orders of their sets differ
    assert run_alone(SMALL, **cache).stdout == RIGHT + "1 1 0\n"
    assert run_python(SMALL, **cache).stdout == RIGHT + "1 0 1\n"


def test_a_corrupted_cache_entry_is_compiled_again(tmp_path: Path) -> None:
    cache = IN_LEGATE | {"LEGATE_DIFFUSE_CACHE_DIR": str(tmp_path)}
    run_alone(SMALL, **cache)
    entries = {entry: entry.read_bytes() for entry in tmp_path.iterdir()}
    assert entries
    for content in (b"", b"garbage", b"\0" * 10_000, None):
        for entry, right in entries.items():
            entry.write_bytes(right[:-100] if content is None else content)
        done = run_alone(SMALL, **cache)
        assert (done.stdout, done.stderr) == (RIGHT + "1 1 0\n", ""), content
    assert run_alone(SMALL, **cache).stdout == RIGHT + "1 0 1\n"


def test_a_cache_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "a_file"
    file.write_text("")
    folder = str(file / "cache")  # a file is no folder, not even for root
    done = run_alone(SMALL, LEGATE_DIFFUSE_CACHE_DIR=folder, **IN_LEGATE)
    assert done.stdout == RIGHT + "1 1 0\n"
    assert done.stderr == (
        f"legate_diffuse: cannot keep compiled kernels in {folder} (Not a directory); "
        "set LEGATE_DIFFUSE_CACHE_DIR to a folder that can be written\n"
    )


# -- the native part ----------------------------------------------------------------


@pytest.mark.parametrize("library", ["net", "module", "missing module"])
def test_a_broken_native_library_is_one_sentence(tmp_path: Path, library: str) -> None:
    garbage = tmp_path / "garbage.so"
    garbage.write_bytes(b"not a library")
    inject = {
        "net": f"from legate_diffuse import startup; startup.NET = {str(garbage)!r}",
        "module": f"""
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import spec_from_loader
class Finder:
    @staticmethod
    def find_spec(name, *_):
        if name == "legate_diffuse._native":
            return spec_from_loader(name, ExtensionFileLoader(name, {str(garbage)!r}))
sys.meta_path.insert(0, Finder)
""",
        "missing module": "import sys; sys.modules['legate_diffuse._native'] = None",
    }[library]
    done = run_alone(
        f"""
{inject}
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
import legate.core as lc
print((cn.ones(8) * 2.0 + 1.0).tolist())
print(legate_diffuse.stats()["tasks_seen"], lc.LogicalStore.__module__)
"""
    )
    assert done.stdout == RIGHT + "0 legate.core._lib.data.logical_store\n"
    assert done.returncode == 0
    assert done.stderr.startswith(
        "legate_diffuse: its native library cannot be used, so the program runs "
        "unfused; reinstall legate-diffuse in this environment ("
    )
    assert len(done.stderr.splitlines()) == 1


# Symbols that the net defines in Legate's place, and that it calls, beside what stands
# for them where Legate lacks them. Their hashes are equal, or the net would not load.
LACKING = {
    "defined": ("19issue_mapping_fenceEv", "19issue_mapping_gDnceEv"),
    "called": ("_ZN6legate5Scope8priorityEv", "_ZN6legate5Scope8qQiorityEv"),
}


@pytest.mark.parametrize(("known", "lacking"), LACKING.values(), ids=LACKING)
def test_a_symbol_that_legate_lacks_is_named(
    tmp_path: Path, known: str, lacking: str
) -> None:
    """Without the net's window scopes and fences are Legate's own."""
    content = Path(startup._find(startup.NET)).read_bytes()
    assert known.encode() in content
    net = tmp_path / "net.so"
    net.write_bytes(content.replace(known.encode(), lacking.encode()))
    done = run_alone(
        f"""
from legate_diffuse import startup
startup.NET = {str(net)!r}
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
import legate.core as lc
with lc.Scope(priority=3):
    x = cn.ones(8) * 2.0
lc.get_legate_runtime().issue_mapping_fence()
print((x + 1.0).tolist())
print(legate_diffuse.stats()["tasks_seen"], lc.LogicalStore.__module__)
"""
    )
    assert done.stdout == RIGHT + "0 legate.core._lib.data.logical_store\n"
    assert done.returncode == 0
    assert done.stderr.startswith(
        "legate_diffuse: its native library cannot be used, so the program runs "
        "unfused; "
        "reinstall legate-diffuse in this environment (liblegate has no symbol _ZN6"
    )
    assert done.stderr.endswith(f"{lacking})\n")


def test_what_legate_cannot_do_either_is_legates_own_error() -> None:
    program = "import cupynumeric as cn\ncn.ones(4)[::-1]\n"
    fused = run_alone(program, LEGATE_DIFFUSE="1")
    plain = run_alone(program)
    assert fused.returncode == plain.returncode == 1
    assert fused.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]


@pytest.mark.skipif(os.cpu_count() == 1, reason="needs two processors")
def test_inline_launches_are_refused_in_one_line() -> None:
    done = run_alone(
        "import cupynumeric as cn\nprint((cn.ones(8) * 2.0 + 1.0).tolist())",
        LEGATE_DIFFUSE="1",
        LEGATE_CONFIG="--cpus 1 --gpus 0 --sysmem 500 --inline-task-launch",
    )
    assert done.stdout == RIGHT
    assert done.stderr == (
        "legate_diffuse: --inline-task-launch is not supported, so the program runs "
        "unfused\n"
    )
