# SPDX-License-Identifier: Apache-2.0
"""What was decided about a window, in a line that is the same on all ranks.

For example, of a window with three operations::

    7 key 1f0c2b9a5d3e4c71 full window: 3 operations, 0 carried; fused 0-1 as 5b2f; 2
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from legate_diffuse.fusion.plan import Plan, PlannedLaunch
from legate_diffuse.kernel.text import print_kernel
from legate_diffuse.observe.quantities import runs


def decision(number: int, window: Any, plan: Plan) -> str:
    """Return the line about a ``ClosedWindow`` and its plan.

    ``number`` counts the windows. Kernels are named after what they compute.
    """
    parts = [
        f"{number} key {_digest(repr(window.key))} {window.cause}: "
        f"{len(window.operations)} operations, {window.carried} carried",
        *map(_launch, plan.launches),
    ]
    return "; ".join(parts)


def _launch(launch: PlannedLaunch) -> str:
    if not launch.fused or any(nest.kernel is None for nest in launch.nests):
        return " ".join(runs(launch.tasks))
    groups = " | ".join(" ".join(runs(group.tasks)) for group in launch.groups)
    names = " ".join(_digest(print_kernel(nest.nest.kernel)) for nest in launch.nests)
    return f"fused {groups} as {names}"


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()
