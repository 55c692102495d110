# SPDX-License-Identifier: Apache-2.0
"""Lets go of spare stores whose roots do not move any more."""

from __future__ import annotations

from collections import deque
from typing import Final
from weakref import ref

from legate_diffuse.stores.root import Root

# A spare store is kept for so many windows: steps of loops have at most half as many.
_KEPT: Final = 64


class Spares:
    """The roots that have moved lately, each of which keeps a store for the next time.

    Windows count, and no time: all ranks let go alike.
    """

    def __init__(self) -> None:
        # the window, the root, and how often that had moved then
        self._moved: deque[tuple[int, ref[Root], int]] = deque()

    def note(self, root: Root, window: int) -> None:
        """Take note of a root that has moved."""
        self._moved.append((window, ref(root), root.moves))

    def let_go(self, window: int) -> None:
        """Free the spare stores of roots that have not moved for a while."""
        moved = self._moved
        while moved and moved[0][0] + _KEPT < window:
            _, found, moves = moved.popleft()
            root = found()
            if root is not None and root.moves == moves:
                root.spare = None
