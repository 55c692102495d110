# SPDX-License-Identifier: Apache-2.0
"""Runs applications one after the other: a program for ``on_fake_gpus.py``.

Its argument is a file of JSON, the command line of each application by case. It writes
a line of JSON for each case that ends: what the application printed, and how counters
grew.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import runpy
import sys
from pathlib import Path
from typing import Any

from legate.core import get_legate_runtime

import legate_diffuse

APPS = Path(__file__).parents[2] / "scripts" / "apps"


def counters() -> dict[str, Any]:
    """Return the counters once nothing is pending."""
    get_legate_runtime().issue_execution_fence(block=True)
    driver = ctypes.CDLL("libcuda.so.1")
    return {
        **legate_diffuse.stats(),
        "flushes": 0,
        "launches": driver.fake_driver_launches(),
    }


def main() -> None:
    """Run all cases, each as a program of its own but for the process."""
    sys.path.insert(0, str(APPS))
    for case, (app, *arguments) in json.loads(Path(sys.argv[1]).read_text()).items():
        before = counters()
        sys.argv = [str(APPS / f"{app}.py"), *arguments]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            runpy.run_path(sys.argv[0], run_name="__main__")
        after = counters()
        growth = {name: after[name] - before[name] for name in before}
        record = json.loads(printed.getvalue()) | {"case": case, "growth": growth}
        print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
