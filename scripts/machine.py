# SPDX-License-Identifier: Apache-2.0
"""What measured times depend on: the machine and the versions."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

from petsc_report import memory
from records import json_line

TRIAD = Path(__file__).parent / "peers" / "triad.py"
TRIAD_SIZE = 20_000_000
PACKAGES = ("legate-diffuse", "legate", "nvidia-cupynumeric", "numpy", "llvmlite")


def describe() -> dict[str, object]:
    """Return the machine's processor and memory, and the versions in use."""
    return {
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)),
        "last_level_cache_mb": _last_level_cache() / 2**20,
        "memory_gb": round(memory("MemTotal") / 2**30, 1),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "libc": " ".join(platform.libc_ver()),
        "versions": {"python": platform.python_version()}
        | {name: importlib.metadata.version(name) for name in PACKAGES},
    }


def bandwidth(cpus: int) -> float:
    """Return the GB/s of STREAM's triad, with the better kind of stores."""
    command = [sys.executable, str(TRIAD), "--size", str(TRIAD_SIZE)]
    done = subprocess.run(
        [*command, "--cpus", str(cpus)], check=True, capture_output=True, text=True
    )
    return max(statistics.median(found) for found in json_line(done.stdout).values())


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _last_level_cache() -> int:
    """Return the bytes of the largest cache that a processor sees, 0 if unknown."""
    done = subprocess.run(
        ["lscpu", "--json", "--bytes", "--caches=ONE-SIZE"],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        return 0
    return max(int(one["one-size"]) for one in json.loads(done.stdout)["caches"])
