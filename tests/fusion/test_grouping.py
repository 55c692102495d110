# SPDX-License-Identifier: Apache-2.0
"""Which tasks share a launch: one small window for each rule, with its groups.

The stores and views are those of ``window_golden.STORES``.
"""

from __future__ import annotations

import pytest
from window_golden import check_groups, covered, groups_of, window_of

from legate_diffuse.fusion.grouping import Grouping, group_window
from legate_diffuse.fusion.legality import MAX_ARGUMENTS, MAX_TASKS, Refusal
from legate_diffuse.ir.text import parse

JOINING = {
    "a chain through whole arrays": """
        # fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %2.2, read %1.1, read %0.0
        COPY(int8) -> (int8) shape 0: write %3.3, read %2.2
    """,
    "reads through different views": """
        # fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        COPY(int8) -> (int8) shape 0: write %2.2, read %0.10
        COPY(int8) -> (int8) shape 0: write %3.3, read %0.40
    """,
    "one task reads through different views": """
        # fused
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %0.10
        COPY(int8) -> (int8) shape 0: write %2.2, read %1.1
    """,
    "write, then read and write, through one view": """
        # fused
        COPY(int8) -> (int8) shape 0: write %1.11, read %0.0
        COPY(int8) -> (int8) shape 0: write %2.2, read %1.11
        COPY(int8) -> (int8) shape 0: write %1.11, read %2.2
    """,
    "in place": """
        # fused
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %0.0, read %0.0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %0.0, read %0.0, read %0.0
    """,
    "read, then write, through one view": """
        # fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.10
        COPY(int8) -> (int8) shape 0: write %0.10, read %2.2
    """,
    "independent tasks of one launch domain": """
        # fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        COPY(int8) -> (int8) shape 0: write %3.3, read %2.2
    """,
    "a task alone": """
        # fused
        FILL(int8) -> (int8) shape 0: write %0.0
    """,
    "reading a one-element array that repeats": """
        # fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %50.52
        COPY(int8) -> (int8) shape 0: write %2.2, read %50.52
    """,
}

REFUSED = {
    "no kernel": """
        # fused, ended by NOT_COVERED
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        # unfused, ended by NOT_COVERED
        SORT(int8) -> (int8) shape 0: write %2.2, read %1.1
        # unfused, ended by NOT_COVERED
        BINARY_OP.GCD(int8, int8) -> (int8) shape 0: write %2.2, read %1.1, read %0.0
        # fused
        COPY(int8) -> (int8) shape 0: write %3.3, read %2.2
    """,
    "no kernel for these types": """
        # unfused, ended by NOT_COVERED
        COPY(float16) -> (float16) shape 0: write %1.1, read %0.0
    """,
    "a region of one element is written": """
        # fused, ended by FEW_POINTS
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        # unfused, ended by FEW_POINTS
        COPY(int8) -> (int8) shape 3: write %50.50, read %50.50
        # fused
        COPY(int8) -> (int8) shape 0: write %2.2, read %50.52
    """,
    "a region of one element is written from a scalar": """
        # unfused, ended by FEW_POINTS
        COPY(int8) -> (int8) shape 3: write %50.50, read %7.7
    """,
    "a scalar is written from a region of one element": """
        # unfused, ended by FEW_POINTS
        COPY(int8) -> (int8) shape 3: write %7.7, read %50.50
    """,
    "nothing is written": """
        # unfused, ended by FEW_POINTS
        FILL(int8) -> (int8) shape 4: write %50.51
        # unfused, ended by FEW_POINTS
        COPY(int8) -> (int8) shape 4: write %50.51, read %50.51
    """,
    "an operand is not affine": """
        # fused, ended by NOT_AFFINE
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        # unfused, ended by NOT_AFFINE
        COPY(int8) -> (int8) shape 0: write %2.2, read %0.30
        # unfused, ended by NOT_AFFINE
        COPY(int8) -> (int8) shape 0: write %0.30, read %2.2
        # fused
        COPY(int8) -> (int8) shape 0: write %3.3, read %0.0
    """,
    "an operand of scalar work is not affine": """
        # unfused, ended by NOT_AFFINE
        COPY(int8) -> (int8) shape 2: write %7.7, read %6.26
    """,
    "another launch domain": """
        # fused, ended by LAUNCH_DOMAIN
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        # fused, ended by LAUNCH_DOMAIN
        COPY(int8) -> (int8) shape 1: write %2.22, read %0.20
        COPY(int8) -> (int8) shape 1: write %3.23, read %2.22
        # fused
        COPY(int8) -> (int8) shape 0: write %3.3, read %0.0
    """,
    "a write is read through another view": """
        # fused, ended by TRUE_DEPENDENCE
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        COPY(int8) -> (int8) shape 0: write %2.2, read %1.1
        # fused
        COPY(int8) -> (int8) shape 0: write %3.3, read %1.11
    """,
    "the second operand reads a write through another view": """
        # fused, ended by TRUE_DEPENDENCE
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        # fused
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %2.2, read %1.1, read %1.11
    """,
    "a read is written through another view": """
        # fused, ended by ANTI_DEPENDENCE
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        # fused
        COPY(int8) -> (int8) shape 0: write %0.10, read %2.2
    """,
    "one of several reads is written through another view": """
        # fused, ended by ANTI_DEPENDENCE
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %0.10
        # fused
        COPY(int8) -> (int8) shape 0: write %0.0, read %1.1
    """,
    "a write is written through another view": """
        # fused, ended by OUTPUT_DEPENDENCE
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        # fused
        COPY(int8) -> (int8) shape 0: write %1.11, read %0.0
    """,
    "one task reads and writes through different views": """
        # fused, ended by ANTI_DEPENDENCE
        COPY(int8) -> (int8) shape 0: write %1.1, read %2.2
        # unfused, ended by ANTI_DEPENDENCE
        COPY(int8) -> (int8) shape 0: write %0.10, read %0.0
        # fused
        COPY(int8) -> (int8) shape 0: write %3.3, read %0.0
    """,
    "a swap of two halves": """
        # fused, ended by TRUE_DEPENDENCE
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0
        COPY(int8) -> (int8) shape 0: write %1.1, read %2.2
        # fused
        COPY(int8) -> (int8) shape 0: write %0.0, read %4.14
    """,
}

SCALAR_WORK = {
    "at the start": """
        # fused
        BINARY_OP.ADD(int8, int8) -> (int8) shape 2: write %7.7, read %8.8, read %9.9
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %7.17
    """,
    "in the middle, of another shape": """
        # fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %6.6, read %7.7
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %2.2, read %1.1, read %6.16
    """,
    "at the end, for the group that follows": """
        # fused, ended by LAUNCH_DOMAIN
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        # fused
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8
        COPY(int8) -> (int8) shape 2: write %6.6, read %7.7
        COPY(int8) -> (int8) shape 1: write %2.22, read %0.20
    """,
    "at the window's end": """
        # fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        # unfused
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8
        COPY(int8) -> (int8) shape 2: write %6.6, read %7.7
    """,
    "alone": """
        # unfused, ended by NOT_COVERED
        FILL(int8) -> (int8) shape 2: write %7.7
        COPY(int8) -> (int8) shape 2: write %6.6, read %7.7
        # unfused, ended by NOT_COVERED
        SORT(int8) -> (int8) shape 0: write %2.2, read %1.1
        # unfused
        FILL(int8) -> (int8) shape 2: write %7.7
    """,
    "a scalar changes after the group has read it": """
        # fused, ended by SCALAR_CHANGES
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %7.17
        # fused
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %2.2, read %0.0, read %7.17
    """,
    "a scalar changes twice": """
        # fused, ended by SCALAR_CHANGES
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8
        COPY(int8) -> (int8) shape 0: write %1.1, read %7.17
        # fused
        FILL(int8) -> (int8) shape 2: write %7.7
        COPY(int8) -> (int8) shape 0: write %2.2, read %7.17
    """,
    "a scalar changes after scalar work has read it": """
        # unfused, ended by SCALAR_CHANGES
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8
        # unfused
        FILL(int8) -> (int8) shape 2: write %8.8
    """,
    "a scalar changes in place": """
        # fused, ended by SCALAR_CHANGES
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        # unfused, ended by SCALAR_CHANGES
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %7.7, read %7.7
        # fused
        COPY(int8) -> (int8) shape 0: write %2.2, read %7.17
    """,
    "trailing scalar work is not part of the group that it would end": """
        # fused, ended by SCALAR_CHANGES
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        # unfused, ended by SCALAR_CHANGES
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8
        # fused
        FILL(int8) -> (int8) shape 2: write %7.7
        COPY(int8) -> (int8) shape 0: write %2.2, read %7.17
    """,
}


@pytest.mark.parametrize("text", JOINING.values(), ids=JOINING)
def test_joins(text: str) -> None:
    check_groups(text)


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_refuses(text: str) -> None:
    check_groups(text)


@pytest.mark.parametrize("text", SCALAR_WORK.values(), ids=SCALAR_WORK)
def test_scalar_work(text: str) -> None:
    check_groups(text)


def test_an_empty_window_has_no_groups() -> None:
    assert groups_of("") == ()


def test_coverage_is_the_callers_choice() -> None:
    text = "SORT(int8) -> (int8) shape 0: write %1.1, read %0.0"
    assert group_window(window_of(text), lambda task: True)[0].fused
    assert not group_window(window_of(text), covered)[0].fused


def _fills(count: int) -> str:
    """Return fills of distinct live stores."""
    lines = []
    for number in range(count):
        lines += [f"store %{number} int8 live", f"view %{number}.{number} shape 0 many"]
    for number in range(count):
        lines.append(f"FILL(int8) -> (int8) shape 0: write %{number}.{number}")
    return "\n".join(lines)


def test_a_group_has_a_limited_number_of_arguments() -> None:
    groups = group_window(parse(_fills(MAX_ARGUMENTS)), covered)
    assert groups == (Grouping(0, MAX_ARGUMENTS, fused=True, ended_by=None),)
    groups = group_window(parse(_fills(MAX_ARGUMENTS + 2)), covered)
    assert groups == (
        Grouping(0, MAX_ARGUMENTS, True, Refusal.TOO_MANY_ARGUMENTS),
        Grouping(MAX_ARGUMENTS, MAX_ARGUMENTS + 2, True, None),
    )


def test_the_futures_of_scalar_work_are_arguments() -> None:
    lines = []
    for number in range(MAX_ARGUMENTS):
        store, view = 100 + number, 200 + number
        lines += [
            f"store %{store} int8 live replicated",
            f"view %{store}.{view} shape 2 one",
            f"store %{number} int8 replicated",
            f"view %{number}.{number} shape 2 one",
            f"COPY(int8) -> (int8) shape 2: "
            f"write %{number}.{number}, read %{store}.{view}",
        ]
    lines += [
        "store %99 int8 live",
        "view %99.99 shape 0 many",
        "FILL(int8) -> (int8) shape 0: write %99.99",
    ]
    first, *_ = group_window(parse("\n".join(lines)), covered)
    assert first == Grouping(0, MAX_ARGUMENTS, False, Refusal.TOO_MANY_ARGUMENTS)


def test_constants_and_what_dies_in_the_group_are_no_arguments() -> None:
    lines = ["store %0 int8 live", "view %0.0 shape 0 many"]
    for number in range(1, MAX_ARGUMENTS + 10):
        lines += [f"store %{number} int8", f"view %{number}.{number} shape 0 many"]
        constant = 200 + number
        lines += [
            f"store %{constant} int8 replicated constant",
            f"view %{constant}.{constant} shape 0 many broadcast",
            f"BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %{number}.{number}, "
            f"read %{number - 1}.{number - 1}, read %{constant}.{constant}",
        ]
    (group,) = group_window(parse("\n".join(lines)), covered)
    assert group.fused


def test_a_group_has_a_limited_number_of_tasks() -> None:
    line = "UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %0.0, read %0.0\n"
    assert groups_of(line * MAX_TASKS) == (Grouping(0, MAX_TASKS, True, None),)
    assert groups_of(line * (MAX_TASKS + 1)) == (
        Grouping(0, MAX_TASKS, True, Refusal.TOO_LONG),
        Grouping(MAX_TASKS, MAX_TASKS + 1, True, None),
    )


def test_every_refusal_is_tested_and_says_why() -> None:
    golden = "".join((*JOINING.values(), *REFUSED.values(), *SCALAR_WORK.values()))
    for refusal in Refusal:
        assert len(refusal.value.split()) > 4
        if refusal not in (Refusal.TOO_MANY_ARGUMENTS, Refusal.TOO_LONG):
            assert f"ended by {refusal.name}\n" in golden
