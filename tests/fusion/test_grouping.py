# SPDX-License-Identifier: Apache-2.0
"""Which tasks share a loop nest: one small window for each rule, with its groups.

The stores and views are those of ``window_golden.STORES``.
"""

# ruff: noqa: E501 (the lines of windows)

from __future__ import annotations

import re

import pytest
from window_golden import check_groups, covered, grouped, groups_of, window_of
from window_reader import parse

from legate_diffuse.fusion.grouping import Grouping, group_window
from legate_diffuse.fusion.legality import MAX_ARGUMENTS, MAX_TASKS, Refusal

JOINING = {
    "a chain through whole arrays": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %2.2, read %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 0: write %3.3, read %2.2  # 0
    """,
    "reads through different views": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 0: write %2.2, read %0.10  # 0
        COPY(int8) -> (int8) shape 0: write %3.3, read %0.40  # 0
    """,
    "one task reads through different views": """
        # groups: 0 fused
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %0.10  # 0
        COPY(int8) -> (int8) shape 0: write %2.2, read %1.1  # 0
    """,
    "write, then read and write, through one view": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 0: write %1.11, read %0.0  # 0
        COPY(int8) -> (int8) shape 0: write %2.2, read %1.11  # 0
        COPY(int8) -> (int8) shape 0: write %1.11, read %2.2  # 0
    """,
    "in place": """
        # groups: 0 fused
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %0.0, read %0.0  # 0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %0.0, read %0.0, read %0.0  # 0
    """,
    "read, then write, through one view": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.10  # 0
        COPY(int8) -> (int8) shape 0: write %0.10, read %2.2  # 0
    """,
    "independent tasks of one launch domain": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 0: write %3.3, read %2.2  # 0
    """,
    "a task alone": """
        # groups: 0 fused
        FILL(int8) -> (int8) shape 0: write %0.0  # 0
    """,
    "writes to two halves": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 0: write %0.41, read %1.1  # 0
        COPY(int8) -> (int8) shape 0: write %0.42, read %2.2  # 0
        COPY(int8) -> (int8) shape 0: write %3.3, read %0.41  # 0
    """,
    "one half is written from the other one": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 0: write %0.41, read %0.42  # 0
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.41  # 0
        COPY(int8) -> (int8) shape 0: write %0.42, read %1.1  # 0
    """,
    "reading a one-element array that repeats": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %50.52  # 0
        COPY(int8) -> (int8) shape 0: write %2.2, read %50.52  # 0
    """,
}

REFUSED = {
    "no kernel": """
        # groups: 0 fused; 1 unfused NOT_COVERED; 2 unfused NOT_COVERED; 3 fused OTHER_TASK
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        SORT(int8) -> (int8) shape 0: write %2.2, read %1.1  # 1
        FLIP(int8) -> (int8) shape 0: write %2.2, read %1.1  # 2
        COPY(int8) -> (int8) shape 0: write %3.3, read %2.2  # 3
    """,
    "no kernel for these types": """
        # groups: 0 unfused
        COPY(int128) -> (int128) shape 0: write %1.1, read %0.0  # 0
    """,
    "a region of one element is written": """
        # groups: 0 fused; 1 unfused FEW_POINTS; 2 fused OTHER_TASK
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 3: write %50.50, read %50.50  # 1
        COPY(int8) -> (int8) shape 0: write %2.2, read %50.52  # 2
    """,
    "a region of one element is written from a scalar": """
        # groups: 0 unfused
        COPY(int8) -> (int8) shape 3: write %50.50, read %7.7  # 0
    """,
    "a scalar is written from a region of one element": """
        # groups: 0 unfused
        COPY(int8) -> (int8) shape 3: write %7.7, read %50.50  # 0
    """,
    "nothing is written": """
        # groups: 0 unfused; 1 unfused FEW_POINTS
        FILL(int8) -> (int8) shape 4: write %50.51  # 0
        COPY(int8) -> (int8) shape 4: write %50.51, read %50.51  # 1
    """,
    "any elements are read for a part of an array": """
        # groups: 0 fused; 1 unfused GATHERS
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 0: write %0.41, read(all) %2.2  # 1
    """,
    "any elements are read beside a part of an array": """
        # groups: 0 fused; 1 fused GATHERS
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.41  # 0
        COPY(int8) -> (int8) shape 0: write %3.3, read(all) %2.2  # 1
    """,
    "an operand is not affine": """
        # groups: 0 fused; 1 unfused NOT_AFFINE; 2 unfused NOT_AFFINE; 3 fused OTHER_TASK
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 0: write %2.2, read %0.30  # 1
        COPY(int8) -> (int8) shape 0: write %0.30, read %2.2  # 2
        COPY(int8) -> (int8) shape 0: write %3.3, read %0.0  # 3
    """,
    "an operand of scalar work is not affine": """
        # groups: 0 unfused
        COPY(int8) -> (int8) shape 2: write %7.7, read %6.26  # 0
    """,
    "another launch domain": """
        # groups: 0 fused; 1 fused LAUNCH_DOMAIN; 2 fused LAUNCH_DOMAIN
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 1: write %2.22, read %0.20  # 1
        COPY(int8) -> (int8) shape 1: write %3.23, read %2.22  # 1
        COPY(int8) -> (int8) shape 0: write %3.3, read %0.0  # 2
    """,
    "a write is read through another view": """
        # groups: 0 fused; 1 fused TRUE_DEPENDENCE
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 0: write %2.2, read %1.1  # 0
        COPY(int8) -> (int8) shape 0: write %3.3, read %1.11  # 1
    """,
    "the second operand reads a write through another view": """
        # groups: 0 fused; 1 fused TRUE_DEPENDENCE
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %2.2, read %1.1, read %1.11  # 1
    """,
    "a read is written through another view": """
        # groups: 0 fused; 1 fused ANTI_DEPENDENCE
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 0: write %0.10, read %2.2  # 1
    """,
    "one of several reads is written through another view": """
        # groups: 0 fused; 1 fused ANTI_DEPENDENCE
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %0.10  # 0
        COPY(int8) -> (int8) shape 0: write %0.0, read %1.1  # 1
    """,
    "a write is written through another view": """
        # groups: 0 fused; 1 fused OUTPUT_DEPENDENCE
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 0: write %1.11, read %0.0  # 1
    """,
    "one task reads and writes through different views": """
        # groups: 0 fused; 1 unfused ANTI_DEPENDENCE; 2 fused OTHER_TASK
        COPY(int8) -> (int8) shape 0: write %1.1, read %2.2  # 0
        COPY(int8) -> (int8) shape 0: write %0.10, read %0.0  # 1
        COPY(int8) -> (int8) shape 0: write %3.3, read %0.0  # 2
    """,
    "a swap of two halves": """
        # groups: 0 fused; 1 fused TRUE_DEPENDENCE
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0  # 0
        COPY(int8) -> (int8) shape 0: write %1.1, read %2.2  # 0
        COPY(int8) -> (int8) shape 0: write %0.0, read %4.14  # 1
    """,
}

REORDERING = {
    "past an operation that has no kernel": """
        # groups: 0 fused; 1 unfused NOT_COVERED
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        SORT(int8) -> (int8) shape 0: write %3.3, read %2.2  # 1
        COPY(int8) -> (int8) shape 0: write %0.0, read %1.1  # 0
    """,
    "not past one that reads what it writes": """
        # groups: 0 fused; 1 unfused NOT_COVERED; 2 fused OTHER_TASK
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        SORT(int8) -> (int8) shape 0: write %3.3, read %2.2  # 1
        COPY(int8) -> (int8) shape 0: write %2.2, read %1.1  # 2
    """,
    "not past one that writes what it reads": """
        # groups: 0 fused; 1 unfused NOT_COVERED; 2 fused OTHER_TASK
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        SORT(int8) -> (int8) shape 0: write %3.3, read %2.2  # 1
        COPY(int8) -> (int8) shape 0: write %0.0, read %3.3  # 2
    """,
    "not past one that writes what it writes": """
        # groups: 0 fused; 1 unfused NOT_COVERED; 2 fused OTHER_TASK
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        SORT(int8) -> (int8) shape 0: write %3.3, read %2.2  # 1
        COPY(int8) -> (int8) shape 0: write %3.3, read %1.1  # 2
    """,
    "past one that reads what it reads": """
        # groups: 0 fused; 1 unfused NOT_COVERED
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        SORT(int8) -> (int8) shape 0: write %3.3, read %0.0  # 1
        COPY(int8) -> (int8) shape 0: write %2.2, read %0.0  # 0
    """,
    "past one that uses the other half": """
        # groups: 0 fused; 1 unfused NOT_COVERED
        COPY(int8) -> (int8) shape 0: write %1.1, read %2.2  # 0
        SORT(int8) -> (int8) shape 0: write %0.41, read %3.3  # 1
        COPY(int8) -> (int8) shape 0: write %0.42, read %1.1  # 0
    """,
    "past several groups, to the last that it may join": """
        # groups: 0 fused; 1 fused LAUNCH_DOMAIN; 2 unfused NOT_COVERED
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 1: write %2.22, read %0.20  # 1
        SORT(int8) -> (int8) shape 0: write %3.3, read %0.0  # 2
        COPY(int8) -> (int8) shape 1: write %2.22, read %2.22  # 1
        COPY(int8) -> (int8) shape 0: write %1.1, read %1.1  # 0
    """,
    "a conflict with a group in between ends the way": """
        # groups: 0 fused; 1 fused LAUNCH_DOMAIN; 2 unfused NOT_COVERED; 3 fused OTHER_TASK
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 1: write %2.22, read %0.20  # 1
        SORT(int8) -> (int8) shape 0: write %3.3, read %0.0  # 2
        COPY(int8) -> (int8) shape 0: write %4.4, read %2.2  # 3
    """,
    "what moved keeps its place among those that follow": """
        # groups: 0 fused; 1 unfused NOT_COVERED; 2 unfused NOT_COVERED; 3 fused OTHER_TASK
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        SORT(int8) -> (int8) shape 0: write %3.3, read %2.2  # 1
        COPY(int8) -> (int8) shape 0: write %4.4, read %1.1  # 0
        SORT(int8) -> (int8) shape 0: write %4.4, read %2.2  # 2
        COPY(int8) -> (int8) shape 0: write %0.0, read %4.4  # 3
    """,
    "operations without a kernel stay in order": """
        # groups: 0 unfused; 1 unfused NOT_COVERED; 2 fused OTHER_TASK; 3 unfused NOT_COVERED
        SORT(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        SORT(int8) -> (int8) shape 0: write %3.3, read %2.2  # 1
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0  # 2
        SORT(int8) -> (int8) shape 0: write %0.0, read %0.0  # 3
    """,
    "what cannot join any group stays in order": """
        # groups: 0 unfused; 1 unfused NOT_AFFINE; 2 fused OTHER_TASK; 3 unfused NOT_AFFINE
        SORT(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 0: write %2.2, read %0.30  # 1
        COPY(int8) -> (int8) shape 0: write %3.3, read %0.0  # 2
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.30  # 3
    """,
    "nothing moves before the first group": """
        # groups: 0 unfused; 1 fused OTHER_TASK
        SORT(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 0: write %3.3, read %2.2  # 1
    """,
}

REDUCTIONS = {
    "to a scalar, with the fill that initialises it": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        FILL(int64) -> (int64) shape 2: write %60.60  # 0
        SCALAR_UNARY_RED.SUM(int8) -> (int64) shape 0: reduce(add) %60.60, read %1.1  # 0
    """,
    "several share one pass": """
        # groups: 0 fused
        FILL(int64) -> (int64) shape 2: write %60.60  # 0
        SCALAR_UNARY_RED.SUM(int8) -> (int64) shape 0: reduce(add) %60.60, read %0.0  # 0
        FILL(int8) -> (int8) shape 2: write %6.6  # 0
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %6.6, read %0.0  # 0
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
    """,
    "its result is read": """
        # groups: 0 fused; 1 fused REDUCTION
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %6.6, read %0.0  # 0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %6.16  # 1
    """,
    "its result is read by scalar work": """
        # groups: 0 fused; 1 fused REDUCTION
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %7.7, read %0.0  # 0
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %6.6, read %7.7  # 1
        COPY(int8) -> (int8) shape 0: write %1.1, read %6.16  # 1
    """,
    "its result is overwritten": """
        # groups: 0 fused; 1 fused REDUCTION
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %6.6, read %0.0  # 0
        FILL(int8) -> (int8) shape 2: write %6.6  # 1
        COPY(int8) -> (int8) shape 0: write %1.1, read %6.16  # 1
    """,
    "again to the same scalar": """
        # groups: 0 fused; 1 fused REDUCTION
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %6.6, read %0.0  # 0
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %6.6, read %1.1  # 1
    """,
    "to a scalar that the group has read": """
        # groups: 0 fused; 1 fused SCALAR_CHANGES
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %6.16  # 0
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %6.6, read %1.1  # 1
    """,
    "along an axis": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 5: write %0.80, read %2.82  # 0
        UNARY_RED.SUM(int8) -> (int64) shape 5: reduce(add) %63.83, read %0.80  # 0
    """,
    "along another axis": """
        # groups: 0 fused; 1 fused REDUCTION
        UNARY_RED.SUM(int8) -> (int64) shape 5: reduce(add) %63.83, read %0.80  # 0
        UNARY_RED.SUM(int64) -> (int64) shape 5: reduce(add) %63.84, read %64.85  # 1
    """,
    "of other arrays along another axis": """
        # groups: 0 fused; 1 fused REDUCED_AXES
        UNARY_RED.SUM(int8) -> (int64) shape 5: reduce(add) %63.83, read %0.80  # 0
        UNARY_RED.SUM(int8) -> (int64) shape 5: reduce(add) %64.86, read %0.80  # 1
    """,
    "to an array that the group reads": """
        # groups: 0 fused; 1 fused ANTI_DEPENDENCE
        COPY(int64) -> (int64) shape 5: write %64.85, read %63.84  # 0
        UNARY_RED.SUM(int8) -> (int64) shape 5: reduce(add) %63.83, read %0.80  # 1
    """,
    "to an array that the group writes": """
        # groups: 0 fused; 1 fused OUTPUT_DEPENDENCE
        COPY(int64) -> (int64) shape 5: write %64.85, read %63.84  # 0
        UNARY_RED.SUM(int8) -> (int64) shape 5: reduce(add) %64.86, read %0.80  # 1
    """,
    "to what the same task reads": """
        # groups: 0 unfused
        UNARY_RED.SUM(int64) -> (int64) shape 5: reduce(add) %64.86, read %64.85  # 0
    """,
    "the fill of an array runs by itself": """
        # groups: 0 fused; 1 fused LAUNCH_DOMAIN
        FILL(int64) -> (int64) shape 0: write %63.63  # 0
        UNARY_RED.SUM(int8) -> (int64) shape 5: reduce(add) %63.83, read %0.80  # 1
    """,
    "the fill of an array comes before what is reduced to it": """
        # groups: 0 fused; 1 fused LAUNCH_DOMAIN
        COPY(int8) -> (int8) shape 5: write %0.80, read %2.82  # 1
        FILL(int64) -> (int64) shape 0: write %63.63  # 0
        UNARY_RED.SUM(int8) -> (int64) shape 5: reduce(add) %63.83, read %0.80  # 1
    """,
    "but not before what reads the array": """
        # groups: 0 fused; 1 fused LAUNCH_DOMAIN; 2 fused LAUNCH_DOMAIN
        COPY(int64) -> (int64) shape 5: write %64.85, read %63.84  # 0
        FILL(int64) -> (int64) shape 0: write %63.63  # 1
        UNARY_RED.SUM(int64) -> (int64) shape 5: reduce(add) %63.83, read %64.85  # 2
    """,
    "what computes the array is no fill": """
        # groups: 0 fused; 1 fused LAUNCH_DOMAIN; 2 fused LAUNCH_DOMAIN
        COPY(int8) -> (int8) shape 5: write %0.80, read %2.82  # 0
        COPY(int64) -> (int64) shape 0: write %63.63, read %64.64  # 1
        UNARY_RED.SUM(int8) -> (int64) shape 5: reduce(add) %63.83, read %0.80  # 2
    """,
}

ONE_PROCESSOR = {
    "fills over other loops stay apart before what is reduced to them": """
        # groups: 0 fused; 1 fused LAUNCH_DOMAIN; 2 fused LAUNCH_DOMAIN
        COPY(int8) -> (int8) shape 5: write %91.591, read %90.590  # 2
        FILL(int64) -> (int64) shape 1: write %94.94  # 0
        FILL(int64) -> (int64) shape 3: write %94.394  # 1
        UNARY_RED.SUM(int8) -> (int64) shape 5: reduce(add) %94.194, read %91.591  # 2
    """,
    "what is not partitioned is a group of its own": """
        # groups: 0 fused; 1 fused PROCESSORS; 2 fused PROCESSORS
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 0: write %91.91, read %90.90  # 1
        COPY(int8) -> (int8) shape 0: write %2.2, read %91.91  # 2
    """,
    "a task with one partitioned argument runs on several": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %2.2, read %90.90, read %1.1  # 0
    """,
    "scalars go with either": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 0: write %91.91, read %90.90  # 0
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8  # 0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %92.92, read %91.91, read %7.17  # 0
    """,
    "the two ends of an array": """
        # groups: 0 fused; 1 fused OTHER_PART
        COPY(int8) -> (int8) shape 0: write %92.294, read %91.91  # 0
        COPY(int8) -> (int8) shape 0: write %92.295, read %91.91  # 1
    """,
    "one end of an array and one of another": """
        # groups: 0 fused; 1 fused NOTHING_SHARED
        FILL(int8) -> (int8) shape 0: write %92.294  # 0
        FILL(int8) -> (int8) shape 0: write %90.190  # 1
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %92.295, read %90.190, read %91.91  # 1
    """,
    "independent tasks that write whole arrays": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 0: write %92.92, read %90.90  # 0
        FILL(int8) -> (int8) shape 0: write %91.91  # 0
    """,
    "a loop over one element": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 3: write %91.391, read %90.390  # 0
        COPY(int8) -> (int8) shape 3: write %91.391, read %6.6  # 0
    """,
    "a reduction is done where its operand is made, past another loop": """
        # groups: 0 fused; 1 fused MOVED; 2 fused LAUNCH_DOMAIN
        COPY(int8) -> (int8) shape 0: write %92.92, read %90.90  # 1
        COPY(int8) -> (int8) shape 1: write %91.291, read %90.290  # 2
        FILL(int8) -> (int8) shape 2: write %95.95  # 0
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %95.95, read %92.92  # 1
    """,
    "no loop comes before others for what a reduction is filled with": """
        # groups: 0 fused; 1 fused MOVED; 2 fused LAUNCH_DOMAIN; 3 fused LAUNCH_DOMAIN
        COPY(int8) -> (int8) shape 0: write %92.92, read %90.90  # 1
        COPY(int8) -> (int8) shape 1: write %91.291, read %90.290  # 2
        FILL(int8) -> (int8) shape 2: write %95.95  # 0
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %95.95, read %92.92  # 1
        COPY(int8) -> (int8) shape 2: write %7.7, read %95.95  # 3
        COPY(int8) -> (int8) shape 3: write %93.393, read %90.390  # 3
    """,
    "aliasing views need loops of their own": """
        # groups: 0 fused; 1 fused TRUE_DEPENDENCE; 2 fused LAUNCH_DOMAIN
        COPY(int8) -> (int8) shape 0: write %91.91, read %90.90  # 0
        COPY(int8) -> (int8) shape 0: write %92.92, read %91.191  # 1
        COPY(int8) -> (int8) shape 1: write %90.290, read %92.292  # 2
    """,
}

SCALAR_WORK = {
    "at the start": """
        # groups: 0 fused
        BINARY_OP.ADD(int8, int8) -> (int8) shape 2: write %7.7, read %8.8, read %9.9  # 0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %7.17  # 0
    """,
    "in the middle, of another shape": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8  # 0
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %6.6, read %7.7  # 0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %2.2, read %1.1, read %6.16  # 0
    """,
    "at the end, for the group that follows": """
        # groups: 0 fused; 1 fused LAUNCH_DOMAIN
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8  # 1
        COPY(int8) -> (int8) shape 2: write %6.6, read %7.7  # 1
        COPY(int8) -> (int8) shape 1: write %2.22, read %0.20  # 1
    """,
    "at the window's end": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8  # 0
        COPY(int8) -> (int8) shape 2: write %6.6, read %7.7  # 0
    """,
    "alone": """
        # groups: 0 fused; 1 unfused NOT_COVERED; 2 fused OTHER_TASK
        FILL(int8) -> (int8) shape 2: write %7.7  # 0
        COPY(int8) -> (int8) shape 2: write %6.6, read %7.7  # 0
        SORT(int8) -> (int8) shape 0: write %2.2, read %7.17  # 1
        FILL(int8) -> (int8) shape 2: write %7.7  # 2
    """,
    "a scalar changes after the group has read it": """
        # groups: 0 fused
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %7.17  # 0
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8  # 0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %2.2, read %0.0, read %7.17  # 0
    """,
    "a scalar changes twice": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8  # 0
        COPY(int8) -> (int8) shape 0: write %1.1, read %7.17  # 0
        FILL(int8) -> (int8) shape 2: write %7.7  # 0
        COPY(int8) -> (int8) shape 0: write %2.2, read %7.17  # 0
    """,
    "a scalar changes after scalar work has read it": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8  # 0
        FILL(int8) -> (int8) shape 2: write %8.8  # 0
    """,
    "a scalar changes in place": """
        # groups: 0 fused
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0  # 0
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %7.7, read %7.7  # 0
        COPY(int8) -> (int8) shape 0: write %2.2, read %7.17  # 0
    """,
    "trailing scalar work is not part of the group that it would end": """
        # groups: 0 fused; 1 fused REDUCTION
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %6.6, read %0.0  # 0
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8  # 0
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %8.8, read %6.6  # 1
        COPY(int8) -> (int8) shape 0: write %2.2, read %7.17  # 1
    """,
    "a scalar changes and is reduced to": """
        # groups: 0 fused; 1 fused SCALAR_CHANGES
        COPY(int8) -> (int8) shape 0: write %1.1, read %7.17  # 0
        FILL(int8) -> (int8) shape 2: write %7.7  # 0
        COPY(int8) -> (int8) shape 0: write %2.2, read %7.17  # 0
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %7.7, read %1.1  # 1
    """,
    "a scalar is reduced to that something which must come later reads": """
        # groups: 0 fused; 1 fused SCALAR_CHANGES
        COPY(int8) -> (int8) shape 2: write %7.7, read %8.8  # 0
        COPY(int8) -> (int8) shape 0: write %1.1, read %6.16  # 0
        COPY(int8) -> (int8) shape 2: write %6.6, read %7.7  # 0
        COPY(int8) -> (int8) shape 0: write %2.2, read %6.16  # 0
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %7.7, read %0.0  # 1
    """,
}


GOLDEN = {
    "joins": JOINING,
    "refuses": REFUSED,
    "reorders": REORDERING,
    "reductions": REDUCTIONS,
    "one processor": ONE_PROCESSOR,
    "scalar work": SCALAR_WORK,
}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, id=f"{subject}: {name}")
        for subject, texts in GOLDEN.items()
        for name, text in texts.items()
    ],
)
def test_groups(text: str) -> None:
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
        lines += [
            f"store %{number} int8 live",
            f"view %{number}.{number} shape 0 many [:]",
        ]
    for number in range(count):
        lines.append(f"FILL(int8) -> (int8) shape 0: write %{number}.{number}")
    return "\n".join(lines)


def _range(start: int, stop: int) -> tuple[int, ...]:
    return tuple(range(start, stop))


def test_a_group_has_a_limited_number_of_arguments() -> None:
    groups = grouped(parse(_fills(MAX_ARGUMENTS)))
    assert groups == (Grouping(_range(0, MAX_ARGUMENTS), fused=True),)
    count = MAX_ARGUMENTS + 2
    groups = grouped(parse(_fills(count)))
    assert groups == (
        Grouping(_range(0, MAX_ARGUMENTS), True),
        Grouping(_range(MAX_ARGUMENTS, count), True, Refusal.TOO_MANY_ARGUMENTS),
    )


def test_the_futures_of_scalar_work_are_arguments() -> None:
    lines = []
    for number in range(MAX_ARGUMENTS):
        store, view = 100 + number, 200 + number
        lines += [
            f"store %{store} int8 live replicated",
            f"view %{store}.{view} shape 2 one []",
            f"store %{number} int8 replicated",
            f"view %{number}.{number} shape 2 one []",
            f"COPY(int8) -> (int8) shape 2: "
            f"write %{number}.{number}, read %{store}.{view}",
        ]
    lines += [
        "store %99 int8 live",
        "view %99.99 shape 0 many [:]",
        "FILL(int8) -> (int8) shape 0: write %99.99",
    ]
    first, second = grouped(parse("\n".join(lines)))
    assert first == Grouping(_range(0, MAX_ARGUMENTS), True)
    assert second.refusal is Refusal.TOO_MANY_ARGUMENTS


def test_constants_and_what_dies_in_the_group_are_no_arguments() -> None:
    lines = ["store %0 int8 live", "view %0.0 shape 0 many [:]"]
    for number in range(1, MAX_ARGUMENTS + 10):
        lines += [
            f"store %{number} int8",
            f"view %{number}.{number} shape 0 many [:]",
        ]
        constant = 200 + number
        lines += [
            f"store %{constant} int8 replicated constant",
            f"view %{constant}.{constant} shape 0 many [] as (*)",
            f"BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %{number}.{number}, "
            f"read %{number - 1}.{number - 1}, read %{constant}.{constant}",
        ]
    (group,) = grouped(parse("\n".join(lines)))
    assert group.fused


def test_a_group_has_a_limited_number_of_tasks() -> None:
    line = "UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %0.0, read %0.0\n"
    assert groups_of(line * MAX_TASKS) == (Grouping(_range(0, MAX_TASKS), True),)
    assert groups_of(line * (MAX_TASKS + 1)) == (
        Grouping(_range(0, MAX_TASKS), True),
        Grouping((MAX_TASKS,), True, Refusal.TOO_LONG),
    )


def test_two_rows_of_a_divided_array_are_two_groups() -> None:
    # points cannot divide a loop along the dimension where it is at both ends
    window = parse("""
        store %0 float64 live
        view %0.0 shape 0 many [0, :]
        view %0.1 shape 0 many [1, :]
        view %0.2 shape 0 many [-1, :]
        view %0.3 shape 0 many [-2, :]
        COPY(float64) -> (float64) shape 0: write %0.0, read %0.1
        COPY(float64) -> (float64) shape 0: write %0.2, read %0.3
    """)
    assert grouped(window) == (
        Grouping((0,), True),
        Grouping((1,), True, Refusal.OTHER_PART),
    )


def test_every_refusal_is_tested_and_says_why() -> None:
    golden = "".join(text for texts in GOLDEN.values() for text in texts.values())
    for refusal in Refusal:
        assert len(refusal.value.split()) > 4
        # the last one is for what moves later (sinking.py)
        if refusal not in (
            Refusal.TOO_MANY_ARGUMENTS,
            Refusal.TOO_LONG,
            Refusal.MOVED,
        ):
            assert re.search(rf"fused {refusal.name}\b", golden)
