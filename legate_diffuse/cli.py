# SPDX-License-Identifier: Apache-2.0
"""``legate-diffuse``, also as ``python -m legate_diffuse``.

Runs a program fused. With ``explain`` before the program's name it also prints, at
the end, how many tasks there were, where the time went and why there were not fewer
tasks; with ``--all`` what became of each window too; with ``--html FILE`` it writes a
page, with ``--json FILE`` data. Options of Legate's launcher, such as
``--cpus 2``, may come before the program's name: then the launcher runs it.

Other commands tell what is installed (``info``), what is kept on disk (``cache``), and
pack what a bug report needs (``report``).
"""

from __future__ import annotations

import os
import runpy
import sys
from importlib.metadata import version
from typing import NamedTuple

from legate_diffuse import boot, settings

_USAGE = """\
usage: legate-diffuse [explain [--all | --html FILE.html | --json FILE.json]] \
[LEGATE OPTIONS ...] PROGRAM.py [ARGUMENTS ...]
       legate-diffuse report [--output FILE.zip] [LEGATE OPTIONS ...] \
PROGRAM.py [ARGUMENTS ...]
       legate-diffuse info [--json] [--self-test]
       legate-diffuse cache [list | clear]
       legate-diffuse --version"""


class _MistakeError(Exception):
    """What was typed is not understood; the message says why."""


class _Command(NamedTuple):
    """A program to run, with the launcher's options before it or without."""

    arguments: list[str]
    program: list[str]
    launched: bool


def main() -> int:
    """Do what the command line says; return the status of the process."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE)
        return 0 if arguments else 2
    first, rest = arguments[0], arguments[1:]
    try:
        match first:
            case "--version":
                print(f"legate-diffuse {version('legate-diffuse')}")
                return 0
            case "info":
                return _info(rest)
            case "cache":
                return _cache(rest)
            case "report":
                return _report(rest)
            case "explain":
                return _explain(rest)
            case _:
                return _run(_command(arguments))
    except _MistakeError as error:
        print(f"legate_diffuse: {error}\n{_USAGE}", file=sys.stderr)
        return 2


def _info(arguments: list[str]) -> int:
    wrong = [each for each in arguments if each not in ("--json", "--self-test")]
    if wrong:
        words = " ".join(wrong)
        raise _MistakeError(f"info takes --json and --self-test, and not {words}")
    from legate_diffuse.commands import info

    return info.show(as_json="--json" in arguments, tests="--self-test" in arguments)


def _cache(arguments: list[str]) -> int:
    if arguments not in ([], ["list"], ["clear"]):
        raise _MistakeError(f"cache takes list or clear, and not {' '.join(arguments)}")
    from legate_diffuse.commands import kept

    return kept.run(clears=arguments == ["clear"])


def _report(arguments: list[str]) -> int:
    from legate_diffuse.commands import bundle

    target, arguments = _option(arguments, "--output", ".zip")
    return bundle.write(target or bundle.DEFAULT, _command(arguments).arguments)


def _explain(arguments: list[str]) -> int:
    target = "-"
    match arguments[:1]:
        case ["--all"]:
            target, arguments = settings.ALL, arguments[1:]
        case ["--html"]:
            target, arguments = _option(arguments, "--html", settings.PAGE)
        case ["--json"]:
            target, arguments = _option(arguments, "--json", settings.DATA)
    command = _command(arguments)
    os.environ["LEGATE_DIFFUSE_EXPLAIN"] = target
    return _run(command)


def _option(arguments: list[str], name: str, ending: str) -> tuple[str, list[str]]:
    """Return the file that an option names, if it is given, and what follows."""
    if arguments[:1] != [name]:
        return "", arguments
    target = "".join(arguments[1:2])
    if not target.endswith(ending):
        raise _MistakeError(f"{name} needs the name of a file that ends in {ending}")
    return target, arguments[2:]


def _command(arguments: list[str]) -> _Command:
    """Return what is to be run, which must be there."""
    launched = bool(arguments) and arguments[0].startswith("-")
    program = _after_options(arguments) if launched else arguments
    if not program:
        raise _MistakeError("a program is missing")
    if not os.path.isfile(program[0]):
        raise _MistakeError(f"there is no file {program[0]}")
    return _Command(arguments, program, launched)


def _run(command: _Command) -> int:
    """Run a program as ``__main__``, fused."""
    os.environ["LEGATE_DIFFUSE"] = "1"
    if command.launched:
        return _launch(command.arguments)
    boot.enable()
    sys.argv = command.program
    program = command.program[0]
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    runpy.run_path(program, run_name="__main__")
    return 0


def _after_options(arguments: list[str]) -> list[str]:
    """Return the program and its arguments, as Legate's launcher understands them.

    The launcher ends the process with a message if it does not know an option.
    """
    from legate.driver.args import parser

    command: list[str] = parser.parse_args(arguments).command
    return command


def _launch(arguments: list[str]) -> int:
    """Run Legate's launcher, which runs the first ``python`` on the path: this one."""
    from legate.driver import main as launcher

    folder = os.path.dirname(sys.executable)
    os.environ["PATH"] = os.pathsep.join([folder, os.environ.get("PATH", "")])
    sys.argv = ["legate", *arguments]
    return launcher()
