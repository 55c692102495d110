# SPDX-License-Identifier: Apache-2.0
"""What was decided about a window, in a line that is the same on all ranks.

For example, of a window with three operations::

    7 key 1f0c2b9a5d3e4c71 full window: 3 operations, 0 carried; fused 0-1 as 5b2f; 2
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import groupby
from typing import Any

from legate_diffuse.fusion.plan import Plan, PlannedLaunch
from legate_diffuse.kernel.text import print_kernel


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
        return _positions(launch.tasks)
    groups = " | ".join(_positions(group.tasks) for group in launch.groups)
    names = " ".join(
        _digest(print_kernel(nest.lowered.kernel)) for nest in launch.nests
    )
    return f"fused {groups} as {names}"


def _positions(numbers: Sequence[int]) -> str:
    """Return positions, with runs of them as their first and last."""
    parts = []
    for _, run in groupby(enumerate(numbers), lambda item: item[1] - item[0]):
        found = [position for _, position in run]
        parts.append("-".join(map(str, sorted({found[0], found[-1]}))))
    return " ".join(parts)


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()
