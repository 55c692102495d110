# SPDX-License-Identifier: Apache-2.0
"""The text of launches: which tasks of a window run together, by position.

``|`` separates the loop nests of a launch; ``registers``, ``scratch`` and ``hoisted``
are what ``fusion/liveness.py`` found::

    fused: 0 1 2 | 3 5, scratch %1, registers %4
    partitioned: 6 7, hoisted 6
    original: 8
"""

from __future__ import annotations

from collections.abc import Iterable

from legate_diffuse.fusion.launches import Launch
from legate_diffuse.fusion.liveness import Liveness


def render_launches(launches: Iterable[tuple[Launch, Liveness]]) -> str:
    """Return a line for each launch."""
    return "".join(f"{_line(*launch)}\n" for launch in launches)


def _line(launch: Launch, liveness: Liveness) -> str:
    how = (
        "partitioned" if launch.partitioned else "fused" if launch.fused else "original"
    )
    groups = " | ".join(" ".join(map(str, group.tasks)) for group in launch.groups)
    dropped: set[int] = set().union(*(nest.dropped for nest in liveness.nests))
    hoisted = [task for nest in liveness.nests for task in nest.hoisted]
    parts = [
        f"{how}: {groups}",
        *(f"scratch %{store}" for store in sorted(liveness.scratch)),
        *(f"registers %{store}" for store in sorted(dropped - liveness.scratch)),
        *(f"hoisted {task}" for task in hoisted),
        *(f"waits {task}" for task in liveness.deferrable),
    ]
    return ", ".join(parts)
