# SPDX-License-Identifier: Apache-2.0
"""Writes ``legate_diffuse/interpose/known.py`` for the installed cuPyNumeric.

``LEGATE_DIFFUSE=1 python scripts/digests.py``: run it where the shortcuts were read
against a new version of the functions that they do the work of.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import cupynumeric  # noqa: F401 - puts the stand-ins in place that shortcuts import

from legate_diffuse.shortcuts.apply import SHORTCUTS, WRITTEN_FOR
from legate_diffuse.shortcuts.shortcut import digest, source, tokens_of

FILE = Path(__file__).parents[1] / "legate_diffuse" / "interpose" / "known.py"
HEAD = '''# SPDX-License-Identifier: Apache-2.0
"""The functions of cuPyNumeric that shortcuts do the work of (scripts/digests.py).

Those of cuPyNumeric {version}, by module and name: the digest of the source, and of its
tokens. Where both are others, the shortcuts that use the function are off.
"""

from typing import Final

KNOWN: Final[dict[str, dict[str, tuple[int, int]]]] = {{
'''


def main() -> None:
    """Write the module."""
    modules: dict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    for module, name in {each for one in SHORTCUTS for each in one.read()}:
        text = source(module, name)
        modules[module][name] = digest(text), digest(tokens_of(text))
    lines = [HEAD.format(version=WRITTEN_FOR)]
    for module in sorted(modules):
        lines.append(f'    "{module}": {{\n')
        for name, (exact, meaning) in sorted(modules[module].items()):
            line = f'        "{name}": (0x{exact:016X}, 0x{meaning:016X}),'
            if len(line) > 88:
                line = (
                    f'        "{name}": (\n            0x{exact:016X},\n'
                    f"            0x{meaning:016X},\n        ),"
                )
            lines.append(line + "\n")
        lines.append("    },\n")
    FILE.write_text("".join([*lines, "}\n"]), "utf-8")


main()
