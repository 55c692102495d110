# SPDX-License-Identifier: Apache-2.0
"""``legate-diffuse app.py ARGS``, also as ``python -m legate_diffuse``.

Runs a program fused. With ``explain`` before the program's name it also prints, at
the end, what was fused and why not more; with ``explain --html FILE`` it writes that
to a page, with times for each line. Options of Legate's launcher, such as
``--cpus 2``, may come before the program's name: then the launcher runs it.
"""

from __future__ import annotations

import os
import runpy
import sys

from legate_diffuse import boot

_USAGE = (
    "usage: legate-diffuse [explain [--html FILE.html]] [LEGATE OPTIONS ...] "
    "PROGRAM.py [ARGUMENTS ...]"
)


def main() -> int:
    """Run the program named on the command line as ``__main__``, fused."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE)
        return 0 if arguments else 2
    explain = arguments[0] == "explain"
    target = "-"
    if explain:
        arguments = arguments[1:]
    if explain and arguments[:1] == ["--html"]:
        target, arguments = "".join(arguments[1:2]), arguments[2:]
        if not target.endswith(".html"):
            return _refuse("--html needs the name of a file that ends in .html")
    launched = bool(arguments) and arguments[0].startswith("-")
    command = _after_options(arguments) if launched else arguments
    if not command:
        return _refuse("a program is missing")
    program = command[0]
    if not os.path.isfile(program):
        return _refuse(f"there is no file {program}")
    os.environ["LEGATE_DIFFUSE"] = "1"
    if explain:
        os.environ["LEGATE_DIFFUSE_EXPLAIN"] = target
    if launched:
        return _launch(arguments)
    boot.enable()
    sys.argv = command
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    runpy.run_path(program, run_name="__main__")
    return 0


def _refuse(reason: str) -> int:
    print(f"legate_diffuse: {reason}\n{_USAGE}", file=sys.stderr)
    return 2


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
