# SPDX-License-Identifier: Apache-2.0
"""The program's own lines."""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterable

from legate_diffuse.observe.lines import Line

# the lines of files, by name
Sources = dict[str, list[str]]


def read_sources(folder: str, lines: Iterable[Line]) -> Sources:
    """Return the files of some lines, whose names are relative to a folder."""
    return {file: _read(os.path.join(folder, file)) for file, _ in lines}


def quote(line: Line | None, sources: Sources) -> str:
    """Return a line of the program, '' if its file cannot be read."""
    if line is None:
        return ""
    file, number = line
    return "".join(sources.get(file, [])[number - 1 : number]).strip()


def _read(path: str) -> list[str]:
    """Return the lines of a file; IPython knows those of a cell."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        cell = next(filter(linecache.cache.get, (path, os.path.basename(path))), path)
        return [line.rstrip("\n") for line in linecache.getlines(cell)]
