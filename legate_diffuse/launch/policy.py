# SPDX-License-Identifier: Apache-2.0
"""Where a window ends that nothing else ends.

Windows must end at the same places of the program's loop in every iteration, or
no window would ever come again. A full window is cut where the fewest temporaries
are in use: between two statements, if not between two iterations, and rather where one
was cut before. What came before the cut is remembered, and a window that is the
same so far ends there at once. (The aim is that of Apophenia, arXiv 2406.18111.)

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
# Windows that are remembered at most.
_MAX_KNOWN: Final = 4096
# Operations by which a place in the program is recognized.
_CONTEXT: Final = 16


class WindowPolicy:
    """Decides where full windows are cut."""

    def __init__(self) -> None:
        # what windows were cut to, as kinds of operations: by the last kind and length
        self._known: dict[tuple[int, int], set[tuple[int, ...]]] = {}
        self._count = 0
        # the kinds of the last operations before a cut
        self._places: set[tuple[int, ...]] = set()

    def ends_at(self, operations: list[Any]) -> bool:
        """Whether a window ends after the operations that were recorded."""
        if not operations:
            return False
        known = self._known.get((operations[-1].kind.id, len(operations)))
        return known is not None and _kinds(operations) in known

    def cut(self, operations: list[Any]) -> int:
        """Return how many operations of a full window to submit.

        The rest starts the next window.
        """
        length = len(operations)
        crossing = _temporaries_in_use(operations)
        # what is in use at the window's end cannot be told yet
        places = range(length // 3, 3 * length // 4 + 1)
        kinds = _kinds(operations)
        best = min(
            places,
            key=lambda cut: (
                crossing[cut],
                kinds[cut - _CONTEXT : cut] not in self._places,
                *_farness(cut),
            ),
        )
        if self._count >= _MAX_KNOWN:
            self._known.clear()
            self._places.clear()
            self._count = 0
        place = operations[best - 1].kind.id, best
        self._known.setdefault(place, set()).add(kinds[:best])
        self._places.add(kinds[best - _CONTEXT : best])
        self._count += 1
        return best


def _farness(cut: int) -> tuple[bool, int]:
    """Return how little a cut is preferred: shorter windows first, and the longest."""
    return cut > _PREFERRED, abs(cut - _PREFERRED)


def _kinds(operations: list[Any]) -> tuple[int, ...]:
    return tuple([operation.kind.id for operation in operations])


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
