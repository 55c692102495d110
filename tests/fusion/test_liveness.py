# SPDX-License-Identifier: Apache-2.0
"""Which stores need not exist, and which scalar work also runs by itself.

The stores and views are those of ``window_golden.STORES``: 4 and 5 are dead
arrays, 6 is a live and 7 and 8 are dead replicated stores, 9 is a constant.
"""

from __future__ import annotations

import pytest
from window_golden import groups_of, liveness_of

from legate_diffuse.fusion.liveness import Liveness

NOTHING = Liveness()


def temporaries(*stores: int, hoisted: tuple[int, ...] = ()) -> Liveness:
    return Liveness(frozenset(stores), hoisted)


GOLDEN: dict[str, tuple[str, list[Liveness]]] = {
    "a dead store between two tasks": (
        """
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0
        COPY(int8) -> (int8) shape 0: write %1.1, read %4.4
        """,
        [temporaries(4)],
    ),
    "a dead store that nobody reads": (
        "COPY(int8) -> (int8) shape 0: write %4.4, read %0.0",
        [temporaries(4)],
    ),
    "a live store": (
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        COPY(int8) -> (int8) shape 0: write %2.2, read %1.1
        """,
        [NOTHING],
    ),
    "a dead store that is only read": (
        "COPY(int8) -> (int8) shape 0: write %1.1, read %4.4",
        [NOTHING],
    ),
    "a dead store that is read before it is written": (
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %4.4
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0
        COPY(int8) -> (int8) shape 0: write %2.2, read %4.4
        """,
        [NOTHING],
    ),
    "a dead store that changes in place": (
        """
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %4.4, read %4.4
        COPY(int8) -> (int8) shape 0: write %1.1, read %4.4
        """,
        [NOTHING],
    ),
    "a dead store that is written, then changes in place": (
        """
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %4.4, read %4.4
        COPY(int8) -> (int8) shape 0: write %1.1, read %4.4
        """,
        [temporaries(4)],
    ),
    "a later group reads it through the same view": (
        """
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0
        SORT(int8) -> (int8) shape 0: write %1.1, read %4.4
        """,
        [NOTHING, NOTHING],
    ),
    "a later group reads a part that the write did not cover": (
        """
        COPY(int8) -> (int8) shape 0: write %4.14, read %0.0
        COPY(int8) -> (int8) shape 0: write %1.1, read %4.14
        COPY(int8) -> (int8) shape 0: write %2.2, read %4.4
        """,
        [NOTHING, NOTHING],
    ),
    "a later group writes it through another view": (
        """
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0
        COPY(int8) -> (int8) shape 0: write %4.14, read %1.1
        """,
        [NOTHING, temporaries(4)],
    ),
    "the group after the next one reads it": (
        """
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0
        FILL(int8) -> (int8) shape 1: write %1.21
        COPY(int8) -> (int8) shape 0: write %2.2, read %4.4
        """,
        [NOTHING, NOTHING, NOTHING],
    ),
    "earlier groups do not count": (
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %4.4
        SORT(int8) -> (int8) shape 0: write %2.2, read %5.5
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0
        COPY(int8) -> (int8) shape 0: write %5.5, read %4.4
        """,
        [NOTHING, NOTHING, temporaries(4, 5)],
    ),
    "each group has its own": (
        """
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0
        COPY(int8) -> (int8) shape 0: write %1.1, read %4.4
        FILL(int8) -> (int8) shape 1: write %0.20
        COPY(int8) -> (int8) shape 0: write %5.5, read %1.1
        COPY(int8) -> (int8) shape 0: write %2.2, read %5.5
        """,
        [temporaries(4), NOTHING, temporaries(5)],
    ),
    "tasks that run as they were submitted write everything": (
        "SORT(int8) -> (int8) shape 0: write %4.4, read %0.0",
        [NOTHING],
    ),
    "folded scalar work that dies in the group": (
        """
        COPY(int8) -> (int8) shape 2: write %7.7, read %6.6
        COPY(int8) -> (int8) shape 2: write %8.8, read %7.7
        COPY(int8) -> (int8) shape 0: write %1.1, read %8.18
        """,
        [temporaries(7, 8)],
    ),
    "folded scalar work that is live": (
        """
        COPY(int8) -> (int8) shape 2: write %6.6, read %8.8
        COPY(int8) -> (int8) shape 0: write %1.1, read %6.16
        """,
        [temporaries(hoisted=(0,))],
    ),
    "folded scalar work that a later group reads": (
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8
        COPY(int8) -> (int8) shape 0: write %2.2, read %7.17
        SORT(int8) -> (int8) shape 0: write %3.3, read %7.17
        """,
        [temporaries(hoisted=(1,)), NOTHING],
    ),
    "hoisted scalar work takes along what it reads, and only that": (
        """
        COPY(int8) -> (int8) shape 2: write %7.7, read %9.9
        COPY(int8) -> (int8) shape 0: write %4.4, read %7.17
        FILL(int8) -> (int8) shape 2: write %8.8
        BINARY_OP.ADD(int8, int8) -> (int8) shape 2: write %6.6, read %7.7, read %7.7
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %4.4, read %8.18
        """,
        [temporaries(4, 8, hoisted=(0, 3))],
    ),
    "the closure reaches back through a chain": (
        """
        FILL(int8) -> (int8) shape 2: write %7.7
        COPY(int8) -> (int8) shape 2: write %8.8, read %7.7
        COPY(int8) -> (int8) shape 2: write %6.6, read %8.8
        COPY(int8) -> (int8) shape 0: write %1.1, read %6.16
        """,
        [temporaries(hoisted=(0, 1, 2))],
    ),
    "scalar work at a group's end belongs to the next one": (
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        COPY(int8) -> (int8) shape 2: write %7.7, read %6.6
        COPY(int8) -> (int8) shape 1: write %2.22, read %0.20
        """,
        [NOTHING, temporaries(7)],
    ),
}


@pytest.mark.parametrize(("text", "expected"), GOLDEN.values(), ids=GOLDEN)
def test_liveness(text: str, expected: list[Liveness]) -> None:
    assert list(liveness_of(text)) == expected
    assert len(groups_of(text)) == len(expected)
