# SPDX-License-Identifier: Apache-2.0
"""Where a window ends that nothing else ends.

Windows must end at the same places of the program's loop in every iteration, or
no window would ever come again. A full window is cut where the fewest temporaries
are in use: between two statements, if not between two iterations. The operations
before the cut are remembered, and from then on a window ends whenever they
appear. So the cuts come with the program's text, and fall into step again after
every change of what it does. (The aim is that of Apophenia, arXiv 2406.18111.)

Nothing here depends on time, addresses or hashes: all ranks cut alike.
"""

from __future__ import annotations

from typing import Any, Final

# Operations that wait at most.
CAPACITY: Final = 192
# A full window is cut after this many operations, or else not far from it: longer
# than most programs' bodies (Black-Scholes has 67), and short enough to keep
# kernels small.
_PREFERRED: Final = CAPACITY // 2
# A window ends at a known place from this share of the length on with which one
# has ended there before, so that short loops share a task.
_SHARE: Final = 0.75
# Operations by which a place in the program is recognized.
_CONTEXT: Final = 16
# Places that are remembered at most.
_MAX_PLACES: Final = 4096


class WindowPolicy:
    """Decides where full windows are cut."""

    def __init__(self) -> None:
        # the shortest window that was cut at a place: by the kind of the last
        # operation before it, and by the kinds of the last ones
        self._places: dict[int, dict[tuple[int, ...], int]] = {}
        self._count = 0

    def ends_at(self, operations: list[Any]) -> bool:
        """Whether a window ends after the operations that were recorded."""
        places = self._places.get(operations[-1].kind.id)
        if places is None:
            return False
        length = len(operations)
        shortest = places.get(_context(operations, length))
        return shortest is not None and length >= _SHARE * shortest

    def cut(self, operations: list[Any]) -> int:
        """Return how many operations of a full window to submit.

        The rest starts the next window.
        """
        length = len(operations)
        crossing = _temporaries_in_use(operations)
        # room is left for loops to come back to the cut before a window is full,
        # and what is in use at the window's end cannot be told yet
        places = range(length // 3, 3 * length // 4 + 1)
        best = min(places, key=lambda cut: (crossing[cut], *_farness(cut)))
        if self._count >= _MAX_PLACES:
            self._places.clear()
            self._count = 0
        last = operations[best - 1].kind.id
        known = self._places.setdefault(last, {})
        place = _context(operations, best)
        known[place] = min(best, known.get(place, best))
        self._count += 1
        return best


def _farness(cut: int) -> tuple[bool, int]:
    """Return how little a cut is preferred: shorter windows first, and the longest."""
    return cut > _PREFERRED, abs(cut - _PREFERRED)


def _context(operations: list[Any], stop: int) -> tuple[int, ...]:
    return tuple([o.kind.id for o in operations[stop - _CONTEXT : stop]])


def _temporaries_in_use(operations: list[Any]) -> list[int]:
    """Return for each cut how many dead arrays are used on both sides of it."""
    first: dict[Any, int] = {}
    last: dict[Any, int] = {}
    for position, operation in enumerate(operations):
        for view in operation.views:
            if not view.root.alive and not view.root.scalar_storage:
                first.setdefault(view.root, position)
                last[view.root] = position
    crossing = [0] * (len(operations) + 1)
    for root, start in first.items():
        for cut in range(start + 1, last[root] + 1):
            crossing[cut] += 1
    return crossing
