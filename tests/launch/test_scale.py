# SPDX-License-Identifier: Apache-2.0
"""Planning does not know how many processors there are.

A plan depends on the machine in one place only: whether Legate would partition an
array, which it does not if the array or the machine is small.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from recorder import Machine, Recorder, part, spread

from legate_diffuse.fusion.pipeline import make_plan
from legate_diffuse.fusion.plan import Plan
from legate_diffuse.ir import Window
from legate_diffuse.ir.privilege import READ, REDUCE
from legate_diffuse.ir.text import render
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS

PROCESSORS = [2**power for power in range(1, 21)]
THRESHOLD = 4096


def record(processors: int, elements: int) -> tuple[tuple[int, ...], Window]:
    """Record a solver's iteration on so many processors, which only Legate tells."""
    r = Recorder(Machine(processors, THRESHOLD))
    u, work = r.array(elements + 2), r.array(elements, live=False, made=False)
    small, rr, alpha = r.array(8), r.scalar(), r.scalar(live=False)
    for _ in range(3):
        r.task("BINARY_OP.ADD", [work, part(u, 0, elements), part(u, 2, elements + 2)])
        r.task("BINARY_OP.MULTIPLY", [work, work, spread(alpha, work)])
        r.task("FILL", [rr], scalars=("float64",))
        r.task("SCALAR_UNARY_RED.SUM_SQUARES", [rr, work], [REDUCE, READ])
        r.task("BINARY_OP.DIVIDE", [alpha, rr, rr])
        r.task("COPY", [part(u, 1, elements + 1), work])
        r.task("SORT", [small, small])
    return r.finish()


class Steps:
    """Counts the calls of functions of the analyses, and the lines that they run."""

    def __init__(self) -> None:
        self.calls = 0
        self.lines = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if "legate_diffuse" not in frame.f_code.co_filename:
            return None
        self.calls += event == "call"
        self.lines += event == "line"
        return self


def count_steps(window: Window) -> tuple[int, int, Plan]:
    """Return the calls and lines that planning takes, and the plan."""
    make_plan(window, MEANINGS)  # what is remembered within the process
    steps = Steps()
    before = sys.gettrace()
    sys.settrace(steps)
    try:
        plan = make_plan(window, MEANINGS)
    finally:
        sys.settrace(before)
    return steps.calls, steps.lines, plan


def test_the_same_arrays_on_more_processors() -> None:
    found = [record(processors, 1 << 24) for processors in PROCESSORS]
    assert len({key for key, _ in found}) == 1
    assert len({render(window) for _, window in found}) == 1
    counted = [count_steps(window) for _, window in found]
    assert counted[0][0] > 100
    assert all(steps == counted[0] for steps in counted)


def test_arrays_that_grow_with_the_machine() -> None:
    found = [record(p, (1 << 16) * p) for p in PROCESSORS]
    assert len({key for key, _ in found}) == 1
    steps = [count_steps(window) for _, window in found]
    assert all(step == steps[0] for step in steps)


def test_only_what_is_partitioned_at_all_makes_a_difference() -> None:
    """One processor, or arrays under the threshold, have other plans: programs."""
    several = record(2, 1 << 24)
    one = record(1, 1 << 24)
    small = record(1 << 20, THRESHOLD - 3)
    assert several[0] != one[0]
    assert one == small

    def without_single(window: Window) -> str:
        return render(window).replace(" single", "")

    assert without_single(one[1]) == without_single(several[1])
    launches = make_plan(one[1], MEANINGS).launches
    assert any(launch.fused for launch in launches)
    assert not any(launch.partitioned for launch in launches)
