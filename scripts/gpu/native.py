# SPDX-License-Identifier: Apache-2.0
"""Libraries of C++ that the check needs; built where Legate's headers are.

``LEGATE_DIFFUSE_PREPARED`` names a folder that has them, as ``prepare`` makes it.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import subprocess
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
CHECKOUT: Final = HERE.parents[1]
MAPPERS: Final = CHECKOUT / "mappers"
SOURCES: Final = {
    "arena": [HERE / "arena.cc"],
    "rows": [MAPPERS / "program" / "row_driver.cc"],
    "replay": [
        *(MAPPERS / "gpu" / f"{name}.cc" for name in ("driver", "gpu_kernel", "grid")),
        *(
            MAPPERS / "program" / f"{name}.cc"
            for name in (
                "kernel_table",
                "program",
                "schedule",
                "scratch_plan",
                "tiling",
            )
        ),
    ],
}

# Of "replay" as well: Legate's headers, which take longer than all else, are read once.
WITH_LEGATE: Final = (
    HERE / "replay.cc",
    MAPPERS / "gpu" / "nest_launcher.cc",
    MAPPERS / "gpu" / "rows.cc",
    MAPPERS / "program" / "bases.cc",
)


def prepared() -> Path:
    """Return the folder of what was prepared."""
    return Path(os.environ.get("LEGATE_DIFFUSE_PREPARED", CHECKOUT / "build" / "gpu"))


def build(folder: Path) -> None:
    """Build all libraries.

    Raises:
        CalledProcessError: the compiler has said why it cannot.
    """
    spec = importlib.util.find_spec("legate")
    assert spec is not None and spec.submodule_search_locations, "there is no Legate"
    legate = Path(next(iter(spec.submodule_search_locations))) / "include"
    includes = [MAPPERS / "compat", legate / "legate", legate / "legate" / "deps"]
    folder.mkdir(parents=True, exist_ok=True)
    for name, sources in SOURCES.items():
        own = WITH_LEGATE if name == "replay" else ()
        hidden = ["-fvisibility=hidden"] if own else []
        subprocess.run(
            [
                os.environ.get("CXX", "g++"),
                *("-std=c++17", "-O2", "-fPIC", "-shared", *hidden),
                *("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"),
                *("-static-libstdc++", "-static-libgcc", "-Wl,-z,lazy"),
                f"-I{MAPPERS}",
                *(f"-isystem{each}" for each in (*includes, legate / "rapids")),
                *map(str, sources),
                *("-x", "c++", "-", "-x", "none"),
                *("-ldl", "-o", str(folder / f"{name}.so")),
            ],
            input="".join(f'#include "{source}"\n' for source in own),
            text=True,
            check=True,
        )


@functools.cache
def library(name: str) -> ctypes.CDLL:
    """Return a library; without `prepare` it is built now."""
    place = prepared() / f"{name}.so"
    if not place.exists():
        build(place.parent)
    return ctypes.CDLL(str(place))
