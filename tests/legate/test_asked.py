# SPDX-License-Identifier: Apache-2.0
"""What a person asks at a shell: info, the cache, logs, and a report."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest
import window_reader
from kernel.kernel_reader import parse_kernel
from process import DIFFUSE, LEGATE_OPTIONS, run, run_file, run_forked

import legate_diffuse
from legate_diffuse.kernel.text import print_kernel

# No array lives in the process, so that there are windows.
WINDOWS = {"LEGATE_DIFFUSE_SMALL_BYTES": "0"}
SECRET = "1234.5678"


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "private_name.py"
    path.write_text(
        "import cupynumeric as cn\n"
        f"x = cn.sqrt(cn.full(100, {SECRET}) * 2.0)\n"
        "y = cn.sort(x)\n"
        "print('private output', float(y[3]))\n"
    )
    return str(path)


def ask(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run_forked(DIFFUSE, *arguments, **environment)


def ask_python(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run_file(program, LEGATE_DIFFUSE="1", **environment)


# -- info -------------------------------------------------------------------------
def test_its_own_version() -> None:
    done = run(DIFFUSE, "--version")
    assert done.stdout == f"legate-diffuse {legate_diffuse.__version__}\n"


def test_info_as_data(tmp_path: Path) -> None:
    done = ask(
        "info",
        "--json",
        LEGATE_DIFFUSE_THREADS="1",
        LEGATE_DIFFUSE_STAT="1",
        LEGATE_DIFFUSE_CACHE_DIR=str(tmp_path / "cache"),
    )
    facts = json.loads(done.stdout)
    assert facts["version"] == legate_diffuse.__version__
    assert facts["packages"]["Legate"]["version"] == version("legate")
    # a wheel is for one series of Legate
    supported = set(facts["packages"]["Legate"]["supported"].split(","))
    assert supported in ({">=26.1", "<26.7"}, {"==26.6.*"})
    assert facts["switch"]["on"] is False
    assert facts["fusion"] == {
        "works": True,
        "shortcuts_off": [],
        "tasks_off": None,
        "why": "",
    }
    assert facts["target"]["vector_bytes"] in (16, 32, 64)
    assert facts["cache"]["folder"] == str(tmp_path / "cache")
    assert (facts["cache"]["entries"], facts["cache"]["used"]) == (0, True)
    assert {"cupynumeric", "legate.sparse"} <= set(facts["libraries"])
    assert facts["variables"]["LEGATE_DIFFUSE_THREADS"] == "1"
    assert facts["unknown_variables"] == [
        "there is no variable LEGATE_DIFFUSE_STAT, so it has no effect; did you mean "
        "LEGATE_DIFFUSE_STATS?"
    ]


def test_info_tests_each_form_of_a_task(tmp_path: Path) -> None:
    folder = str(tmp_path / "cache")
    done = ask("info", "--self-test", "--json", LEGATE_DIFFUSE_CACHE_DIR=folder)
    assert json.loads(done.stdout)["fusion"]["tasks_off"] == []
    done = ask("info", "--self-test", LEGATE_DIFFUSE_CACHE="0")
    assert "Tasks off        none (of those that were tested)\n" in done.stdout


def test_info_says_why_fusion_does_not_work() -> None:
    done = ask("info", LEGATE_USE_VERSION="26.8.0", LEGATE_DIFFUSE="1")
    assert "Switch           on: LEGATE_DIFFUSE=1\n" in done.stdout
    assert (
        "Fusion           does not work: Legate 26.8.0 was not tested with it, so the "
        "program runs unfused; install legate>=26.1,<26.7\n"
    ) in done.stdout


def test_info_says_what_a_variable_is_not() -> None:
    done = ask("info", LEGATE_DIFFUSE="maybe", LEGATE_DIFFUSE_CACHE_LIMIT="few")
    assert done.returncode == 0
    assert "off: LEGATE_DIFFUSE=maybe is not understood" in done.stdout
    assert "not used: LEGATE_DIFFUSE_CACHE_LIMIT=few is not understood" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["info", "--xml"], "info takes --json and --self-test, and not --xml"),
        (["cache", "sweep"], "cache takes list or clear, and not sweep"),
        (["report", "--output"], "--output needs the name of a file that ends in .zip"),
        (["report"], "a program is missing"),
        (["report", "missing.py"], "there is no file missing.py"),
        (["explain", "--html", "x.txt"], "--html needs the name of a file that ends "),
        (["inf"], "there is no file inf"),
    ],
)
def test_what_is_not_understood_is_one_sentence(
    arguments: list[str], reason: str
) -> None:
    done = ask(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    first, usage = done.stderr.splitlines()[:2]
    assert first.startswith(f"legate_diffuse: {reason}")
    assert usage.startswith("usage: ")


# -- the cache --------------------------------------------------------------------
def test_the_cache_is_listed_and_cleared(program: str, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    where = {"LEGATE_DIFFUSE_CACHE_DIR": str(folder)}
    assert ask("cache", **where).stdout == (
        f"0 compiled kernels of 0 B, at most 268 MB, in {folder}\n"
    )
    ask_python(program, **where, **WINDOWS)
    kept = len([*folder.glob("*.kernel")])
    *entries, total = ask("cache", "list", **where).stdout.splitlines()
    assert len(entries) == kept > 0
    assert total.startswith(f"{kept} compiled kernel")
    pattern = r"[0-9a-f]{32} +[\d,]+ bytes  used \d{4}-\d\d-\d\d \d\d:\d\d"
    assert all(re.fullmatch(pattern, line) for line in entries)
    done = ask("cache", "clear", **where)
    assert done.stdout.startswith(f"{kept} compiled kernel")
    assert [*folder.glob("*.kernel")] == []


def test_a_folder_that_is_not_the_caches_is_not_cleared(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    (tmp_path / "12.kernel").write_text("mine")
    done = ask("cache", "clear", LEGATE_DIFFUSE_CACHE_DIR=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == (
        f"legate_diffuse: the cache in {tmp_path}: other users may write to it (see "
        "chmod go-w)\n"
    )
    assert (tmp_path / "12.kernel").exists()


def test_nothing_is_kept_if_the_cache_is_off(program: str, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    where = {"LEGATE_DIFFUSE_CACHE_DIR": str(folder), "LEGATE_DIFFUSE_CACHE": "0"}
    done = ask_python(program, **where, **WINDOWS, LEGATE_DIFFUSE_LOG="compile")
    assert not folder.exists()
    assert done.stderr.count(" ms, as the cache on disk is off\n") >= 1


# -- logs -------------------------------------------------------------------------
def logged(text: str, topic: str) -> list[str]:
    start = re.compile(rf"\d\d:\d\d:\d\d\.\d+ legate_diffuse\.{topic}: ")
    return [start.sub("", line) for line in text.splitlines() if start.match(line)]


def test_the_log_tells_what_was_compiled_and_why(program: str, tmp_path: Path) -> None:
    where = {"LEGATE_DIFFUSE_CACHE_DIR": str(tmp_path / "cache")} | WINDOWS
    absent = "the cache folder has none for this code, processor and LLVM"
    first = ask_python(program, **where, LEGATE_DIFFUSE_LOG="compile")
    kernels = [
        line for line in logged(first.stderr, "compile") if "sqrt float64" in line
    ]
    pattern = rf"compiled \w+ \(.*sqrt float64\) in [\d.]+ ms, as {absent}"
    assert [bool(re.fullmatch(pattern, line)) for line in kernels] == [True]
    for level, expected in (("compile", 0), ("compile:debug", 1)):
        again = ask_python(program, **where, LEGATE_DIFFUSE_LOG=level)
        found = [
            line for line in logged(again.stderr, "compile") if "sqrt float64" in line
        ]
        assert len(found) == expected
        assert all(" from disk in " in line for line in found)
    (entry, *_) = sorted((tmp_path / "cache").glob("*.kernel"))
    for entry in (tmp_path / "cache").glob("*.kernel"):
        entry.write_bytes(b"damaged")
    last = ask_python(program, **where, LEGATE_DIFFUSE_LOG="compile")
    assert " is not what was stored there" in last.stderr


def test_the_log_tells_of_windows_and_of_what_runs_as_it_was(program: str) -> None:
    done = ask_python(program, LEGATE_DIFFUSE_LOG="window, fallback", **WINDOWS)
    (window,) = logged(done.stderr, "window")
    assert re.fullmatch(
        r"window 1: \d operations became \d tasks, planned in [\d.]+ ms; it ends where "
        "the program reads a value",
        window,
    )
    assert "sort runs as it was submitted: no kernel is known for this operation" in (
        "\n".join(logged(done.stderr, "fallback"))
    )


def test_a_log_has_a_file_of_its_own(program: str, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("kept\n")
    for _ in range(2):
        done = ask_python(
            program,
            LEGATE_DIFFUSE_LOG="window",
            LEGATE_DIFFUSE_LOG_FILE=str(log),
            LEGATE_DIFFUSE_STATS="1",
            LEGATE_DIFFUSE_DUMP="decisions",
            **WINDOWS,
        )
        assert done.stderr == ""
    text = log.read_text()
    assert text.startswith("kept\n")
    assert len(logged(text, "window")) == 2
    assert text.count("legate_diffuse statistics:\n") == 2
    assert text.count(" carried; ") == 2


def test_each_rank_has_a_file(program: str, tmp_path: Path) -> None:
    ask_python(
        program,
        LEGATE_DIFFUSE_LOG="window",
        LEGATE_DIFFUSE_LOG_FILE=str(tmp_path / "log"),
        # as the launcher of a rank sets it
        PMI_RANK="3",
        **WINDOWS,
    )
    (line,) = (tmp_path / "log.3").read_text().splitlines()
    assert "legate_diffuse.window on rank 3: window 1" in line


def test_a_log_that_cannot_be_written_is_one_sentence(program: str) -> None:
    done = ask_python(
        program,
        LEGATE_DIFFUSE_LOG="window",
        LEGATE_DIFFUSE_LOG_FILE="/missing/log",
    )
    assert done.returncode == 1
    assert done.stderr == (
        "legate_diffuse: LEGATE_DIFFUSE_LOG_FILE=/missing/log cannot be written: No "
        "such file or directory\n"
    )


def test_a_kernels_code_is_printed_whether_it_is_on_disk_or_not(
    program: str, tmp_path: Path
) -> None:
    for _ in range(2):
        done = ask_python(
            program,
            LEGATE_DIFFUSE_DUMP="llvm,asm",
            LEGATE_DIFFUSE_CACHE_DIR=str(tmp_path / "cache"),
            **WINDOWS,
        )
        titles = re.findall(r"^# (\w+) as (.+)$", done.stderr, re.MULTILINE)
        assert {how for _, how in titles} == {"LLVM assembly", "machine code"}
        name = titles[0][0]
        assert re.search(rf"^@{name} = ", done.stderr, re.MULTILINE)
        assert re.search(rf"^\s*\.globl\s+{name}$", done.stderr, re.MULTILINE)


def test_a_variable_that_does_not_exist_is_one_sentence(program: str) -> None:
    for switch in ("0", "1"):
        done = run_file(program, LEGATE_DIFFUSE=switch, LEGATE_DIFFUSE_THREAD="2")
        assert done.returncode == 0
        assert done.stderr == (
            "legate_diffuse: there is no variable LEGATE_DIFFUSE_THREAD, so it has no "
            "effect; did you mean LEGATE_DIFFUSE_THREADS?\n"
        )


def test_a_variable_that_does_not_exist_does_not_concern_other_programs() -> None:
    done = run(sys.executable, "-c", "print('fine')", LEGATE_DIFFUSE_THREAD="2")
    assert (done.stdout, done.stderr) == ("fine\n", "")


FAILS = {
    "analysis": "import legate_diffuse.fusion.pipeline as passes\n"
    "passes.group_window = None\n",
    "compilation": "import legate_diffuse.codegen.compiler as compiler\n"
    "compiler.routines_of = None\n",
}


@pytest.mark.parametrize("stage", FAILS)
def test_what_fails_is_logged_as_text_that_can_be_read_again(
    stage: str, tmp_path: Path
) -> None:
    program = tmp_path / "fails.py"
    program.write_text(
        FAILS[stage] + "import cupynumeric as cn\n"
        "x = cn.sqrt(cn.full(100, 2.0) * 2.0)\n"
        "print(float(x[3]))\n"
    )
    done = ask_python(str(program), LEGATE_DIFFUSE_LOG="fallback", **WINDOWS)
    assert done.stdout == "2.0\n"
    _, _, rest = done.stderr.partition(f"{stage} of a group failed: TypeError: ")
    text = re.split(r"^(?:legate_diffuse|\d\d:\d\d:)", rest, flags=re.MULTILINE)[0]
    text = text.partition("\n")[2].strip() + "\n"
    if stage == "analysis":
        window = window_reader.parse(text)
        assert "SQRT" in " ".join(task.kind.code for task in window.tasks)
    else:
        kernels = [f"{one.strip()}\n" for one in text.split("\n\n")]
        assert [print_kernel(parse_kernel(one)) for one in kernels] == kernels
        assert any(" = sqrt " in one for one in kernels)


# -- the report -------------------------------------------------------------------
def test_a_report_has_what_was_done_and_nothing_of_the_users(
    program: str, tmp_path: Path
) -> None:
    target = tmp_path / "bundle.zip"
    done = ask(
        "report",
        "--output",
        str(target),
        *LEGATE_OPTIONS,
        program,
        LEGATE_DIFFUSE_CACHE_DIR=str(tmp_path / "private_cache"),
        **WINDOWS,
    )
    assert done.returncode == 0
    assert done.stdout.startswith("private output")
    with ZipFile(target) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert set(files) == {"README.txt", "info.json", "status.txt", "log"}
    assert files["status.txt"] == "ended with 0\n"
    assert json.loads(files["info.json"])["fusion"]["works"] is True
    for part in ("# window\n", "# schedule\n", "window 1: ", "statistics:", "key "):
        assert part in files["log"]
    everything = "".join(files.values())
    for private in ("private", SECRET, "output", str(tmp_path)):
        assert private not in everything.replace("nor its output", "")


def test_a_report_replaces_no_file(program: str, tmp_path: Path) -> None:
    target = tmp_path / "bundle.zip"
    target.write_text("mine")
    done = ask("report", "--output", str(target), program)
    assert done.returncode == 1
    assert done.stderr == (
        f"legate_diffuse: the report cannot be written to {target}: File exists\n"
    )
    assert target.read_text() == "mine"


def test_a_report_says_how_a_program_failed(tmp_path: Path) -> None:
    program = tmp_path / "fails.py"
    program.write_text("raise SystemExit(5)")
    target = tmp_path / "bundle.zip"
    done = ask("report", "--output", str(target), str(program))
    assert done.returncode == 5
    with ZipFile(target) as archive:
        assert archive.read("status.txt") == b"ended with 5\n"
