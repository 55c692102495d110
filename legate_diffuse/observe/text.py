# SPDX-License-Identifier: Apache-2.0
"""The explanation as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from legate_diffuse.fusion.legality import Refusal
from legate_diffuse.observe.facts import LaunchFacts, WindowFacts
from legate_diffuse.observe.ledger import TaskTime
from legate_diffuse.observe.quantities import about
from legate_diffuse.observe.wording import ending, plural, positions


def window_lines(number: int, window: WindowFacts) -> Iterator[str]:
    """Yield the lines that describe a window and its plan."""
    place = f" ({window.place})" if window.place else ""
    yield (
        f"Window {number}: {plural(len(window.operations), 'operation')} became "
        f"{plural(window.tasks, 'task')}"
    )
    yield f"  It ends where {ending(window.cause)}{place}."
    yield "  Arrays"
    width = max((len(kind) for _, kind in window.legend), default=0)
    for text, kind in window.legend:
        yield f"    {kind:<{width}}  {text}"
    yield "  Operations"
    width = max(len(operation.provenance) for operation in window.operations)
    for position, operation in enumerate(window.operations, 1):
        yield f"    {position:3}  {operation.provenance:<{width}}  {operation.text}"
    if window.launches is None:
        yield "  Its analysis failed, so all operations run as they were submitted."
        return
    numbers = _TaskNumbers()
    for launch in window.launches:
        for line in _launch_lines(launch, numbers):
            yield from _fold(line)


def total_lines(
    windows: Sequence[tuple[WindowFacts, int]],
    most: int,
    runs: Sequence[TaskTime] = (),
    processors: Sequence[str] = (),
) -> list[str]:
    """Return the totals of windows, each with how often it was submitted.

    And those of operations that ran at once, by their lines, and what there is to say
    about the processors. Lines of sentences are not longer than others.
    """
    lines = ["Totals", "  window  submitted  operations  tasks"]
    lines += [
        f"  {number:6}  {submissions:9,}  {len(window.operations):10}  {window.tasks:5}"
        for number, (window, submissions) in enumerate(windows[:most], 1)
    ]
    if len(windows) > most:
        lines.append(f"  and {len(windows) - most:,} windows more")
    operations = sum(times * len(window.operations) for window, times in windows)
    tasks = sum(times * window.tasks for window, times in windows)
    lines += [line for sentence in processors for line in _fold(sentence)]
    lines.append(f"{operations:,} operations became {tasks:,} tasks")
    if runs:
        lines.append("Operations on small arrays, at once in the program's thread")
        width = max(len(run.place) for run in runs)
        lines += [
            f"  {run.place:<{width}}  {run.name} {about(run.times)}"
            for run in sorted(runs, key=lambda run: -run.times)[:most]
        ]
    return lines


class _TaskNumbers:
    """Counts the tasks of a window while they are described."""

    def __init__(self) -> None:
        self._last = 0

    def take(self, count: int) -> str:
        first, self._last = self._last + 1, self._last + count
        return f"Task {first}" if count == 1 else f"Tasks {first}-{self._last}"


def _launch_lines(launch: LaunchFacts, numbers: _TaskNumbers) -> Iterator[str]:
    if launch.alone:
        yield (
            f"  {numbers.take(len(launch.alone))}: {positions(launch.alone)} as "
            f"submitted{launch.why_alone}"
        )
    if not launch.fused:
        if launch.alone:
            yield from _refused("what comes before", launch.refusal)
        yield from _waiting(launch)
    elif not launch.loops:
        yield f"  No task: nobody needs the results of {positions(launch.operations)}"
        yield from _refused("what comes before", launch.refusal)
    else:
        count = len(launch.loops)
        if launch.partitioned and count == 1:
            yield (
                f"  {numbers.take(1)}: {positions(launch.operations)} in one loop over "
                f"{launch.loops[0].extents}, on all processors"
            )
            yield from _refused("what comes before", launch.refusal)
        else:
            loops = "one loop" if count == 1 else f"{count} loops one after the other"
            where = "tiles, on all processors" if launch.partitioned else "whole arrays"
            yield f"  {numbers.take(1)}: {loops} over {where}"
            yield from _loop_lines(launch)
        for text, names in launch.fates:
            yield f"    arrays {text}: {names}"
        yield from _waiting(launch)


def _loop_lines(launch: LaunchFacts) -> Iterator[str]:
    for number, loop in enumerate(launch.loops, 1):
        yield f"    loop {number:2} over {loop.extents}: {positions(loop.operations)}"
        before = "the loop before" if number > 1 else "what comes before"
        yield from _refused(before, loop.refusal, indent=12)


def _refused(before: str, refusal: Refusal | None, indent: int = 4) -> Iterator[str]:
    if refusal is not None:
        yield f"{' ' * indent}not with {before}: {refusal.value}"


def _waiting(launch: LaunchFacts) -> Iterator[str]:
    if launch.waiting:
        yield (
            f"  No task yet: {positions(launch.waiting)}, which only the "
            "program needs, until it reads the result"
        )


def _fold(line: str) -> list[str]:
    """Return a line in lines that are not too long."""
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return wrap(line, width=88, subsequent_indent=indent, drop_whitespace=True)
