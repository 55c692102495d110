# SPDX-License-Identifier: Apache-2.0
"""Which groups share a task, and which tasks run as they were submitted.

The stores and views are those of ``window_golden.STORES``: 90 and 91 are live and
92 to 94 dead stores that Legate does not partition.
"""

# ruff: noqa: E501 (the lines of windows)

from __future__ import annotations

import pytest
from launch_forms import ORIGINAL, PARTITIONED, WHOLE, Form, form_of
from window_golden import covered, launches_of
from window_reader import parse

from legate_diffuse.fusion.grouping import group_window
from legate_diffuse.fusion.launches import MAX_NESTS, form_launches
from legate_diffuse.fusion.legality import MAX_ARGUMENTS

# the form of each launch, and the positions of the tasks of each of its groups
Expected = list[tuple[Form, list[list[int]]]]

GOLDEN: dict[str, tuple[str, Expected]] = {
    "partitioned groups that points can divide share a task": (
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        COPY(int8) -> (int8) shape 0: write %2.2, read %1.1
        COPY(int8) -> (int8) shape 1: write %3.23, read %0.20
        """,
        [(PARTITIONED, [[0, 1], [2]])],
    ),
    "a reduction of what lies along no axis of the points": (
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        FILL(int8) -> (int8) shape 2: write %7.7
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %7.7, read %1.1
        COPY(int8) -> (int8) shape 1: write %3.23, read %2.22
        """,
        [(PARTITIONED, [[0, 1, 2], [3]])],
    ),
    "aliasing views and other shapes on one processor": (
        """
        COPY(int8) -> (int8) shape 0: write %91.91, read %90.90
        COPY(int8) -> (int8) shape 0: write %92.92, read %91.191
        COPY(int8) -> (int8) shape 1: write %90.290, read %92.292
        """,
        [(WHOLE, [[0], [1], [2]])],
    ),
    "a reduction that is read again on one processor": (
        """
        FILL(int8) -> (int8) shape 2: write %7.7
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %7.7, read %90.90
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %91.91, read %90.90, read %7.17
        """,
        [(WHOLE, [[0, 1], [2]])],
    ),
    "a reduction that is read again on several": (
        """
        FILL(int8) -> (int8) shape 2: write %7.7
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %7.7, read %0.0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %7.17
        """,
        [(PARTITIONED, [[0, 1]]), (PARTITIONED, [[2]])],
    ),
    "a program continues past what it does not conflict with": (
        """
        COPY(int8) -> (int8) shape 0: write %91.91, read %90.90
        SORT(int8) -> (int8) shape 0: write %1.1, read %0.0
        COPY(int8) -> (int8) shape 0: write %2.2, read %3.3
        COPY(int8) -> (int8) shape 1: write %92.292, read %91.291
        """,
        [
            (WHOLE, [[0], [3]]),
            (ORIGINAL, [[1]]),
            (PARTITIONED, [[2]]),
        ],
    ),
    "a program ends at what it conflicts with": (
        """
        COPY(int8) -> (int8) shape 0: write %91.91, read %90.90
        SORT(int8) -> (int8) shape 0: write %90.90, read %0.0
        COPY(int8) -> (int8) shape 1: write %92.292, read %90.290
        """,
        [
            (WHOLE, [[0]]),
            (ORIGINAL, [[1]]),
            (WHOLE, [[2]]),
        ],
    ),
    "scalar work joins a program": (
        """
        COPY(int8) -> (int8) shape 0: write %91.91, read %90.90
        COPY(int8) -> (int8) shape 1: write %92.292, read %91.291
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 1: reduce(max) %6.6, read %92.292
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %7.7, read %6.6
        """,
        [(WHOLE, [[0], [1, 2], [3]])],
    ),
    "a scalar task by itself": (
        "UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %7.7, read %6.6",
        [(ORIGINAL, [[0]])],
    ),
    "two scalar tasks": (
        """
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %7.7, read %6.6
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %8.8, read %7.7
        """,
        [(WHOLE, [[0, 1]])],
    ),
    "a scalar is reduced to a scalar": (
        "SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 2: reduce(max) %6.6, read %7.7",
        [(WHOLE, [[0]])],
    ),
    "a fill by itself": (
        "FILL(int8) -> (int8) shape 0: write %0.0",
        [(ORIGINAL, [[0]])],
    ),
    "nothing but fills": (
        """
        FILL(int8) -> (int8) shape 0: write %0.0
        FILL(int8) -> (int8) shape 0: write %1.1, read %7.17
        FILL(int8) -> (int8) shape 0: write %90.90
        FILL(int8) -> (int8) shape 1: write %91.291
        """,
        [(ORIGINAL, [[0, 1]]), (ORIGINAL, [[2], [3]])],
    ),
    "fills with other work": (
        """
        FILL(int8) -> (int8) shape 0: write %0.0
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        FILL(int8) -> (int8) shape 0: write %90.90
        COPY(int8) -> (int8) shape 1: write %91.291, read %90.290
        """,
        [(PARTITIONED, [[0, 1]]), (WHOLE, [[2], [3]])],
    ),
    "a group with a partitioned array and one that is not": (
        """
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %90.90
        COPY(int8) -> (int8) shape 1: write %92.292, read %91.291
        """,
        [(PARTITIONED, [[0]]), (WHOLE, [[1]])],
    ),
    "tasks that are not covered": (
        """
        SORT(int8) -> (int8) shape 0: write %90.90, read %91.91
        SORT(int8) -> (int8) shape 0: write %91.91, read %90.90
        """,
        [(ORIGINAL, [[0]]), (ORIGINAL, [[1]])],
    ),
}


@pytest.mark.parametrize(("text", "expected"), GOLDEN.values(), ids=GOLDEN)
def test_launches(text: str, expected: Expected) -> None:
    found = [
        (form_of(launch), [list(group.tasks) for group in launch.groups])
        for launch in launches_of(text)
    ]
    assert found == expected


def test_the_tasks_of_a_launch_are_in_program_order() -> None:
    text = """
        COPY(int8) -> (int8) shape 0: write %91.91, read %90.90
        COPY(int8) -> (int8) shape 1: write %93.293, read %92.292
        COPY(int8) -> (int8) shape 0: write %91.91, read %91.91
    """
    (launch,) = launches_of(text)
    assert [group.tasks for group in launch.groups] == [(0, 2), (1,)]
    assert launch.tasks == (0, 1, 2)


def test_a_program_has_a_limited_number_of_nests() -> None:
    text = """
        COPY(int8) -> (int8) shape 0: write %91.91, read %91.91
        COPY(int8) -> (int8) shape 1: write %91.291, read %91.291
    """
    first, second = launches_of(text * (MAX_NESTS // 2 + 1))
    assert len(first.groups) == MAX_NESTS
    assert len(second.groups) == 2


def test_a_program_has_a_limited_number_of_arguments() -> None:
    lines = []
    for number in range(MAX_ARGUMENTS + 1):
        lines += [
            f"store %{number} int8 live single",
            f"view %{number}.{number} shape {number} many [:]",
            f"UNARY_OP.NEGATIVE(int8) -> (int8) shape {number}: "
            f"write %{number}.{number}, read %{number}.{number}",
        ]
    window = parse("\n".join(lines))
    first, second = form_launches(window, group_window(window, covered))
    assert len(first.groups) == MAX_ARGUMENTS
    assert len(second.groups) == 1


# Of an array others are written, and then rows that lie elsewhere are copied.
ROWS = """
    store %0 float64 live
    store %1 float64 live
    view %0.0 shape 0 many [:, :]
    view %1.1 shape 0 many [:, :]
    view %1.2 shape 1 many [TO, :]
    view %0.3 shape 1 many [FROM, :]
"""
ALL_ROWS = "COPY(float64) -> (float64) shape 0: write %0.0, read %1.1\n"
SOME_ROWS = "COPY(float64) -> (float64) shape 1: write %1.2, read %0.3\n"


@pytest.mark.parametrize(
    ("order", "to", "start", "groups"),
    [
        ([ALL_ROWS, SOME_ROWS], ":2", "-4:-2", [1, 1]),
        ([SOME_ROWS, ALL_ROWS], ":2", "-4:-2", [1, 1]),
        # points divide columns, as they cannot divide these rows
        ([ALL_ROWS, SOME_ROWS], ":b", "a:", [2]),
        ([ALL_ROWS, SOME_ROWS], "2:4", ":2", [2]),
    ],
    ids=["few rows last", "few rows first", "many rows", "few rows nearby"],
)
def test_few_rows_do_not_keep_points_from_dividing_many(
    order: list[str], to: str, start: str, groups: list[int]
) -> None:
    window = parse(ROWS.replace("TO", to).replace("FROM", start) + "".join(order))
    found = form_launches(window, group_window(window, covered))
    assert [len(launch.groups) for launch in found] == groups
