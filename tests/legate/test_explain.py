# SPDX-License-Identifier: Apache-2.0
"""Explanations name the user's lines, the tasks, and why there are not fewer."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
from process import DIFFUSE, LEGATE, LEGATE_OPTIONS, run, run_file, run_forked

PROGRAM = """\
import sys
import cupynumeric as cn
x = cn.arange(24.0).reshape(3, 8)
for _ in range(3):
    y = 2.0 * x[1:, :] - 1.0
    x[1:, :] = y
    print(float(x.sum()))
print("own output", *sys.argv[1:])
"""

# Two windows that depend on the number of processors in nothing but their tasks.
ONE = {
    "LEGATE_CONFIG": " ".join(LEGATE_OPTIONS),
    # small arrays stand for large ones
    "LEGATE_DIFFUSE_SMALL_BYTES": "0",
}
TWO = ONE | {
    "LEGATE_CONFIG": ONE["LEGATE_CONFIG"].replace("1", "2", 1),
    "LEGATE_DIFFUSE_THREADS": "1",
    "LEGATE_TEST": "1",
}


AT_ONCE = """\
import cupynumeric as cn
x = cn.ones(20)
def step(x):
    return cn.sqrt(x + 1.0)
for _ in range(30):
    x = step(x)
    x[3] = x[2]
    x *= 2.0
print(float(x.sum()))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "app.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize("command", ["explain", "-m"])
def test_the_explanation_follows_the_programs_own_output(
    program: Path, command: str
) -> None:
    if command == "explain" and not Path(DIFFUSE).exists():
        pytest.skip("the package's commands are not installed")
    module = (sys.executable, "-m", "legate_diffuse")
    start = (DIFFUSE,) if command == "explain" else module
    done = run(*start, "explain", str(program), "a", "b", **ONE)
    assert done.returncode == 0
    own, _, explanation = done.stdout.partition("What legate_diffuse makes of ")
    assert own.splitlines()[-1] == "own output a b"
    assert explanation.startswith("app.py a b\n")
    assert re.search(r"^In all: \d+ operations became \d+ tasks in ", explanation, re.M)


def test_options_of_the_launcher_come_before_the_program(program: Path) -> None:
    done = run_forked(
        DIFFUSE,
        "explain",
        *LEGATE_OPTIONS,
        str(program),
        "--cpus",
        LEGATE_DIFFUSE_SMALL_BYTES="0",
    )
    assert done.returncode == 0
    own, _, explanation = done.stdout.partition("What legate_diffuse makes of ")
    assert own.splitlines()[-1] == "own output --cpus"
    assert re.search(r"^In all: \d+ operations became \d+ tasks in ", explanation, re.M)


def test_the_launcher_has_a_flag(program: Path) -> None:
    target = program.parent / "explained.txt"
    done = run(
        LEGATE,
        "--diffuse-explain",
        str(target),
        *LEGATE_OPTIONS,
        str(program),
        LEGATE_DIFFUSE_SMALL_BYTES="0",
    )
    assert done.returncode == 0
    assert target.read_text().splitlines()[-1].endswith("tasks")


def test_a_file_names_operations_lines_and_reasons(program: Path) -> None:
    target = program.parent / "explained.txt"
    done = run_file(
        program,
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_EXPLAIN=str(target),
        **TWO,
    )
    assert done.returncode == 0
    assert "Window" not in done.stdout + done.stderr
    text = target.read_text()
    # the first iteration is another window: it makes the array
    again = text.split("Window 2: ")[1].split("Totals")[0]
    assert f"It ends where the program reads a value ({program}:7)." in again
    assert f"{program}:5  a1 = multiply(a2[1:3, 0:8]; " in again
    assert f"{program}:6  a2[1:3, 0:8] = copy(" in again
    assert "Task 2: 2 loops one after the other over tiles, on all processors" in again
    assert "loop  1 over 2 x 8: operations 1-3" in again
    assert "loop  2 over 3 x 8: operations 4-5" in again
    assert "not with the loop before: its loop has another shape" in again
    assert "arrays moved to fresh memory" in again
    totals = text.split("Totals")[1].splitlines()
    assert totals[3].split()[:2] == ["2", "2"]


def test_one_processor_runs_loops_one_after_the_other(program: Path) -> None:
    target = program.parent / "explained.txt"
    run_file(
        program,
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_EXPLAIN=str(target),
        **ONE,
    )
    text = target.read_text()
    assert "Task 1: 2 loops one after the other over whole arrays" in text
    assert "loop  2 over 3 x 8: operations " in text
    assert "not with the loop before: its loop has another shape" in text


def test_operations_that_run_at_once_are_told_by_their_lines(tmp_path: Path) -> None:
    program, target = tmp_path / "app.py", tmp_path / "explained.txt"
    program.write_text(AT_ONCE)
    done = run_file(program, LEGATE_DIFFUSE="1", LEGATE_DIFFUSE_EXPLAIN=str(target))
    assert done.returncode == 0, done.stderr
    totals = target.read_text().split("Totals")[1]
    assert "0 operations became 0 tasks" in totals
    told = totals.split("at once in the program's thread\n")[1].splitlines()
    found = {re.sub(r".*app\.py:", "", line) for line in told}
    assert {line.split("  ")[0] for line in found} == {"2", "4", "7", "8", "9"}
    # what a function of a library does counts where the program calls it
    for line in ("4  add 30 times", "4  sqrt 30 times", "7  read 30 times"):
        assert line in found
    assert {"7  write 30 times", "8  multiply 30 times", "9  sum once"} <= found


def test_a_file_that_cannot_be_written_is_one_clear_line(program: Path) -> None:
    done = run_file(
        program,
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_EXPLAIN="/missing/folder/file",
        **ONE,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "legate_diffuse: the explanation cannot be written to /missing/folder/file: "
        "No such file or directory\n"
    )


def test_a_full_disk_is_one_clear_line(program: Path) -> None:
    plain = run_file(program, LEGATE_DIFFUSE="1", **ONE)
    done = run_file(
        program,
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_EXPLAIN="/dev/full",
        **ONE,
    )
    assert (done.returncode, done.stdout) == (0, plain.stdout)
    assert done.stderr == (
        "legate_diffuse: the explanation cannot be written: "
        "[Errno 28] No space left on device\n"
    )


def test_one_turns_the_explanation_on(program: Path) -> None:
    """As it does with the other variables; a file of that name is ./1."""
    done = run_file(
        program,
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_EXPLAIN="1",
        **ONE,
    )
    assert done.returncode == 0
    assert "What legate_diffuse makes of app.py" in done.stdout
    assert not Path("1").exists()


def test_an_explanation_replaces_an_explanation_and_nothing_else(
    program: Path, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    options = {"LEGATE_DIFFUSE": "1", "LEGATE_DIFFUSE_EXPLAIN": str(file), **ONE}
    assert run_file(program, **options).returncode == 0
    first = file.read_text()
    file.write_text(first + "more\n")
    assert run_file(program, **options).returncode == 0
    assert file.read_text() == first
    file.write_text("a program's results\n")
    done = run_file(program, **options)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"legate_diffuse: {file} is no explanation, and would be overwritten; name "
        "another file in LEGATE_DIFFUSE_EXPLAIN, or remove this one\n"
    )
    assert file.read_text() == "a program's results\n"


def test_a_name_that_is_not_utf8_is_escaped(tmp_path: Path) -> None:
    program = os.fsencode(tmp_path) + b"/app\xff.py"
    Path(os.fsdecode(program)).write_text(PROGRAM)
    file = tmp_path / "file"
    done = run_file(
        os.fsdecode(program),
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_EXPLAIN=str(file),
        LEGATE_DIFFUSE_CHECK="1",
        **ONE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("own output\n")
    assert "app\\udcff.py:5" in file.read_text()


def test_there_is_nothing_to_explain() -> None:
    for arguments, message in (
        (("explain",), "a program is missing"),
        (("explain", "missing.py"), "there is no file missing.py"),
        (("explain", "--cpus", "2"), "a program is missing"),
        (("explain", "--cpus", "2", "missing.py"), "there is no file missing.py"),
    ):
        done = run_forked(DIFFUSE, *arguments)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.startswith(f"legate_diffuse: {message}\nusage: ")


def test_a_failed_analysis_is_explained(program: Path) -> None:
    program.write_text(
        "import legate_diffuse.fusion.pipeline as passes\n"
        "passes.group_window = None\n" + PROGRAM
    )
    done = run_forked(DIFFUSE, "explain", "--all", str(program), **ONE)
    assert done.returncode == 0
    assert "Its analysis failed, so all operations run as they were" in done.stdout


DIFFUSION = """\
import cupynumeric as cn
u = cn.zeros((100, 100))
u[50, 50] = 1.0
for _ in range(1000):
    total = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    u[1:-1, 1:-1] += 0.1 * (total - 4.0 * u[1:-1, 1:-1])
print(float(u.sum()))
"""


def test_a_thousand_steps_are_told_in_sixty_lines(tmp_path: Path) -> None:
    program, data = tmp_path / "diffusion.py", tmp_path / "explained.json"
    program.write_text(DIFFUSION)
    done = run_forked(DIFFUSE, "explain", str(program), **ONE)
    _, title, explanation = done.stdout.partition("What legate_diffuse makes of ")
    assert title
    lines = explanation.splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 88
    assert re.match(r"An iteration: 7 operations became 0\.\d+ tasks, with ", lines[2])
    assert any(line.startswith("  diffusion.py:5  3 operations") for line in lines)
    # all of it tells one iteration with a count
    command = DIFFUSE, "explain"
    every = run_forked(*command, "--all", str(program), **ONE).stdout
    assert re.search(r"^ +\d+-\d+  the same 7 operations, \d+ times", every, re.M)
    assert every.count("u[1:-1, 1:-1]") + every.count(" = add(") < 100
    # the same as data
    run_forked(*command, "--json", str(data), str(program), **ONE)
    facts = json.loads(data.read_text())
    assert facts["iteration"]["operations"] == 7
    assert facts["tasks"] < facts["operations"] / 50
    # which replaces itself
    again = run_forked(*command, "--json", str(data), str(program), **ONE)
    assert again.returncode == 0
    assert json.loads(data.read_text())["tasks"] == facts["tasks"]
