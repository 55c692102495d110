# SPDX-License-Identifier: Apache-2.0
"""Builds the library's tasks against the installed Legate."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_SOURCE: Final = Path(__file__).with_name("tasks.cc")
# stands in for headers of the CUDA toolkit
_COMPAT: Final = Path(__file__).parents[3] / "mappers" / "compat"
_LIBRARIES: Final = ("legate", "legion-legate", "realm-legate")
_OPTIONS: Final = ("-std=c++17", "-O2", "-shared", "-fPIC", "-ffp-contract=off", "-w")


def build() -> Path:
    """Return the path of the built library; it is built once for each text of it."""
    spec = find_spec("legate")
    assert spec is not None
    (root,) = map(Path, spec.submodule_search_locations or ())
    text = _SOURCE.read_bytes() + str((root, _OPTIONS)).encode()
    folder = Path(tempfile.gettempdir()) / f"legate_diffuse_tests_{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"libother_{hashlib.sha256(text).hexdigest()[:16]}.so"
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            _compile(root, path)
    return path


def _compile(root: Path, path: Path) -> None:
    include = root / "include"
    folders = (_COMPAT, include / "legate", include / "legate/deps", include / "rapids")
    libraries = root / "lib64"
    made = path.with_suffix(".new")
    subprocess.run(
        [
            os.environ.get("CXX", "c++"),
            *_OPTIONS,
            *[f"-I{folder}" for folder in folders],
            str(_SOURCE),
            *[str(libraries / f"lib{name}.so") for name in _LIBRARIES],
            f"-Wl,-rpath,{libraries},--allow-shlib-undefined",
            "-o",
            str(made),
        ],
        check=True,
    )
    made.rename(path)
