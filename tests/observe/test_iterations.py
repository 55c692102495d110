# SPDX-License-Identifier: Apache-2.0
"""An iteration of a program is found in the windows that it submits."""

from __future__ import annotations

from legate_diffuse.observe.facts import (
    LaunchFacts,
    LoopFacts,
    OperationFacts,
    WindowFacts,
)
from legate_diffuse.observe.iterations import (
    Iteration,
    LineCounts,
    Submission,
    find_iteration,
)


def window(*lines: int, alone: int | None = None) -> WindowFacts:
    """Return a window of one task with a loop for each line, but for one operation."""
    operations = tuple(
        OperationFacts(f"a.py:{line}", "BINARY_OP", "add", "", 0) for line in lines
    )
    hoisted = () if alone is None else (alone,)
    loops = tuple(
        LoopFacts("3", (n,), None, ()) for n in range(len(lines)) if n not in hoisted
    )
    launch = LaunchFacts(
        True, False, tuple(range(len(lines))), hoisted, "", (), loops, None, "", (), 0
    )
    return WindowFacts(operations, "read", "", (), (launch,))


def find(numbers: str, windows: list[WindowFacts], extra: int = 0) -> Iteration | None:
    """Find the iteration of a program that submits windows, given by their letters.

    ``extra`` operations of each window's are in none.
    """
    trace = []
    operations = tasks = 0
    for letter in numbers:
        number = ord(letter) - ord("a")
        operations += len(windows[number].operations) + extra
        tasks += windows[number].tasks + extra
        trace.append(Submission(number, operations, tasks))
    return find_iteration(trace, windows)


SETUP = window(1)
STEP = window(2, 3, 3)
CHECK = window(4)


def test_a_loop_is_found_after_the_programs_start() -> None:
    found = find("abbbbb", [SETUP, STEP])
    lines = {("a.py", 2): LineCounts(1, 1, 1), ("a.py", 3): LineCounts(2, 2, 1)}
    assert found == Iteration(3.0, 3.0, 1.0, 4, lines)


def test_a_loop_of_several_windows_with_one_inside() -> None:
    found = find("abbbcbbbcbbbcbbb", [SETUP, STEP, CHECK])
    assert found is not None
    assert (found.operations, found.loops, found.tasks) == (10.0, 10.0, 4.0)
    assert found.lines["a.py", 4] == LineCounts(1, 1, 1)
    assert found.lines["a.py", 3] == LineCounts(6, 6, 3)


def test_a_window_may_hold_several_iterations() -> None:
    found = find("abbbb", [SETUP, window(2, 3, 2, 3)])
    lines = {("a.py", 2): LineCounts(1, 1, 0.5), ("a.py", 3): LineCounts(1, 1, 0.5)}
    assert found == Iteration(2.0, 2.0, 0.5, 6, lines)


def test_what_is_in_no_window_counts() -> None:
    found = find("abbb", [SETUP, window(2, 3, alone=0)], extra=2)
    assert found is not None
    assert (found.operations, found.loops, found.tasks) == (4.0, 1.0, 4.0)
    assert found.lines["a.py", 2] == LineCounts(1, 0, 1)


def test_a_program_without_a_loop_has_no_iteration() -> None:
    for trace in ("", "a", "abc", "aa", "abab"):
        assert find(trace, [SETUP, STEP, CHECK]) is None
