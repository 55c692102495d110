# SPDX-License-Identifier: Apache-2.0
"""Starts Legate, and tells whether fusion works in it; ``info`` runs this aside."""

from __future__ import annotations

import importlib
import json
import sys

from legate_diffuse.check import self_test
from legate_diffuse.interpose.install import installed

SELF_TEST = "--self-test"
"""Asks for a test of each form of a task, whatever is known of it."""
MARK = "legate_diffuse probe "
"""What the line begins with that has the answer, as JSON."""


def main() -> None:
    """Print what can only be known with Legate running."""
    if SELF_TEST in sys.argv:
        self_test.insist()
    importlib.import_module("cupynumeric")
    works = installed() is not None
    off: list[str] = []
    if works:
        from legate_diffuse.shortcuts import apply

        off = apply.off
    found = {"works": works, "shortcuts_off": off, "tasks_off": self_test.found}
    print(MARK + json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
