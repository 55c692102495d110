# SPDX-License-Identifier: Apache-2.0
"""Outlines: what two layouts of roots of any shape may have in common.

A region is an outline whose open ends lie at landmarks. Keys name outlines by number.
"""

from __future__ import annotations

from itertools import count
from typing import Final, NamedTuple

from legate_diffuse.ir.region import Endpoint


class Ends(NamedTuple):
    """The ends of an interval; None for one that lies at a free landmark."""

    low: Endpoint | None
    high: Endpoint | None
    point: bool


class Outline(NamedTuple):
    """The store's dimension along each of the view's, and where the region ends.

    ``ends`` is None if the view is not affine.
    """

    dims: tuple[int, ...]
    ends: tuple[Ends, ...] | None


# By the number that stands for it in the keys of this process.
OUTLINES: Final[dict[int, Outline]] = {}
_numbers: Final[dict[Outline, int]] = {}
_NUMBERS: Final = count()


def number_of(outline: Outline) -> int:
    """Return the number that stands for an outline.

    A signal handler or a finalizer may come in between, and raise, or ask for others.
    So a number stands for an outline before anybody gets to know it, and one that was
    interrupted is not used again.
    """
    number = _numbers.get(outline)
    if number is None:
        number = next(_NUMBERS)
        OUTLINES[number] = outline
        number = _numbers.setdefault(outline, number)
    return number
