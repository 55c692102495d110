# SPDX-License-Identifier: Apache-2.0
"""Whether any, or all, of many elements are true, where the first of them decide."""

from __future__ import annotations

from typing import Any, Final

from legate_diffuse.interpose.window import window
from legate_diffuse.launch.few_points import MOST_REDUCED
from legate_diffuse.stores.view import View

# The truth value of a single element that decides what a method returns.
_DECIDING: Final = {"any": True, "all": False}
# To look at so many elements takes no longer than to record an operation on all.
_FIRST: Final = 4096


def decided(array: Any, view: View | None, name: str) -> Any:
    """Return what a method returns of many elements if the first of them decide.

    None of other methods, if they do not, or are not here, or something waits for them.
    """
    if (
        name not in _DECIDING
        or view is None
        or view.volume <= MOST_REDUCED
        or not view.root.is_here
        or window.may_change(view.root)
    ):
        return None
    rows = _FIRST * view.shape[0] // view.volume
    made = getattr(array[:rows], name)() if rows else None
    return made if made is not None and bool(made) is _DECIDING[name] else None
