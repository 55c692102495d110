# SPDX-License-Identifier: Apache-2.0
"""The three ways in which a launch runs."""

from __future__ import annotations

from typing import Final

from legate_diffuse.fusion.launches import Launch
from legate_diffuse.fusion.plan import PlannedLaunch

Form = tuple[bool, bool]
ORIGINAL: Final = False, False
WHOLE: Final = True, False
PARTITIONED: Final = True, True


def form_of(launch: Launch | PlannedLaunch) -> Form:
    """Return whether a launch is fused, and partitioned."""
    return launch.fused, launch.partitioned
