# SPDX-License-Identifier: Apache-2.0
"""The environment variables of legate_diffuse.

This module is imported by every Python process of the environment: it imports
nothing but ``os``.
"""

import os

# Legate versions [lowest, first beyond) that were tested.
LEGATE_RANGE = ((26, 6), (26, 7))

# Environment variables that are on or off. The first two decide at start-up.
FLAGS = (
    "LEGATE_DIFFUSE",
    "LEGATE_DIFFUSE_DRIVER_STUB",
    "LEGATE_DIFFUSE_CHECK",
    "LEGATE_DIFFUSE_STATS",
    "LEGATE_DIFFUSE_SYNC_COMPILE",
)

_ON = ("1", "on", "true", "yes")
_OFF = ("", "0", "off", "false", "no")


def flag(name: str) -> bool:
    """Return a boolean environment variable, False if it is not set.

    Raises:
        ValueError: the value is none of 1, 0, on, off, true, false, yes, no.
    """
    value = os.environ.get(name, "")
    if value.lower() in _ON:
        return True
    if value.lower() in _OFF:
        return False
    raise ValueError(f"{name}={value} is not understood; use {name}=1 or {name}=0")


def explanation_path() -> str:
    """Return where ``LEGATE_DIFFUSE_EXPLAIN`` asks for an explanation.

    '-' is the standard output when the program ends, '' nowhere.
    """
    return os.environ.get("LEGATE_DIFFUSE_EXPLAIN", "")
