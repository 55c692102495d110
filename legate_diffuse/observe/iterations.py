# SPDX-License-Identifier: Apache-2.0
"""What one iteration of a program's loop takes, found in the windows it submits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from legate_diffuse.observe.facts import WindowFacts
from legate_diffuse.observe.lines import Line
from legate_diffuse.observe.naming import file_and_line
from legate_diffuse.observe.repeats import shortest_cycle

# So many windows are looked at, of which an iteration may take this many.
MAX_TRACE: Final = 2048
_MAX_PERIOD: Final = 256


class Submission(NamedTuple):
    """A window that was submitted, by number.

    And how many operations the program had submitted until then, and what they had
    become, those that are in no window included.
    """

    window: int
    operations: int
    tasks: int


@dataclass(slots=True)
class LineCounts:
    """How many operations a line submits in one iteration, in how many loops, tasks."""

    operations: float = 0.0
    loops: float = 0.0
    tasks: float = 0.0


@dataclass(frozen=True, slots=True)
class Iteration:
    """What one iteration of a program takes, on average.

    ``seen`` is how often it was seen in a row. A window may hold several iterations, so
    the numbers need not be whole.
    """

    operations: float
    loops: float
    tasks: float
    seen: int
    lines: dict[Line, LineCounts]


def find_iteration(
    submissions: Iterable[Submission], windows: Sequence[WindowFacts]
) -> Iteration | None:
    """Return what an iteration takes, None if windows don't come again and again.

    The windows that were submitted repeat themselves for the longest time with the
    period of the outermost loop. Within that period the operations may repeat
    themselves as well, if a window holds several iterations.
    """
    trace = list(submissions)
    numbers = [one.window for one in trace]
    start, length, period = _longest_repetition(numbers)
    if not period:
        return None
    body = [windows[number] for number in numbers[start : start + period]]
    steps = [(one.provenance, one.verb) for each in body for one in each.operations]
    within = len(steps) // shortest_cycle(steps)
    # from one submission to the same one some periods later
    periods = (length - 1) // period
    first, last = trace[start], trace[start + periods * period]
    iterations = periods * within
    return Iteration(
        (last.operations - first.operations) / iterations,
        sum(len(launch.loops) for each in body for launch in each.launches or ())
        / within,
        (last.tasks - first.tasks) / iterations,
        iterations,
        _counts_of_lines(body, within),
    )


def _longest_repetition(numbers: Sequence[int]) -> tuple[int, int, int]:
    """Return start, length and period of the longest part that repeats itself.

    Of equally long ones that with the shortest period; of no length if none has come
    twice, and once more to begin with.
    """
    best = 0, 0, 0
    for period in range(1, min(_MAX_PERIOD, (len(numbers) - 1) // 2) + 1):
        run = 0
        for position in range(period, len(numbers)):
            run = run + 1 if numbers[position] == numbers[position - period] else 0
            length = run + period
            # a longer period has to explain more than its own length
            if run > period and length > best[1] + (period > best[2]) * best[2]:
                best = position - length + 1, length, period
    return best


def _counts_of_lines(
    body: Sequence[WindowFacts], within: int
) -> dict[Line, LineCounts]:
    operations: Counter[Line] = Counter()
    loops: Counter[Line] = Counter()
    tasks: Counter[Line] = Counter()
    for window in body:
        lines = [file_and_line(one.provenance) for one in window.operations]
        operations.update(filter(None, lines))
        for launch in window.launches or ():
            for loop in launch.loops:
                loops.update({line for n in loop.operations if (line := lines[n])})
            if launch.loops:
                fused = set(launch.operations) - set(launch.alone)
                tasks.update({line for n in fused if (line := lines[n])})
            tasks.update(line for n in launch.alone if (line := lines[n]))
        if window.launches is None:
            tasks.update(filter(None, lines))
    return {
        line: LineCounts(
            operations[line] / within, loops[line] / within, tasks[line] / within
        )
        for line in operations
    }
