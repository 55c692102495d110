# SPDX-License-Identifier: Apache-2.0
"""Runs applications one after the other in one process, with Legate.

Its arguments are a file of JSON, the command line of each application by case, and the
file to which a line of JSON is added for each case that ends: what the application
printed, how counters grew, or the traceback.
"""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

from legate.core import get_legate_runtime

import legate_diffuse

APPS = Path(__file__).parents[1] / "apps"


def counters() -> dict[str, float]:
    """Return the counters once nothing is pending."""
    get_legate_runtime().issue_execution_fence(block=True)
    counted = legate_diffuse.stats().items()
    return {name: value for name, value in counted if isinstance(value, int | float)}


def run(app: str, arguments: list[str]) -> dict[str, Any]:
    """Run an application, and return what it found."""
    before = counters()
    sys.argv = [str(APPS / f"{app}.py"), *arguments]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(sys.argv[0], run_name="__main__")
    after = counters()
    grown = {name: after[name] - before.get(name, 0) for name in after}
    found: dict[str, Any] = json.loads(printed.getvalue())
    return found | {"growth": {name: by for name, by in grown.items() if by}}


def main() -> None:
    """Run all cases."""
    sys.path.insert(0, str(APPS))
    commands, results = map(Path, sys.argv[1:])
    for case, (app, *arguments) in json.loads(commands.read_text()).items():
        try:
            found = run(app, arguments)
        except Exception:
            found = {"raised": traceback.format_exc()[-3000:]}
        with results.open("a") as file:
            file.write(json.dumps({"case": case} | found) + "\n")


if __name__ == "__main__":
    main()
