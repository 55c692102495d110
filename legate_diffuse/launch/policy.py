# SPDX-License-Identifier: Apache-2.0
"""Where a window ends if nothing else ends it.

Windows must end at the same places of the program's loop in every iteration, or no
window would come twice. A full window is cut where the fewest temporaries are in use:
between two statements, or even between two iterations. Among equal places, one where a
window was cut before wins. The operations before the cut are remembered, and a window
that begins with them ends there at once. (Apophenia, arXiv 2406.18111, has this aim.)

Nothing here depends on time, addresses or hashes: all ranks cut alike.
"""

from __future__ import annotations

from typing import Any, Final

# At most so many operations wait.
CAPACITY: Final = 192
# A full window is cut after about this many operations: more than most loop bodies
# have (Black-Scholes has 67), and few enough to keep kernels small.
_PREFERRED: Final = CAPACITY // 2
# At most so many windows are remembered.
_MAX_KNOWN: Final = 4096
# So many operations identify a place in the program.
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
        # at the window's end it is not known yet what is in use
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
    """Return a cut's rank: the preferred length or less, as near to it as possible."""
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
