# SPDX-License-Identifier: Apache-2.0
"""Runs programs on GPUs that are the CPU, in processes of their own or in workers.

Legate starts on a driver that the tests build (``driver/``), and our kernels are
emulated (``tests/codegen/gpu/emulated.py``). cuPyNumeric's own kernels for GPUs do not
run on that driver, so a program runs in a scope of Legate's that has CPUs only, and
fused tasks alone are submitted in one that has the GPUs: see ``on_fake_gpus.py``.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import forked
import workers
from built import built

HERE: Final = Path(__file__).parent
RUNNER: Final = HERE / "on_fake_gpus.py"
DRIVER: Final = "libcuda.so.1"
_TIMEOUT_SECONDS: Final = 500


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations
    return Path(next(iter(spec.submodule_search_locations)))


def include_folders() -> list[Path]:
    """Return where the headers of CUDA, Realm and Legate are."""
    legate = _folder("legate") / "include" / "legate"
    return [_folder("nvidia") / "cu13" / "include", legate, legate / "deps"]


@functools.cache
def driver_folder() -> Path:
    """Return a folder with the driver, which is built once."""
    sources = sorted((HERE / "driver").glob("*.cc"))
    command = [
        os.environ.get("CXX", "g++"),
        *("-std=c++17", "-O1", "-fPIC", "-shared", "-fvisibility=hidden"),
        *("-Wall", "-Wextra", "-Werror", f"-Wl,-soname,{DRIVER}"),
        *(f"-isystem{header}" for header in include_folders()),
        *map(str, sources),
        "-ldl",
    ]
    headers = sorted((HERE / "driver").glob("*.h"))
    return built(DRIVER, command, [*sources, *headers]).parent


def environment(gpus: int = 1, **settings: str) -> dict[str, str]:
    """Return the variables of a process on so many GPUs."""
    nvidia = _folder("nvidia")
    libraries = driver_folder(), nvidia / "cu13" / "lib", nvidia / "nccl" / "lib"
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LEGATE_", "CUPYNUMERIC_"))
        or name in ("LEGATE_DIFFUSE_CACHE_DIR", "LEGATE_DIFFUSE_PROOF")
    }
    own = {
        "LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries)),
        "LEGATE_CONFIG": f"--cpus 1 --gpus {gpus} --fbmem 200 --zcmem 64 --sysmem 500 "
        "--auto-config 0",
        "LEGATE_DIFFUSE": "1",
        "LEGATE_DIFFUSE_GPU": "1",
        "LEGATE_DIFFUSE_SYNC_COMPILE": "1",
        # Legate divides small arrays
        "LEGATE_TEST": str(int(gpus > 1)),
        "FAKE_CUDA_DEVICES": str(gpus),
    }
    return inherited | own | settings


@dataclass(frozen=True)
class Done:
    """A program that has ended: what it printed, and the counters of its process.

    ``counters`` has those of legate_diffuse and of the driver; it is empty if the
    program did not end by itself.
    """

    status: int
    output: str
    errors: str
    counters: Mapping[str, Any]


def run(program: Path | str, *arguments: str, gpus: int = 1, **settings: str) -> Done:
    """Run a file, or the text of a program, on GPUs."""
    with tempfile.TemporaryDirectory() as folder:
        path = program
        if isinstance(program, str):
            path = Path(folder) / "program.py"
            path.write_text(program)
        report = Path(folder) / "counters.json"
        done = forked.run(
            [str(RUNNER), "run", str(report), str(path), *arguments],
            environment(gpus, **settings),
            _TIMEOUT_SECONDS,
        )
        counters = json.loads(report.read_text()) if report.exists() else {}
    return Done(done.returncode, done.stdout, done.stderr, counters)


def run_in_worker(program: str, gpus: int = 1) -> Done:
    """Run the text of a program on GPUs after others: see ``workers.py``."""
    done = workers.run_in_worker(
        program,
        environment=environment(gpus),
        command=(str(RUNNER), "serve"),
    )
    return Done(done.returncode, done.stdout, done.stderr, done.counters)
