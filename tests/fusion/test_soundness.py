# SPDX-License-Identifier: Apache-2.0
"""The analyses against brute force over the points of random programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from concrete_programs import Footprint, Program, smallest
from launch_forms import ORIGINAL, PARTITIONED, WHOLE, Form, form_of
from plan_checks import check, fails
from random_programs import random_program
from tiers import examples
from window_golden import covered
from window_reader import parse

from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.legality import Refusal, refuse_alone
from legate_diffuse.fusion.pipeline import verify_pass
from legate_diffuse.ir.text import render

WINDOWS = examples(500, 4_000)


def test_random_windows_run_as_planned() -> None:
    accepted = 0
    refused: Counter[Refusal] = Counter()
    forms: Counter[Form] = Counter()
    for seed in range(WINDOWS):
        program = random_program(seed)
        try:
            groups, made = check(program, verify_pass)
        except Exception:
            culprit = render(smallest(program, fails).window)
            print(f"\nseed {seed} fails, and so does this part of it:\n{culprit}")
            raise
        joined, turned_away = count_legal_joins(program, groups)
        accepted += joined
        refused += turned_away
        forms.update(map(form_of, made.launches))
    for form in (ORIGINAL, WHOLE, PARTITIONED):
        assert forms[form] > WINDOWS / 10, "all forms are tested"
    report_completeness(accepted, refused)


def count_legal_joins(
    program: Program, groups: Sequence[Grouping]
) -> tuple[int, Counter[Refusal]]:
    """Return how many joins were made, and which were refused without a dependence."""
    accepted = 0
    refused: Counter[Refusal] = Counter()
    for number, group in enumerate(groups):
        accepted += len(group.tasks) - 1
        if number and could_join(program, groups, number):
            before = groups[number - 1]
            reason = group.refusal
            if not before.fused:
                reason = refuse_alone(program.window.tasks[before.tasks[0]])
            assert reason is not None
            refused[reason] += 1
    return accepted, refused


def could_join(program: Program, groups: Sequence[Grouping], number: int) -> bool:
    """Whether the first task of a group has no dependence on the group before."""
    tasks = program.window.tasks
    position = groups[number].tasks[0]
    task = tasks[position]
    before = [tasks[n] for n in groups[number - 1].tasks if n < position]
    if not before or not all(map(covered, [*before, task])):
        return False
    shapes = {t.shape for t in [*before, task] if not t.scalar}
    footprint = Footprint()
    for earlier in before:
        footprint.add(program, earlier)
    return len(shapes) <= 1 and not footprint.conflicts(program, task)


def report_completeness(accepted: int, refused: Counter[Refusal]) -> None:
    """Print the share of the joins without a dependence that were refused."""
    legal = accepted + refused.total()
    print(f"\n{legal} legal joins, {refused.total() / legal:.1%} of them refused:")
    for reason, number in refused.most_common():
        print(f"  {number / legal:6.1%} {reason.name}: {reason.value}")


def test_random_windows_have_a_text_form() -> None:
    for seed in range(300):
        window = random_program(seed).window
        assert parse(render(window)) == window
