# SPDX-License-Identifier: Apache-2.0
"""What was made of parts of a window, for when passes run again after a cut."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

T = TypeVar("T")
_NOTHING: Final = object()


@dataclass(frozen=True, slots=True)
class Memo:
    """What has been made; nothing of it depends on cuts.

    Attributes:
        made: by who has made it, and of what.
    """

    made: dict[Hashable, Any] = field(default_factory=dict)

    def of(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made under a key; it is made once."""
        known = self.made.get(key, _NOTHING)
        if known is _NOTHING:
            known = self.made[key] = make()
        made: T = known
        return made
