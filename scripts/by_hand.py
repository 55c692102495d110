# SPDX-License-Identifier: Apache-2.0
"""The programs written by hand in C, peers/by_hand: compiles and runs them."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from contenders import EXACT, PLAIN

SOURCES = Path(__file__).parent / "peers" / "by_hand"
SHARED = SOURCES / "main.c"
# Products are rounded before they are added, as NumPy's; sqrt needs no errno.
OPTIMIZE = ("-std=gnu11", "-O3", "-march=native", "-ffp-contract=off", "-fopenmp")
OPTIMIZE += ("-fno-math-errno",)
DEFINITIONS = {PLAIN: (), EXACT: ("-DEXACT",)}


class MissingError(Exception):
    """There is no C compiler that does; says what to do."""


@dataclass(frozen=True)
class Compiled:
    """The programs by name and variant, and the compiler's version."""

    programs: dict[tuple[str, str], Path]
    compiler: str


def build(folder: Path) -> Compiled:
    """Compile all programs into ``folder``.

    Raises:
        MissingError: If there is no C compiler, or none with OpenMP.
    """
    if shutil.which("cc") is None:
        raise MissingError("no C compiler cc found: `apt-get install gcc`")
    programs = {}
    for source in sorted(set(SOURCES.glob("*.c")) - {SHARED}):
        for variant, definitions in DEFINITIONS.items():
            program = folder / f"{source.stem}.{variant}"
            command = ("cc", *OPTIMIZE, *definitions, str(SHARED), str(source))
            done = _run(*command, "-o", str(program), "-lm")
            if done.returncode != 0:
                first = (done.stderr.strip().splitlines() or ["no message"])[0]
                raise MissingError(f"cc does not compile {source.name} ({first})")
            programs[source.stem, variant] = program
    return Compiled(programs, _run("cc", "--version").stdout.splitlines()[0])


def write_arrays(source: Path, target: Path) -> None:
    """Write the arrays of an .npz file as the programs read them."""
    with np.load(source) as arrays, target.open("wb") as file:
        for array in arrays.values():
            array.astype(np.float64).tofile(file)


def read_arrays(source: Path, target: Path, like: Path) -> None:
    """Write what a program wrote to an .npz file ``like`` another one."""
    values = np.fromfile(source)
    with np.load(like) as arrays:
        names = list(arrays)
        shape = arrays[names[0]].shape
    found = zip(names, values.reshape(len(names), *shape), strict=True)
    np.savez(target, **dict(found))


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, capture_output=True, text=True)
