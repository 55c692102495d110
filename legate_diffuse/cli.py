# SPDX-License-Identifier: Apache-2.0
"""``python -m legate_diffuse app.py ARGS``: runs a program fused."""

from __future__ import annotations

import os
import runpy
import sys

from legate_diffuse import boot

_USAGE = "usage: python -m legate_diffuse PROGRAM.py [ARGUMENTS ...]"


def main() -> int:
    """Run the program named on the command line as ``__main__``, fused."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE)
        return 0 if arguments else 2
    program = arguments[0]
    if not os.path.isfile(program):
        print(f"legate_diffuse: there is no file {program}\n{_USAGE}", file=sys.stderr)
        return 2
    os.environ["LEGATE_DIFFUSE"] = "1"
    boot.enable()
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    runpy.run_path(program, run_name="__main__")
    return 0
