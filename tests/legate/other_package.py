# SPDX-License-Identifier: Apache-2.0
"""The package that the registry's page shows, and that registers ``other_library``."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import legate_diffuse.libraries

_PAGE: Final = Path(legate_diffuse.libraries.__file__).with_name("README.md")
_PROJECT, _MODULE = (
    re.findall(rf"```{language}\n(.*?)```", _PAGE.read_text("utf-8"), re.DOTALL)[0]
    for language in ("toml", "python")
)


def register() -> Callable[[Any], None]:
    """Return the function of the package."""
    names: dict[str, Any] = {}
    exec(_MODULE, names)
    found: Callable[[Any], None] = names["register"]
    return found


def install(folder: Path, *, fuse: bool = True) -> Path:
    """Leave what an installer leaves of the package, which needs no build.

    With ``fuse=False`` all that it registers runs as it is.
    """
    project = tomllib.loads(_PROJECT)["project"]
    off = re.sub(r"\)\n(    def )", r", fuse=False)\n\1", _MODULE)
    module = _MODULE if fuse else off
    (folder / "other_fusion.py").write_text(module)
    info = folder / f"other_fusion-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Name: {project['name']}\nVersion: {project['version']}\n"
    )
    points = configparser.ConfigParser()
    points.read_dict(project["entry-points"])
    with open(info / "entry_points.txt", "w") as file:
        points.write(file)
    return folder
