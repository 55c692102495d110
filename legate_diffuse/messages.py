# SPDX-License-Identifier: Apache-2.0
"""Messages for the user."""

from __future__ import annotations

import sys


def say(message: str) -> None:
    """Print one line for the user."""
    print(f"legate_diffuse: {message}", file=sys.stderr)
