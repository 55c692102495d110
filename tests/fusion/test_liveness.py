# SPDX-License-Identifier: Apache-2.0
"""Which stores need not exist, and which scalar work runs by itself, and when.

The stores and views are those of ``window_golden.STORES``: 4 and 5 are dead
arrays, 6 is a live and 7 and 8 are dead replicated stores, 9 is a constant. 90 and
91 are live and 92 and 93 dead stores that Legate does not partition; nothing was
written to 93.
"""

# ruff: noqa: E501 (the lines of windows)

from __future__ import annotations

import pytest
from launch_forms import ORIGINAL, WHOLE, form_of
from window_golden import launches_of, liveness_of

from legate_diffuse.fusion.liveness import Liveness, NestLiveness

NOTHING = Liveness((NestLiveness(),))


def one_nest(
    *dropped: int,
    hoisted: tuple[int, ...] = (),
    late: tuple[int, ...] = (),
    deferrable: tuple[int, ...] = (),
) -> Liveness:
    """Return what is expected of a launch of one nest."""
    nest = NestLiveness(frozenset(dropped))
    return Liveness((nest,), hoisted=hoisted, late=late, deferrable=deferrable)


def program(*nests: NestLiveness, scratch: tuple[int, ...] = ()) -> Liveness:
    """Return what is expected of a program."""
    return Liveness(nests, frozenset(scratch))


def nest(*dropped: int, hoisted: tuple[int, ...] = ()) -> NestLiveness:
    return NestLiveness(frozenset(dropped), hoisted)


REGISTERS: dict[str, tuple[str, list[Liveness]]] = {
    "a dead store between two tasks": (
        """
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0
        COPY(int8) -> (int8) shape 0: write %1.1, read %4.4
        """,
        [one_nest(4)],
    ),
    "a dead store that nobody reads": (
        "COPY(int8) -> (int8) shape 0: write %4.4, read %0.0",
        [one_nest(4)],
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
        [one_nest(4)],
    ),
    "two halves of a dead store": (
        """
        COPY(int8) -> (int8) shape 0: write %4.43, read %0.0
        COPY(int8) -> (int8) shape 0: write %4.44, read %1.1
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %2.2, read %4.43, read %4.44
        """,
        [one_nest(4)],
    ),
    "a half of a dead store that was not written": (
        """
        COPY(int8) -> (int8) shape 0: write %4.43, read %0.0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %2.2, read %4.43, read %4.44
        """,
        [NOTHING],
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
        [program(nest(), nest())],
    ),
    "a later group writes it through another view": (
        """
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0
        COPY(int8) -> (int8) shape 0: write %4.14, read %1.1
        """,
        [program(nest(), nest(4), scratch=(4,))],
    ),
    "the group after the next one reads it": (
        """
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0
        COPY(int8) -> (int8) shape 1: write %1.21, read %4.24
        SORT(int8) -> (int8) shape 0: write %3.3, read %2.2
        COPY(int8) -> (int8) shape 0: write %2.2, read %4.4
        """,
        [program(nest(), nest()), NOTHING, NOTHING],
    ),
    "earlier groups do not count": (
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %4.4
        SORT(int8) -> (int8) shape 0: write %4.4, read %5.5
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0
        COPY(int8) -> (int8) shape 0: write %5.5, read %4.4
        """,
        [NOTHING, NOTHING, one_nest(4, 5)],
    ),
    "each group has its own": (
        """
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0
        COPY(int8) -> (int8) shape 0: write %1.1, read %4.4
        SORT(int8) -> (int8) shape 0: write %0.0, read %1.1
        COPY(int8) -> (int8) shape 0: write %5.5, read %0.0
        COPY(int8) -> (int8) shape 0: write %2.2, read %5.5
        """,
        [one_nest(4), NOTHING, one_nest(5)],
    ),
    "tasks that run as they were submitted write everything": (
        "SORT(int8) -> (int8) shape 0: write %4.4, read %0.0",
        [NOTHING],
    ),
    "a reduction that nobody reads": (
        "SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %7.7, read %0.0",
        [one_nest(7)],
    ),
    "a reduction that a later group reads": (
        """
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %7.7, read %0.0
        COPY(int8) -> (int8) shape 0: write %1.1, read %7.17
        """,
        [NOTHING, NOTHING],
    ),
}

HOISTING: dict[str, tuple[str, list[Liveness]]] = {
    "folded scalar work that dies in the group": (
        """
        COPY(int8) -> (int8) shape 2: write %7.7, read %6.6
        COPY(int8) -> (int8) shape 2: write %8.8, read %7.7
        COPY(int8) -> (int8) shape 0: write %1.1, read %8.18
        """,
        [one_nest(7, 8)],
    ),
    "folded scalar work that is live may run later": (
        """
        COPY(int8) -> (int8) shape 2: write %6.6, read %8.8
        COPY(int8) -> (int8) shape 0: write %1.1, read %6.16
        """,
        [one_nest(hoisted=(0,), deferrable=(0,))],
    ),
    "folded scalar work that a later group reads": (
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8
        COPY(int8) -> (int8) shape 0: write %2.2, read %7.17
        SORT(int8) -> (int8) shape 0: write %3.3, read %7.17
        """,
        [one_nest(hoisted=(1,)), NOTHING],
    ),
    "hoisted scalar work takes along what it reads, and only that": (
        """
        COPY(int8) -> (int8) shape 2: write %7.7, read %9.9
        COPY(int8) -> (int8) shape 0: write %4.4, read %7.17
        FILL(int8) -> (int8) shape 2: write %8.8
        BINARY_OP.ADD(int8, int8) -> (int8) shape 2: write %6.6, read %7.7, read %7.7
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %4.4, read %8.18
        """,
        [one_nest(4, 8, hoisted=(0, 3), deferrable=(0, 3))],
    ),
    "the closure reaches back through a chain": (
        """
        FILL(int8) -> (int8) shape 2: write %7.7
        COPY(int8) -> (int8) shape 2: write %8.8, read %7.7
        COPY(int8) -> (int8) shape 2: write %6.6, read %8.8
        COPY(int8) -> (int8) shape 0: write %1.1, read %6.16
        """,
        [one_nest(hoisted=(0, 1, 2), deferrable=(0, 1, 2))],
    ),
    "scalar work at a group's end belongs to the next one": (
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        COPY(int8) -> (int8) shape 2: write %7.7, read %6.6
        COPY(int8) -> (int8) shape 1: write %2.22, read %0.20
        """,
        [program(nest(), nest(7))],
    ),
    "the fill of a reduction": (
        """
        FILL(int8) -> (int8) shape 2: write %6.6
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %6.6, read %0.0
        """,
        [one_nest(hoisted=(0,))],
    ),
    "the fill of a reduction that nobody needs": (
        """
        FILL(int8) -> (int8) shape 2: write %7.7
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %7.7, read %0.0
        """,
        [one_nest(7)],
    ),
}

DEFERRING: dict[str, tuple[str, list[Liveness]]] = {
    "a lone scalar task": (
        "UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %6.6, read %7.7",
        [Liveness((NestLiveness(),), deferrable=(0,))],
    ),
    "not if a later launch reads its result": (
        """
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %6.6, read %7.7
        SORT(int8) -> (int8) shape 0: write %3.3, read %6.16
        """,
        [NOTHING, NOTHING],
    ),
    "not if a later launch writes its result": (
        """
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %6.6, read %7.7
        SORT(int8) -> (int8) shape 2: write %6.6, read %8.8
        """,
        [NOTHING, NOTHING],
    ),
    "not if a later launch changes what it reads": (
        """
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %6.6, read %7.7
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %7.7, read %0.0
        SORT(int8) -> (int8) shape 0: write %3.3, read %7.17
        """,
        [NOTHING, NOTHING, NOTHING],
    ),
    "although a later launch reads what it reads": (
        """
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %6.6, read %7.7
        SORT(int8) -> (int8) shape 0: write %3.3, read %7.17
        """,
        [Liveness((NestLiveness(),), deferrable=(0,)), NOTHING],
    ),
    "what it reads must stay": (
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %7.7, read %1.1
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %6.6, read %7.7
        """,
        [NOTHING, Liveness((NestLiveness(),), deferrable=(2,))],
    ),
    "not what a nest reads into which the next one is folded": (
        """
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %7.7, read %6.6
        SORT(int8) -> (int8) shape 0: write %3.3, read %6.16
        COPY(int8) -> (int8) shape 2: write %6.6, read %7.7
        COPY(int8) -> (int8) shape 0: write %1.1, read %6.16
        """,
        [NOTHING, NOTHING, one_nest(hoisted=(2,), deferrable=(2,))],
    ),
    "not what a task writes again that runs at once if there is no kernel": (
        """
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %6.6, read %7.7
        SORT(int8) -> (int8) shape 2: write %8.8, read %7.7
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %6.6, read %8.8
        COPY(int8) -> (int8) shape 0: write %1.1, read %6.16
        """,
        [NOTHING, NOTHING, one_nest(hoisted=(2,), deferrable=(2,))],
    ),
    "what changes a single element after a nest has read it": (
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %6.16
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %6.6, read %6.6
        """,
        [one_nest(late=(1,), deferrable=(1,))],
    ),
    "what comes before a nest, but not what another launch reads after it": (
        """
        COPY(int8) -> (int8) shape 2: write %6.6, read %8.8
        COPY(int8) -> (int8) shape 0: write %1.1, read %6.16
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %8.8, read %6.6
        SORT(int8) -> (int8) shape 0: write %3.3, read %8.18
        """,
        [one_nest(hoisted=(0,), late=(2,)), NOTHING],
    ),
    "a hoisted task, but not what it needs and another launch reads": (
        """
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8
        COPY(int8) -> (int8) shape 2: write %6.6, read %7.7
        COPY(int8) -> (int8) shape 0: write %1.1, read %6.16
        SORT(int8) -> (int8) shape 0: write %3.3, read %7.17
        """,
        [one_nest(hoisted=(0, 1), deferrable=(1,)), NOTHING],
    ),
    "not twice": (
        """
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %6.6, read %7.7
        SORT(int8) -> (int8) shape 0: write %3.3, read %2.2
        carried 1
        """,
        [NOTHING, NOTHING],
    ),
    "a hoisted task not twice": (
        """
        COPY(int8) -> (int8) shape 2: write %6.6, read %8.8
        COPY(int8) -> (int8) shape 0: write %1.1, read %6.16
        carried 1
        """,
        [one_nest(hoisted=(0,))],
    ),
    "not a task without a kernel": (
        "SORT(int8) -> (int8) shape 2: write %6.6, read %7.7",
        [NOTHING],
    ),
    "not the fill of an array": (
        "FILL(int8) -> (int8) shape 0: write %0.0",
        [NOTHING],
    ),
    "not in a program": (
        """
        COPY(int8) -> (int8) shape 2: write %6.6, read %8.8
        COPY(int8) -> (int8) shape 0: write %91.91, read %6.16
        """,
        [program(nest(hoisted=(0,)))],
    ),
}

SCRATCH: dict[str, tuple[str, list[Liveness]]] = {
    "a dead store that crosses nests": (
        """
        COPY(int8) -> (int8) shape 0: write %92.92, read %90.90
        COPY(int8) -> (int8) shape 1: write %91.291, read %92.292
        """,
        [program(nest(), nest(), scratch=(92,))],
    ),
    "a dead store within one nest stays in registers": (
        """
        COPY(int8) -> (int8) shape 0: write %92.92, read %90.90
        COPY(int8) -> (int8) shape 0: write %91.91, read %92.92
        """,
        [program(nest(92), scratch=(92,))],
    ),
    "a live store that crosses nests": (
        """
        COPY(int8) -> (int8) shape 0: write %91.91, read %90.90
        COPY(int8) -> (int8) shape 1: write %90.290, read %91.291
        """,
        [program(nest(), nest())],
    ),
    "a dead store of which a part is written first": (
        """
        COPY(int8) -> (int8) shape 0: write %92.192, read %90.90
        COPY(int8) -> (int8) shape 1: write %91.291, read %92.292
        """,
        [program(nest(), nest())],
    ),
    "one to which nothing was written before": (
        """
        COPY(int8) -> (int8) shape 0: write %93.193, read %90.90
        COPY(int8) -> (int8) shape 1: write %91.291, read %93.293
        """,
        [program(nest(), nest(), scratch=(93,))],
    ),
    "one that an earlier launch has written": (
        """
        SORT(int8) -> (int8) shape 0: write %93.93, read %90.90
        COPY(int8) -> (int8) shape 0: write %93.193, read %90.90
        COPY(int8) -> (int8) shape 1: write %91.291, read %93.293
        """,
        [NOTHING, program(nest(), nest())],
    ),
    "a dead store that is read first": (
        """
        COPY(int8) -> (int8) shape 1: write %91.291, read %92.292
        COPY(int8) -> (int8) shape 0: write %92.92, read %90.90
        COPY(int8) -> (int8) shape 1: write %90.290, read %92.292
        """,
        [program(nest(), nest(), nest())],
    ),
    "a dead store that a later launch reads": (
        """
        COPY(int8) -> (int8) shape 0: write %92.92, read %90.90
        COPY(int8) -> (int8) shape 1: write %91.291, read %92.292
        SORT(int8) -> (int8) shape 0: write %90.90, read %92.92
        """,
        [program(nest(), nest()), NOTHING],
    ),
    "a scalar that is reduced to and read again": (
        """
        FILL(int8) -> (int8) shape 2: write %7.7
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %7.7, read %90.90
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %91.91, read %90.90, read %7.17
        """,
        [program(nest(hoisted=(0,)), nest(), scratch=(7,))],
    ),
    "an array that is reduced to": (
        """
        FILL(int64) -> (int64) shape 1: write %94.94
        UNARY_RED.SUM(int8) -> (int64) shape 5: reduce(add) %94.194, read %90.590
        """,
        [program(nest(), nest(94), scratch=(94,))],
    ),
}

GOLDEN = {
    f"{subject}: {name}": case
    for subject, cases in (
        ("registers", REGISTERS),
        ("hoisting", HOISTING),
        ("deferring", DEFERRING),
        ("scratch", SCRATCH),
    )
    for name, case in cases.items()
}


@pytest.mark.parametrize(("text", "expected"), GOLDEN.values(), ids=GOLDEN)
def test_liveness(text: str, expected: list[Liveness]) -> None:
    found = liveness_of(text)
    assert [f.nests for f in found] == [e.nests for e in expected]
    assert [f.scratch for f in found] == [e.scratch for e in expected]
    assert [f.deferrable for f in found] == [e.deferrable for e in expected]


def test_a_store_is_fresh_until_a_launch_writes_it() -> None:
    text = """
        COPY(int8) -> (int8) shape 0: write %91.91, read %90.90
        SORT(int8) -> (int8) shape 0: write %93.93, read %91.91
        COPY(int8) -> (int8) shape 0: write %90.90, read %93.93
    """
    assert [form_of(launch) for launch in launches_of(text)] == [
        WHOLE,
        ORIGINAL,
        WHOLE,
    ]
    first, _, last = liveness_of(text)
    assert first.undefined == {93}
    assert last.undefined == frozenset()
