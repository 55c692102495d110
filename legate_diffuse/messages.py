# SPDX-License-Identifier: Apache-2.0
"""Messages for the user.

What is true of all ranks is said by rank 0; what is true of one rank, by that one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

# The launchers' variables for a process's rank, as Legate's launcher knows them
# (``legate/launcher/`` of Legate).
_RANK: Final = (
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "MV2_COMM_WORLD_RANK",
    "SLURM_PROCID",
)


def rank(environment: Mapping[str, str] = os.environ) -> int:
    """Return the rank of this process; Legate need not have been started."""
    found = next((environment[name] for name in _RANK if name in environment), "0")
    return int(found) if found.isdecimal() else 0


def say(message: str) -> None:
    """Print one line for the user, if there is anywhere to print it.

    It names the rank, unless that is the first. Nothing may depend on it: whoever says
    something has done what must be done.
    """
    if sys.stderr is None:
        return
    where = f" on rank {number}" if (number := rank()) else ""
    # it may be full, or closed, or unable to encode the message: nobody can be told
    with suppress(OSError, ValueError):
        print(f"legate_diffuse{where}: {message}", file=sys.stderr)


def say_once(message: str) -> None:
    """Print one line for the user that all ranks know."""
    if rank() == 0:
        say(message)
