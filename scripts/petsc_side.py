# SPDX-License-Identifier: Apache-2.0
"""PETSc's side of the comparison: finds PETSc, compiles scripts/petsc, runs it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from records import json_line

SOURCES = Path(__file__).parent / "petsc"
TOOLS = ("mpicc", "mpirun", "pkg-config")
# The stencils' loops are to be as good as the compiler can make them here.
OPTIMIZE = ("-std=gnu11", "-O3", "-march=native")


class MissingError(Exception):
    """PETSc, MPI or a tool is not there; says what, and how to get it."""


@dataclass(frozen=True)
class Petsc:
    """The compiled solver, and what it was compiled with."""

    solver: Path
    version: str
    compiler: str
    mpi: str


def build(folder: Path) -> Petsc:
    """Compile the solver into ``folder``.

    Raises:
        MissingError: If PETSc or what it needs is not there.
        subprocess.CalledProcessError: If this PETSc does not do, which the
            compiler's messages explain.
    """
    environment = os.environ | {"PKG_CONFIG_PATH": os.pathsep.join(_folders())}
    absent = [tool for tool in TOOLS if shutil.which(tool) is None]
    if "pkg-config" in absent or not _finds("--exists", environment):
        absent.append("PETSc")
    if absent:
        raise MissingError(
            f"{' and '.join(absent)} not found: `apt-get install petsc-dev "
            "libopenmpi-dev openmpi-bin pkg-config libopenblas0-serial`, or `pip "
            "install petsc` beside an MPI, or set PETSC_DIR and PETSC_ARCH to an "
            "optimised build."
        )
    flags = _ask("--cflags", "--libs", environment=environment).split()
    libraries = _ask("--variable=libdir", environment=environment)
    solver = folder / "solve"
    _output(
        *("mpicc", *OPTIMIZE, *map(str, sorted(SOURCES.glob("*.c")))),
        *("-o", str(solver), *flags, f"-Wl,-rpath,{libraries}", "-lm"),
    )
    return Petsc(
        solver=solver,
        version=_ask("--modversion", environment=environment),
        compiler=_output("mpicc", "--version").splitlines()[0],
        mpi=_output("mpirun", "--version").splitlines()[0],
    )


def run(petsc: Petsc, ranks: int, **options: object) -> dict[str, Any]:
    """Run the solver and return what it prints."""
    command = ["mpirun", "-n", str(ranks), str(petsc.solver)]
    for name, value in options.items():
        command += [f"-{name}", str(value)]
    environment = dict(os.environ)
    # each rank is a processor, as on the other side
    environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    # Open MPI counts cores where there may be more processors
    environment |= {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
    if os.geteuid() == 0:
        # in a container; Open MPI asks root to say so twice
        environment |= {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }
    printed = _output(*command, environment=environment)
    return json_line(printed)


def _folders() -> list[str]:
    """Return where PETSc.pc may be, besides where pkg-config looks anyhow."""
    folders = []
    if "PETSC_DIR" in os.environ:
        home = Path(os.environ["PETSC_DIR"])
        folders += [home / os.environ.get("PETSC_ARCH", ""), home]
    wheel = importlib.util.find_spec("petsc")
    if wheel is not None:
        folders += map(Path, wheel.submodule_search_locations or [])
    return [
        *(str(folder / "lib" / "pkgconfig") for folder in folders),
        *filter(None, [os.environ.get("PKG_CONFIG_PATH")]),
    ]


def _finds(question: str, environment: dict[str, str]) -> bool:
    command = ["pkg-config", question, "PETSc"]
    return subprocess.run(command, env=environment, check=False).returncode == 0


def _ask(*questions: str, environment: dict[str, str]) -> str:
    return _output("pkg-config", *questions, "PETSc", environment=environment).strip()


def _output(*command: str, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout
