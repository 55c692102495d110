# SPDX-License-Identifier: Apache-2.0
"""On how few points operations run as they come, as a window would not pay."""

from __future__ import annotations

from typing import Any, Final

from legate_diffuse.ir.privilege import READ
from legate_diffuse.stores.view import View

# On more points a window pays: 0.62 of the time at 40,000, 1.0 at 30,000 (at_once.h).
MOST_LOOPED: Final = 32768
# The same of moving elements.
MOST_POINTS: Final = 49152
# But not where an operation reads up to so many and writes few, for which the program
# may well wait: all that is saved is to read the others once more.
MOST_REDUCED: Final = 2**20
MOST_RESULTS: Final = 4096
# What so many points are counted in: doubles.
_DOUBLE: Final = 8


def has_few_points(operation: Any) -> bool:
    """Whether an operation is on so few points that no window is worth while."""
    views = operation.views
    writes_few = all(
        [
            privilege == READ
            or view.layout.volume <= 1
            or view.root.volume <= MOST_RESULTS
            for view, privilege in zip(views, operation.privileges, strict=True)
        ]
    )
    most = MOST_REDUCED if writes_few else MOST_LOOPED
    return all([_are_few(view, most) for view in views])


def _are_few(view: View, most: int) -> bool:
    """As in ``mappers/process/at_once.h``."""
    volume, root = view.layout.volume, view.root
    if volume <= most:
        return True
    is_narrow = root.dtype is not None and root.dtype[0] in "biu"
    return is_narrow and volume * int(root.type.size) <= _DOUBLE * most
