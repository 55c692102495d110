# SPDX-License-Identifier: Apache-2.0
"""Windows of the applications in ``scripts/apps``, with their schedules, as text.

    python tests/fusion/recorded_windows.py [APPLICATION...]

records them again, of all applications or some, where operations or the analyses have
changed: ``schedules/`` has a file for each. It needs Legate; who reads them does not.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).with_name("schedules")
_APPS: Final = Path(__file__).parents[2] / "scripts" / "apps"

# By application: its arguments, and which of its windows is recorded. Most come
# again in each iteration, or in every few of them. That of shallow_water is
# left out: its 491 operations fill 1,700 lines, and its stencils are like others.
RECORDED: Final = {
    "bicgstab": ("--size 40", 1),
    "black_scholes": ("--size 100", 1),
    "cg": ("--size 40", 1),
    "chain": ("--size 100", 1),
    "channel_flow": ("--size 21 --sweeps 2 --iterations 1", 1),
    "heat": ("--size 12", 2),
    "jacobi": ("--size 100", 2),
    "kmeans": ("--size 1000 --iterations 1", 0),
    "layer_norm": ("--size 20", 2),
    "logistic_regression": ("--size 1000", 2),
    "lstm": ("--size 20", 0),
    "mandelbrot": ("--size 50", 1),
    "multigrid": ("--size 15 --iterations 1", 1),
    "nbody": ("--size 50", 5),
    "softmax": ("--size 20", 0),
    "stencil": ("--size 50", 2),
    "update": ("--size 100", 2),
}
_SECTION: Final = re.compile(r"^# (\w+)\n((?:(?!# ).*\n)*)", re.MULTILINE)


def sections(text: str) -> list[tuple[str, str]]:
    """Return what each pass has printed, in order."""
    return [(name, content.strip() + "\n") for name, content in _SECTION.findall(text)]


def record(application: str) -> str:
    """Return a window of an application and its schedule, as they are printed."""
    arguments, number = RECORDED[application]
    done = subprocess.run(
        [
            sys.executable,
            str(_APPS / f"{application}.py"),
            *["--package", "cupynumeric", "--iterations", "4", "--batches", "3"],
            *arguments.split(),
        ],
        env=os.environ
        | {
            "LEGATE_CONFIG": "--cpus 1 --gpus 0 --sysmem 500",
            "LEGATE_DIFFUSE": "1",
            "LEGATE_DIFFUSE_DUMP": "pass",
            "LEGATE_DIFFUSE_SMALL_BYTES": "0",
            "LEGATE_DIFFUSE_THREADS": "1",
        },
        check=True,
        capture_output=True,
        text=True,
    )
    printed = sections(done.stderr)
    starts = [n for n, (name, _) in enumerate(printed) if name == "window"]
    start, end = [*starts, len(printed)][number : number + 2]
    own = dict(printed[start:end])
    return f"# window\n{own['window']}\n# schedule\n{own['schedule']}"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for one in sys.argv[1:] or RECORDED:
        (FOLDER / f"{one}.txt").write_text(record(one), "utf-8")
