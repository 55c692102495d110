# SPDX-License-Identifier: Apache-2.0
"""The explanation as text."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Sequence
from textwrap import wrap
from typing import Final

from legate_diffuse.fusion.legality import Refusal
from legate_diffuse.observe.facts import LaunchFacts, WindowFacts
from legate_diffuse.observe.iterations import Iteration
from legate_diffuse.observe.ledger import TaskTime
from legate_diffuse.observe.lines import Line
from legate_diffuse.observe.quantities import about, average, in_seconds, percent
from legate_diffuse.observe.repeats import Part, parts
from legate_diffuse.observe.report import Report
from legate_diffuse.observe.source import Sources, quote, read_sources
from legate_diffuse.observe.summary import Summary
from legate_diffuse.observe.wording import ending, plural, positions

_WIDTH: Final = 88
_MOST_WALLS: Final = 3
_MOST_LINES: Final = 12
# Of the time of all lines, from which on one is named.
_LEAST_SHARE: Final = 0.01


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
    steps = [(one.provenance, one.verb) for one in window.operations]
    for part in _folded(steps):
        for n in range(part.first, part.first + part.length):
            one = window.operations[n]
            yield f"    {n + 1:3}  {one.provenance:<{width}}  {one.text}"
        if part.times > 1:
            yield (f"    {part.first + 1}-{part.end}  {_same(part, 'operation')}")
    if window.launches is None:
        yield "  Its analysis failed, so all operations run as they were submitted."
        return
    numbers = _TaskNumbers()
    for launch in window.launches:
        for line in _launch_lines(launch, numbers, steps):
            yield from _fold(line)


def summary_lines(report: Report, summary: Summary) -> Iterator[str]:
    """Yield what a person asks first, in lines of at most 88 characters."""
    sources = read_sources(report.folder, summary.costs)
    measured, iteration = report.measured, report.iteration
    if iteration is None:
        yield "No iteration came again and again."
    else:
        yield (
            f"An iteration: {average(iteration.operations, 'operation')} became "
            f"{average(iteration.tasks, 'task')}, with "
            f"{average(iteration.loops, 'loop')} "
            f"(seen {iteration.seen:,} times)"
        )
    yield (
        f"In all: {plural(measured.operations, 'operation')} became "
        f"{plural(measured.tasks, 'task')} in {in_seconds(measured.elapsed)}"
    )
    yield ""
    yield "Where the time went"
    for clock in summary.clocks:
        yield f"  {clock.title}, {in_seconds(clock.seconds)}"
        for name, seconds in clock.parts:
            share = percent(seconds, clock.seconds)
            yield f"    {name:<44} {in_seconds(seconds):>8} {share:>5}"
    for note in summary.notes:
        yield from _fold(f"  {note}")
    least = _LEAST_SHARE * summary.seconds
    dear = [(line, seconds) for line, seconds in summary.costliest if seconds >= least]
    if dear:
        yield ""
        yield "Lines that cost most"
        for line, seconds in dear:
            share = percent(seconds, summary.seconds)
            yield _cut(
                f"  {_at(line)}  {in_seconds(seconds)}, {share}  {quote(line, sources)}"
            )
    yield ""
    yield from _wall_lines(summary)
    if iteration is not None and iteration.lines:
        yield ""
        yield "One iteration, line by line"
        yield from _iteration_lines(iteration, sources)


def _wall_lines(summary: Summary) -> Iterator[str]:
    if not summary.walls:
        yield "Nothing keeps tasks apart."
        return
    yield "Why there are not fewer tasks, the dearest reasons first"
    for number, wall in enumerate(summary.walls[:_MOST_WALLS], 1):
        seconds = f", {in_seconds(wall.seconds)}" if wall.seconds else ""
        where = "" if wall.line is None else f"{_at(wall.line)}: "
        yield from _fold(f"  {number}. {where}{wall.what}{seconds}")
        if wall.advice:
            yield from _fold(f"       {wall.advice}")
    if (rest := len(summary.walls) - _MOST_WALLS) > 0:
        yield f"  and {rest:,} more"


def _iteration_lines(iteration: Iteration, sources: Sources) -> Iterator[str]:
    """Yield a line for each of the program's, those with most operations."""
    found = iteration.lines
    shown = sorted(found, key=lambda line: (-found[line].operations, line))
    for line in sorted(shown[:_MOST_LINES]):
        one = found[line]
        yield _cut(
            f"  {_at(line)}  {average(one.operations, 'operation')}, "
            f"{average(one.loops, 'loop')}, {average(one.tasks, 'task')}  "
            f"{quote(line, sources)}"
        )
    if (rest := len(found) - _MOST_LINES) > 0:
        yield f"  and {plural(rest, 'line')} more"


def _at(line: Line) -> str:
    return f"{os.path.basename(line[0])}:{line[1]}"


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}..."


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


def _launch_lines(
    launch: LaunchFacts, numbers: _TaskNumbers, steps: Sequence[tuple[str, str]]
) -> Iterator[str]:
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
            yield from _loop_lines(launch, steps)
        for text, names in launch.fates:
            yield f"    arrays {text}: {names}"
        yield from _waiting(launch)


def _loop_lines(launch: LaunchFacts, steps: Sequence[tuple[str, str]]) -> Iterator[str]:
    kinds = [
        (loop.extents, loop.refusal, tuple(steps[n] for n in loop.operations))
        for loop in launch.loops
    ]
    for part in _folded(kinds):
        for n in range(part.first, part.first + part.length):
            loop = launch.loops[n]
            yield (
                f"    loop {n + 1:2} over {loop.extents}: {positions(loop.operations)}"
            )
            before = "the loop before" if n else "what comes before"
            yield from _refused(before, loop.refusal, indent=12)
        if part.times > 1:
            yield f"    loops {part.first + 1}-{part.end}: {_same(part, 'loop')}"


def _folded(items: Sequence[Hashable]) -> Iterator[Part]:
    """Yield the parts of a sequence; what is not shorter as such is not folded."""
    for part in parts(items):
        if part.length * (part.times - 1) > 1:
            yield part
        else:
            yield Part(part.first, part.length * part.times, 1)


def _same(part: Part, noun: str) -> str:
    return f"the same {plural(part.length, noun)}, {part.times:,} times in all"


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
    return wrap(line, width=_WIDTH, subsequent_indent=indent, drop_whitespace=True)
