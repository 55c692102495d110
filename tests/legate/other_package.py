# SPDX-License-Identifier: Apache-2.0
"""The package that the registry's page shows, and that registers ``other_library``."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import legate_diffuse.libraries

_PAGE: Final = Path(legate_diffuse.libraries.__file__).with_name("README.md")
_PROJECT, _MODULE = (
    re.findall(rf"```{language}\n(.*?)```", _PAGE.read_text("utf-8"), re.DOTALL)[-1]
    for language in ("toml", "python")
)


def register() -> Callable[[Any], None]:
    """Return the function of the package."""
    names: dict[str, Any] = {}
    exec(_MODULE, names)
    found: Callable[[Any], None] = names["register"]
    return found


def install(folder: Path, *, fuse: bool = True) -> None:
    """Install the package into a new folder, as a user installs packages.

    With ``fuse=False`` all that it registers runs as it is.
    """
    project = folder.with_name(f"{folder.name}-project")
    project.mkdir()
    off = re.sub(r"\)\n(    def |\n    library.opaque)", r", fuse=False)\n\1", _MODULE)
    (project / "pyproject.toml").write_text(_PROJECT)
    (project / "other_fusion.py").write_text(_MODULE if fuse else off)
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    command = (sys.executable, "-m", "pip", "install", *options)
    subprocess.run((*command, "--target", str(folder), str(project)), check=True)
