# SPDX-License-Identifier: Apache-2.0
"""Reasons are those of the groups that there are after tasks have moved."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from random_programs import random_program
from tiers import examples
from window_golden import covered
from window_reader import parse

from legate_diffuse.fusion.grouping import Grouping, group_window, with_refusals
from legate_diffuse.fusion.legality import Group, Refusal, refuse
from legate_diffuse.fusion.sinking import sink
from legate_diffuse.ir import Window

# %0 to %2 are y, x and w, %3, %4 and %7 are q, r and v of another length, %5 and %6
# single elements
STORES: Final = "".join(
    [f"store %{n} float64 live single\n" for n in (*range(5), 7)]
    + [f"store %{n} float64 live replicated single\n" for n in (5, 6)]
    + [f"view %{n}.{n} shape 0 many [:]\n" for n in range(3)]
    + [f"view %{n}.{n} shape 1 many [:]\n" for n in (3, 4, 7)]
    + [f"view %{n}.{n} shape 0 many [] as (*)\n" for n in (5, 6)]
    + [f"view %{n}.1{n} shape 1 many [] as (*)\n" for n in (5, 6)]
)


def add(shape: int, target: str, one: str, other: str) -> str:
    return (
        f"BINARY_OP.ADD(float64, float64) -> (float64) shape {shape}: "
        f"write %{target}, read %{one}, read %{other}\n"
    )


SUM: Final = (
    "SCALAR_UNARY_RED.SUM(float64) -> (float64) shape 1: reduce(add) %5.15, read %3.3\n"
)
Y: Final = add(0, "0.0", "1.1", "1.1")
Q: Final = add(1, "3.3", "3.3", "5.15")
W: Final = add(0, "2.2", "1.1", "5.5")


def sunk(text: str) -> list[tuple[tuple[int, ...], Refusal | None]]:
    groups = sink(group_window(parse(STORES + text), covered))
    groups = with_refusals(groups, covered)
    return [(group.tasks, group.refusal) for group in groups]


def test_what_has_moved_is_no_reason_any_more() -> None:
    """y = x + x; s = q.sum(); q += s; w = x + s."""
    assert sunk(Y + SUM + Q + W) == [
        ((1,), None),
        ((2,), Refusal.REDUCTION),
        ((0, 3), Refusal.LAUNCH_DOMAIN),
    ]


def test_what_stood_between_two_loops_has_moved() -> None:
    """s = q.sum(); r += s; r += q; t = v.sum(); q += t."""
    text = (
        SUM
        + add(1, "4.4", "4.4", "5.15")
        + add(1, "4.4", "4.4", "3.3")
        + SUM.replace("5.15", "6.16").replace("3.3", "7.7")
        + add(1, "3.3", "3.3", "6.16")
    )
    assert sunk(text) == [
        ((0,), None),
        ((3,), Refusal.MOVED),
        ((1, 2, 4), Refusal.REDUCTION),
    ]


def reason(window: Window, before: Grouping, group: Grouping) -> bool:
    """Whether something keeps two groups of loops apart."""
    joined = Group()
    for position in before.tasks:
        assert refuse(joined, window.tasks[position]) is None
        joined.add(position, window.tasks[position])
    for position in group.tasks:
        refusal = refuse(joined, window.tasks[position])
        if refusal is not None:
            return True
        joined.add(position, window.tasks[position])
    return False


def test_what_moved_leaves_no_group_without_a_reason() -> None:
    moved = 0
    for number in range(examples(1_000, 4_000)):
        window = random_program(number).window
        groups = group_window(window, covered)
        moved_to = sink(groups)
        if moved_to == groups:
            continue
        after = with_refusals(moved_to, covered)
        moved += 1
        assert after[0].refusal is None
        for before, group in pairwise(after):
            assert group.refusal is not None
            if not group.fused:
                continue
            if not before.fused:
                assert group.refusal is Refusal.OTHER_TASK
                continue
            assert group.refusal is not Refusal.OTHER_TASK
            kept_apart = reason(window, before, group)
            assert kept_apart is not (group.refusal is Refusal.MOVED)
    assert moved > examples(5, 20)
