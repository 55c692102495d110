# SPDX-License-Identifier: Apache-2.0
"""Finds what repeats itself in a sequence, such as the iterations in a window."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Final, NamedTuple

# A period of more items is not looked for.
_LONGEST: Final = 128


class Part(NamedTuple):
    """So many items from the first on, which come so many times one after the other."""

    first: int
    length: int
    times: int

    @property
    def end(self) -> int:
        """The first item behind the last time."""
        return self.first + self.length * self.times


def parts(items: Sequence[Hashable]) -> Iterator[Part]:
    """Yield the parts of a sequence, in order; each item is in one of them.

    What comes once is a part of one item. Of parts that begin at one place that which
    covers most comes, and of those the one with the shortest period.
    """
    first = 0
    while first < len(items):
        best = Part(first, 1, 1)
        for length in range(1, min(_LONGEST, (len(items) - first) // 2) + 1):
            times = _times(items, first, length)
            if times > 1 and length * times > best.length * best.times:
                best = Part(first, length, times)
        yield best
        first = best.end


def shortest_cycle(items: Sequence[Hashable]) -> int:
    """Return after how many items they repeat themselves, all of them if they don't."""
    count = len(items)
    lengths = (n for n in range(1, count // 2 + 1) if count % n == 0)
    cycles = (n for n in lengths if _times(items, 0, n) * n == count)
    return next(cycles, max(count, 1))


def _times(items: Sequence[Hashable], first: int, length: int) -> int:
    """Return how often items come one after the other."""
    end = first + length
    while end < len(items) and items[end] == items[end - length]:
        end += 1
    return (end - first) // length
