# SPDX-License-Identifier: Apache-2.0
"""What the programs that scripts start print of themselves."""

from __future__ import annotations

import json
from typing import Any


def json_line(printed: str) -> dict[str, Any]:
    """Return the one line of JSON; Realm's own messages may come after it."""
    (line,) = (line for line in printed.splitlines() if line.startswith("{"))
    record: dict[str, Any] = json.loads(line)
    return record
