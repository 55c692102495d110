# SPDX-License-Identifier: Apache-2.0
"""``legate-diffuse app.py ARGS``, also as ``python -m legate_diffuse``.

Runs a program fused. With ``explain`` before the program's name it also prints, at
the end, what was fused and why not more.
"""

from __future__ import annotations

import os
import runpy
import sys

from legate_diffuse import boot

_USAGE = "usage: legate-diffuse [explain] PROGRAM.py [ARGUMENTS ...]"


def main() -> int:
    """Run the program named on the command line as ``__main__``, fused."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE)
        return 0 if arguments else 2
    explain = arguments[0] == "explain"
    if explain:
        arguments = arguments[1:]
    if not arguments:
        print(f"legate_diffuse: a program is missing\n{_USAGE}", file=sys.stderr)
        return 2
    program = arguments[0]
    if not os.path.isfile(program):
        print(f"legate_diffuse: there is no file {program}\n{_USAGE}", file=sys.stderr)
        return 2
    os.environ["LEGATE_DIFFUSE"] = "1"
    if explain:
        os.environ["LEGATE_DIFFUSE_EXPLAIN"] = "-"
    boot.enable()
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    runpy.run_path(program, run_name="__main__")
    return 0
