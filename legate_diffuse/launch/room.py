# SPDX-License-Identifier: Apache-2.0
"""How much memory large arrays may take in the program's process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

# The memory of ours that all arrays here may take, in bytes, where some are large.
_MOST_IN_ALL: Final = 2**30
# The same for large arrays that only what is pending still uses; Legate would have to
# take all of them at once, hence no more than this share of its memory.
_MOST_KEPT: Final = 2**26
_SHARE: Final = 8


class Room:
    """The memory of ours for large arrays.

    Args:
        native: the native part.
        most: the bytes of an array that may be here.
        release: submits what is pending if that keeps more than so many bytes of arrays
            that are dead otherwise.
    """

    def __init__(self, native: Any, most: int, release: Callable[[int], None]) -> None:
        self._native = native
        self._most = most
        self._release = release
        self._most_kept = min(_MOST_KEPT, int(native.memory_of_kernels()) // _SHARE)
        # bytes that were taken since somebody has looked whether some can be released
        self._taken = 0

    @property
    def most_in_all(self) -> int:
        """The bytes that all arrays may take."""
        return _MOST_IN_ALL

    def take(self, size: int) -> bool:
        """Whether another large array may stay, whose memory is there already."""
        self._taken += size
        if self._taken > self._most_kept:
            self._taken = 0
            self._release(self._most_kept)
        return self._is_there(size)

    def has(self, *sizes: int) -> bool:
        """Whether large arrays of these bytes may take memory of ours."""
        return not sizes or (max(sizes) <= self._most and self._is_there(sum(sizes)))

    def _is_there(self, size: int) -> bool:
        return int(self._native.small_array_bytes()) + size <= self.most_in_all
