# SPDX-License-Identifier: Apache-2.0
"""Starts Legate, and tells whether fusion works in it; ``info`` runs this aside."""

from __future__ import annotations

import importlib
import json

from legate_diffuse.interpose.install import installed

MARK = "legate_diffuse probe "
"""What the line begins with that has the answer, as JSON."""


def main() -> None:
    """Print what can only be known with Legate running."""
    importlib.import_module("cupynumeric")
    works = installed() is not None
    off: list[str] = []
    if works:
        from legate_diffuse.shortcuts import apply

        off = apply.off
    print(MARK + json.dumps({"works": works, "shortcuts_off": off}), flush=True)


if __name__ == "__main__":
    main()
