# SPDX-License-Identifier: Apache-2.0
"""Writes ``legate_diffuse/interpose/known.json`` for the installed cuPyNumeric.

``LEGATE_DIFFUSE=1 python scripts/digests.py``: run it where the shortcuts were read
against a new version of the functions that they do the work of.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import cupynumeric  # noqa: F401 - puts the stand-ins in place that shortcuts import

from legate_diffuse.shortcuts.apply import SHORTCUTS
from legate_diffuse.shortcuts.shortcut import digest, source, tokens_of

FILE = Path(__file__).parents[1] / "legate_diffuse" / "interpose" / "known.json"


def main() -> None:
    """Write the table, with a line for each function."""
    modules: dict[str, list[str]] = defaultdict(list)
    for module, name in sorted({each for one in SHORTCUTS for each in one.read()}):
        text = source(module, name)
        digests = json.dumps([digest(text), digest(tokens_of(text))])
        modules[module].append(f'    "{name}": {digests}')
    parts = [f'  "{m}": {{\n' + ",\n".join(modules[m]) + "\n  }" for m in modules]
    FILE.write_text("{\n" + ",\n".join(parts) + "\n}\n", "utf-8")


main()
