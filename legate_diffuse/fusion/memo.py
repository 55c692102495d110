# SPDX-License-Identifier: Apache-2.0
"""What was made of parts of a window, for when passes run again after a cut."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class Memo(dict[Hashable, Any]):
    """What has been made, by who has made it, and of what; it depends on no cut."""

    def of(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made under a key; it is made once."""
        if key not in self:
            self[key] = make()
        made: T = self[key]
        return made
