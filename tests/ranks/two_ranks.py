# SPDX-License-Identifier: Apache-2.0
"""Runs a program on two ranks of this machine, under Open MPI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path

# The last wheels whose Legate has networking.
NETWORKED = "26.1.0"
_TIMEOUT_SECONDS = 300


def missing() -> str:
    """Return why two ranks cannot run here, '' if they can."""
    if version("legate") != NETWORKED:
        return f"PyPI's wheels of Legate {version('legate')} have no networking"
    if shutil.which("mpirun") is None or _mpi() is None:
        return "there is no Open MPI"
    return ""


def _mpi() -> str | None:
    """Return the path of Open MPI's library."""
    return next(map(str, Path("/usr/lib").glob("*/libmpi.so.*")), None)


def packages_environment(folder: Path) -> dict[str, str]:
    """Return what Legate's wheels need; ``folder`` is for files."""
    # Legate asks for the library by its name without a version
    libraries = folder / "lib"
    libraries.mkdir(exist_ok=True)
    if not (link := libraries / "libmpi.so").exists():
        link.symlink_to(str(_mpi()))
    packages = Path(sysconfig.get_path("platlib"))
    paths = libraries, packages / "nvidia/cuda_runtime/lib", packages / "libucx/lib"
    return {
        "LD_LIBRARY_PATH": ":".join(map(str, paths)),
        "LEGATE_AUTO_CONFIG": "0",
        "LEGATE_DIFFUSE_DRIVER_STUB": "1",
    }


def run(program: Path, folder: Path, **environment: str) -> list[tuple[str, str]]:
    """Run a program on two ranks, and return what each has written, and its errors.

    ``folder`` is for files.

    Raises:
        AssertionError: a rank has failed.
        subprocess.TimeoutExpired: the ranks wait for each other.
    """
    output = folder / "output"
    shutil.rmtree(output, ignore_errors=True)
    binaries = Path(sys.executable).parent
    environment |= packages_environment(folder) | {
        "LEGION_DEFAULT_ARGS": (
            f"-ll:bgwork 1 {environment.pop('LEGION_DEFAULT_ARGS', '')}"
        ),
        "PATH": f"{binaries}:{os.environ['PATH']}",
    }
    passed = " ".join(
        f"-x {name}" for name in ("LD_LIBRARY_PATH", "LEGION_DEFAULT_ARGS", "PATH")
    )
    options = f"--allow-run-as-root --oversubscribe --output-filename {output} {passed}"
    launcher = "--launcher mpirun --nodes 1 --ranks-per-node 2"
    machine = "--cpus 1 --gpus 0 --utility 1 --sysmem 1000"
    done = subprocess.run(
        [
            str(binaries / "legate"),
            *f"{launcher} {machine}".split(),
            f"--launcher-extra={options}",
            str(program),
        ],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:3000]
    return [
        ((rank / "stdout").read_text(), (rank / "stderr").read_text())
        for rank in sorted(output.glob("1/rank.*"))
    ]
