# SPDX-License-Identifier: Apache-2.0
"""Runs several applications one after the other: a process of its own.

Its argument is a file of JSON, the command line of each application by case. It writes
a line of JSON for each case that ends: what the application printed, and how
legate_diffuse's counters grew.
"""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys
from pathlib import Path

import legate_diffuse

SCRIPTS = Path(__file__).parents[2] / "scripts"
COUNTED = ("failures", "launches_checked", "plans_refuted")


def main() -> None:
    """Run all cases, each as a program of its own but for the process."""
    sys.path.insert(0, str(SCRIPTS / "apps"))
    commands = json.loads(Path(sys.argv[1]).read_text())
    for case, (app, *arguments) in commands.items():
        before = _counters()
        sys.argv = [str(SCRIPTS / "apps" / f"{app}.py"), *arguments]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            runpy.run_path(sys.argv[0], run_name="__main__")
        after = _counters()
        growth = {name: after[name] - before[name] for name in before}
        record = json.loads(printed.getvalue()) | {"case": case, "growth": growth}
        print(json.dumps(record), flush=True)


def _counters() -> dict[str, int]:
    """Return the counters once nothing is pending."""
    if "legate.core" in sys.modules:
        from legate.core import get_legate_runtime

        get_legate_runtime().issue_execution_fence(block=True)
    counted = legate_diffuse.stats()
    return {name: counted[name] for name in COUNTED}


if __name__ == "__main__":
    main()
