# SPDX-License-Identifier: Apache-2.0
"""Every way to turn fusion on, to leave it off, and to ask for it wrongly."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from process import LEGATE, LEGATE_OPTIONS, REPORT, run, run_alone, run_python
from tiers import some

from legate_diffuse import settings
from legate_diffuse.codegen.target import host_target

CONFIG = {"LEGATE_CONFIG": " ".join(LEGATE_OPTIONS)}


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "legate_program.py"
    path.write_text(REPORT + "import sys\nprint(*sys.argv[1:])\n")
    return str(path)


@pytest.mark.parametrize("position", some([0, 2, len(LEGATE_OPTIONS)], 2))
def test_the_launchers_flag_works_anywhere_among_its_options(
    program: str, position: int
) -> None:
    options = list(LEGATE_OPTIONS)
    options.insert(position, "--diffuse")
    done = run(LEGATE, *options, program, "-x", "1")
    assert done.stdout == "fused\n-x 1\n"
    assert done.returncode == 0


def test_the_programs_own_arguments_are_its_own(program: str) -> None:
    done = run(LEGATE, *LEGATE_OPTIONS, program, "--diffuse", "--cpus", "7")
    assert done.stdout == "unfused\n--diffuse --cpus 7\n"


def test_the_launcher_runs_a_module(program: str) -> None:
    module = ("-m", Path(program).stem, "--diffuse")
    done = run(
        LEGATE, *LEGATE_OPTIONS, "--diffuse", *module, PYTHONPATH=python_path(program)
    )
    assert done.stdout == "fused\n--diffuse\n"


def python_path(program: str) -> str:
    return ":".join([str(Path(program).parent), *filter(None, sys.path)])


def test_the_launchers_help_shows_the_flag() -> None:
    done = run(LEGATE, "--help")
    assert "--diffuse" in done.stdout
    assert "LEGATE_DIFFUSE=1" in done.stdout


def test_the_variable_turns_it_on(program: str) -> None:
    direct = run(sys.executable, program, "-x", LEGATE_DIFFUSE="1", **CONFIG)
    assert direct.stdout == "fused\n-x\n"
    launched = run(LEGATE, *LEGATE_OPTIONS, program, "-x", LEGATE_DIFFUSE="1")
    assert launched.stdout == "fused\n-x\n"


def test_the_variable_leaves_it_off(program: str) -> None:
    done = run(sys.executable, program, "-x", LEGATE_DIFFUSE="0", **CONFIG)
    assert done.stdout == "unfused\n-x\n"


def test_values_of_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SWITCH", raising=False)
    assert settings.flag("SWITCH") is False
    for value, expected in {
        **dict.fromkeys(("1", "on", "True", "YES"), True),
        **dict.fromkeys(("", "0", "off", "False", "no"), False),
    }.items():
        monkeypatch.setenv("SWITCH", value)
        assert settings.flag("SWITCH") is expected
    monkeypatch.setenv("SWITCH", "0")
    assert settings.flag("SWITCH", default=True) is False
    for unset in (lambda: monkeypatch.setenv("SWITCH", ""), monkeypatch.undo):
        unset()
        assert settings.flag("SWITCH", default=True) is True
    monkeypatch.setenv("SWITCH", "2")
    with pytest.raises(ValueError, match="SWITCH=2 is not understood; use SWITCH=1"):
        settings.flag("SWITCH")


@pytest.mark.parametrize(
    "command", [(sys.executable, "-m", "legate_diffuse"), (LEGATE + "-diffuse",)]
)
def test_the_package_runs_a_program(program: str, command: tuple[str, ...]) -> None:
    done = run(*command, program, "--help", **CONFIG)
    assert done.stdout == "fused\n--help\n"
    assert done.returncode == 0


def test_the_package_runs_a_program_as_python_does(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("print('beside')")
    program = tmp_path / "program.py"
    program.write_text(
        "import beside, sys\nprint(__name__, __file__ == sys.argv[0])\nsys.exit(7)"
    )
    done = run(sys.executable, "-m", "legate_diffuse", str(program))
    assert done.stdout == "beside\n__main__ True\n"
    assert done.returncode == 7


def test_the_program_itself_turns_it_on() -> None:
    done = run_python("import legate_diffuse\nlegate_diffuse.enable()\n" + REPORT)
    assert done.stdout == "fused\n"


def test_turning_it_on_twice_is_once(program: str) -> None:
    twice = "import legate_diffuse\nlegate_diffuse.enable()\nlegate_diffuse.enable()\n"
    done = run_alone(twice + REPORT, LEGATE_DIFFUSE="1")
    assert done.stdout == "fused\n"
    done = run_alone(REPORT + twice, LEGATE_DIFFUSE="1")
    assert done.stdout == "fused\n"
    assert done.stderr == ""


def test_turning_it_on_too_late_is_an_error_that_says_so() -> None:
    done = run_alone(
        """
        import cupynumeric, legate_diffuse
        try:
            legate_diffuse.enable()
        except legate_diffuse.DiffuseError as error:
            print(error)
        """
    )
    assert done.stdout == (
        "legate_diffuse.enable() came too late: call it before cupynumeric or "
        "legate.core is imported\n"
    )


def test_off_means_off() -> None:
    done = run(
        sys.executable,
        "-c",
        "import sys\n"
        "print(*sorted(m for m in sys.modules if m.startswith('legate')))\n"
        "print(*(f for f in sys.meta_path if type(f).__module__ in sys.modules\n"
        "        and type(f).__module__.startswith('legate_diffuse')))",
        LEGATE_DIFFUSE_DRIVER_STUB="",
    )
    assert (
        done.stdout == "legate_diffuse legate_diffuse.boot legate_diffuse.settings\n\n"
    )


def test_on_imports_no_legate_before_the_program_does() -> None:
    done = run(
        sys.executable,
        "-c",
        "import sys\nprint(*(m for m in sys.modules if m.split('.')[0] == 'legate'))",
        LEGATE_DIFFUSE="1",
    )
    assert done.stdout == "\n"


def test_statistics_are_there_while_it_is_off() -> None:
    done = run(
        sys.executable,
        "-c",
        "import legate_diffuse as d; s = d.stats()\n"
        "print(s['groups'], s['tasks_seen'], s['flushes'])",
    )
    assert done.stdout == "0 0 {}\n"


def test_statistics_at_exit_count_the_last_flush() -> None:
    done = run_alone(
        "import cupynumeric as cn\nx = cn.ones(10) * 2.0",
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_STATS="1",
        LEGATE_DIFFUSE_SMALL_BYTES="0",
    )
    assert done.stderr.startswith("legate_diffuse statistics:\n")
    lines = [line.split(maxsplit=1) for line in done.stderr.splitlines()[1:]]
    shown = {line[0]: line[1] for line in lines}
    assert shown["groups"] == "1"
    assert shown["flushes"] == "shutdown 1"


def test_passes_are_printed() -> None:
    done = run_alone(
        "import cupynumeric as cn\nx = cn.ones(10) * 2.0\nprint(float(x[3]))",
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_DUMP="pass",
    )
    titles = [line for line in done.stderr.splitlines() if line.startswith("# ")]
    assert titles[:3] == ["# window", "# division", "# renaming"]
    assert titles[3:5] == ["# groups", "# launches"]
    assert done.stdout == "2.0\n"


def test_decisions_are_printed() -> None:
    done = run_alone(
        "import cupynumeric as cn\nx = cn.ones(10) * 2.0\nprint(float(x[3]))",
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_DUMP="decisions",
        LEGATE_DIFFUSE_SMALL_BYTES="0",
    )
    key, kernel = "[0-9a-f]{16}", "( [0-9a-f]{16})+"
    line = f"1 key {key} read: 3 operations, 0 carried; fused 0-1 . 2 as{kernel}\n"
    assert re.fullmatch(line, done.stderr), done.stderr
    assert done.stdout == "2.0\n"


MISTAKES = {
    "LEGATE_DIFFUSE": "legate_diffuse: LEGATE_DIFFUSE=maybe is not understood; use "
    "LEGATE_DIFFUSE=1 or LEGATE_DIFFUSE=0\n",
    "LEGATE_DIFFUSE_YIELD": "legate_diffuse: LEGATE_DIFFUSE_YIELD=maybe is not "
    "understood; use LEGATE_DIFFUSE_YIELD=1 or LEGATE_DIFFUSE_YIELD=0\n",
    "LEGATE_DIFFUSE_STATS": "legate_diffuse: LEGATE_DIFFUSE_STATS=maybe is not "
    "understood; use LEGATE_DIFFUSE_STATS=1 or LEGATE_DIFFUSE_STATS=0\n",
    "LEGATE_DIFFUSE_FAST_MATH": "legate_diffuse: LEGATE_DIFFUSE_FAST_MATH=maybe is "
    "not understood; use LEGATE_DIFFUSE_FAST_MATH=1 or LEGATE_DIFFUSE_FAST_MATH=0\n",
    "LEGATE_DIFFUSE_MATH": "legate_diffuse: LEGATE_DIFFUSE_MATH=maybe is not "
    "understood; use vector or libm\n",
    "LEGATE_DIFFUSE_DUMP": "legate_diffuse: LEGATE_DIFFUSE_DUMP=maybe is not "
    "understood; use one or several of pass, decisions, llvm, asm, with commas "
    "between them\n",
    "LEGATE_DIFFUSE_LOG": "legate_diffuse: LEGATE_DIFFUSE_LOG=maybe is not "
    "understood; use one or several of compile, window, fallback, each with :debug "
    "behind it for more, with commas between them\n",
    "LEGATE_DIFFUSE_CACHE": "legate_diffuse: LEGATE_DIFFUSE_CACHE=maybe is not "
    "understood; use LEGATE_DIFFUSE_CACHE=1 or LEGATE_DIFFUSE_CACHE=0\n",
    "LEGATE_DIFFUSE_CACHE_LIMIT": "legate_diffuse: LEGATE_DIFFUSE_CACHE_LIMIT=maybe is "
    "not understood; use a number of bytes from 1048576 on, or LEGATE_DIFFUSE_CACHE=0 "
    "to keep nothing\n",
    "LEGATE_DIFFUSE_PROOF": "legate_diffuse: LEGATE_DIFFUSE_PROOF=maybe is not "
    "understood; use 0 or 1 or all\n",
    "LEGATE_DIFFUSE_CACHE_BYTES": "legate_diffuse: LEGATE_DIFFUSE_CACHE_BYTES=maybe is "
    "not understood; use a number of bytes, or 0 to turn the blocking of loops off\n",
    "LEGATE_DIFFUSE_THREADS": "legate_diffuse: LEGATE_DIFFUSE_THREADS=maybe is not "
    "understood; use a number of threads, or 1 to let Legate partition arrays over the "
    "CPUs\n",
}


@pytest.mark.parametrize("name", MISTAKES)
def test_an_unknown_value_of_a_variable_is_one_clear_line(
    program: str, name: str
) -> None:
    for command in (
        (sys.executable, program),
        (LEGATE, *LEGATE_OPTIONS, program),
        (sys.executable, "-c", "import legate.core"),
    ):
        done = run(*command, **{name: "maybe"})
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr == MISTAKES[name]


@pytest.mark.skipif(not host_target().fma, reason="nothing to contract to")
def test_fast_math_rounds_sums_of_products_once() -> None:
    # 1 + 2**-29 squared is 1 + 2**-28 + 2**-58, of which a product loses the end
    rest = """
        import cupynumeric as cn
        x = cn.ones(1000) + 2.0**-29
        y = x * x - (1.0 + 2.0**-28)
        print(float(y[3]) == 2.0**-58, float(y[3]) == 0.0)
        """
    for value, printed in (("1", "True False\n"), ("0", "False True\n")):
        done = run_alone(
            rest,
            LEGATE_DIFFUSE="1",
            LEGATE_DIFFUSE_FAST_MATH=value,
            LEGATE_DIFFUSE_SMALL_BYTES="0",
        )
        assert done.stdout == printed


def test_checking_with_fast_math_is_refused_in_one_line(program: str) -> None:
    both = {"LEGATE_DIFFUSE_CHECK": "1", "LEGATE_DIFFUSE_FAST_MATH": "1"}
    for switch in ("0", "1"):
        done = run(sys.executable, program, LEGATE_DIFFUSE=switch, **both, **CONFIG)
        assert done.returncode == 1
        assert done.stderr == (
            "legate_diffuse: LEGATE_DIFFUSE_CHECK=1 compares bits, which "
            "LEGATE_DIFFUSE_FAST_MATH=1 changes; set only one of them\n"
        )


def test_an_unknown_value_does_not_concern_other_programs() -> None:
    done = run(sys.executable, "-c", "print('fine')", LEGATE_DIFFUSE="maybe")
    assert (done.stdout, done.stderr) == ("fine\n", "")


def test_an_untested_version_of_legate_runs_unfused_with_one_warning() -> None:
    for version in ("26.8.0", "25.11.00.dev3", "unknown"):
        done = run_alone(REPORT, LEGATE_DIFFUSE="1", LEGATE_USE_VERSION=version)
        assert done.stdout == "unfused\n"
        assert done.stderr == (
            f"legate_diffuse: Legate {version} was not tested with it, so the program "
            "runs unfused; install legate>=26.1,<26.7\n"
        )


def test_a_program_that_is_missing() -> None:
    launched = run(LEGATE, "--diffuse", *LEGATE_OPTIONS, "missing.py")
    plain = run(LEGATE, *LEGATE_OPTIONS, "missing.py")
    assert launched.returncode == plain.returncode == 2
    assert launched.stderr == plain.stderr

    done = run(sys.executable, "-m", "legate_diffuse", "missing.py")
    assert done.returncode == 2
    first, usage = done.stderr.splitlines()[:2]
    assert first == "legate_diffuse: there is no file missing.py"
    assert usage.startswith("usage: legate-diffuse [explain [--all | ")


def test_no_program_at_all() -> None:
    done = run(sys.executable, "-m", "legate_diffuse")
    assert done.returncode == 2
    assert done.stdout.startswith("usage: ")
