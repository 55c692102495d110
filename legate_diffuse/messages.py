# SPDX-License-Identifier: Apache-2.0
"""Messages for the user."""

from __future__ import annotations

import sys
from contextlib import suppress


def say(message: str) -> None:
    """Print one line for the user, if there is anywhere to print it.

    Nothing may depend on it: whoever says something has done what must be done.
    """
    if sys.stderr is None:
        return
    # it may be full, or closed, or unable to encode the message: nobody can be told
    with suppress(OSError, ValueError):
        print(f"legate_diffuse: {message}", file=sys.stderr)
