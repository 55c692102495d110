# SPDX-License-Identifier: Apache-2.0
"""What the page shows of a line when it is opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from legate_diffuse.fusion.legality import Refusal
from legate_diffuse.observe.advice import OF_REFUSALS
from legate_diffuse.observe.facts import (
    LaunchFacts,
    LoopFacts,
    OperationFacts,
    WindowFacts,
)
from legate_diffuse.observe.lines import Line, LineCosts, Wall, short_name
from legate_diffuse.observe.naming import file_and_line
from legate_diffuse.observe.quantities import about, average, in_bytes, in_seconds
from legate_diffuse.observe.repeats import parts
from legate_diffuse.observe.report import Report
from legate_diffuse.observe.wording import plural

# A line may be part of many windows, and many lines of a loop.
_MOST_WINDOWS: Final = 3
_MOST_LINES: Final = 40
_MOST_OPERATIONS: Final = 6  # more are folded


def anchor(line: Line) -> str:
    """Return the id of a line on the page."""
    file, number = line
    letters = (c if c.isalnum() else f"_{ord(c):x}_" for c in file)
    return f"L{number}-{''.join(letters)}"


def link(line: Line | None) -> str:
    """Return a link to a line on the page."""
    if line is None:
        return "outside of the program's lines"
    return (
        f'<a href="#{anchor(line)}">{escape(os.path.basename(line[0]))}:{line[1]}</a>'
    )


def line_details(
    line: Line, cost: LineCosts, walls: Sequence[Wall], report: Report
) -> Iterator[str]:
    """Yield a line's walls, and what became of its operations."""
    yield '<div class="details">'
    for wall in walls:
        text = f"{wall.what}. {wall.advice}"
        yield f"<p><strong>Wall:</strong> {escape(text)}</p>"
    if (one := report.in_iteration(line)) is not None:
        yield (
            f"<p>In each iteration: {average(one.operations, 'operation')} in "
            f"{average(one.loops, 'loop')} of {average(one.tasks, 'task')}</p>"
        )
    for task in cost.others:
        yield (
            f"<p>{escape(short_name(task.name))} as it is: "
            f"{plural(task.times, 'time')}, "
            f"{in_seconds(task.seconds)}</p>"
        )
    if cost.runs:
        total = sum(run.seconds for run in cost.runs)
        names = ", ".join(f"{run.name} {about(run.times)}" for run in cost.runs)
        yield (
            "<p>On small arrays, at once in the program's thread: "
            f"{escape(names)}, {in_seconds(total)}</p>"
        )
    if cost.waited.times:
        yield (
            f"<p>The program waited here: {plural(cost.waited.times, 'time')}, "
            f"{in_seconds(cost.waited.seconds)}</p>"
        )
    found = sorted(
        cost.loops, key=lambda n: (-cost.loops[n], -report.windows[n - 1][1])
    )
    for number in found[:_MOST_WINDOWS]:
        window, submissions = report.windows[number - 1]
        yield from _in_window(number, window, submissions, line, report)
    if len(found) > _MOST_WINDOWS:
        yield f"<p>and in {plural(len(found) - _MOST_WINDOWS, 'window')} more</p>"
    yield "</div>"


def _in_window(
    number: int, window: WindowFacts, submissions: int, line: Line, report: Report
) -> Iterator[str]:
    own = {
        n
        for n, operation in enumerate(window.operations)
        if file_and_line(operation.provenance) == line
    }
    launches = [
        launch
        for launch in window.launches or ()
        if own.intersection(launch.operations)
    ]
    loops = sum(
        bool(own.intersection(loop.operations))
        for launch in launches
        for loop in launch.loops
    )
    yield (
        f"<h3>Window {number}, submitted {plural(submissions, 'time')}: "
        f"{plural(len(own), 'operation')} in {plural(loops, 'loop')} of "
        f"{plural(sum(launch.tasks > 0 for launch in launches), 'task')}</h3>"
    )
    operations = [window.operations[n] for n in sorted(own)]
    yield from _operation_list(operations[:_MOST_OPERATIONS])
    if len(operations) > _MOST_OPERATIONS:
        rest = operations[_MOST_OPERATIONS:]
        yield f"<details><summary>and {plural(len(rest), 'operation')} more</summary>"
        yield from _operation_list(rest)
        yield "</details>"
    if window.launches is None:
        yield "<p>The analysis failed, so all operations run as submitted.</p>"
    for launch in launches:
        yield from _in_launch(window, launch, own, report)


def _operation_list(operations: Sequence[OperationFacts]) -> Iterator[str]:
    yield "<ul>"
    for one in operations:
        moved = in_bytes(one.moved)
        yield f"<li><code>{escape(one.text)}</code>, alone {moved}</li>"
    yield "</ul>"


def _in_launch(
    window: WindowFacts, launch: LaunchFacts, own: set[int], report: Report
) -> Iterator[str]:
    if own.intersection(launch.alone):
        yield f"<p>As submitted{escape(launch.why_alone)}.</p>"
    if own.intersection(launch.waiting):
        yield "<p>Waits until the program reads the result.</p>"
    if not launch.loops and not launch.alone:
        yield "<p>No task: nobody needs the result.</p>"
    if launch.refusal is not None:
        yield _refused("the task before", launch.refusal)
    taking = [
        (number, loop)
        for number, loop in enumerate(launch.loops, 1)
        if own.intersection(loop.operations)
    ]
    kinds = [
        (loop.extents, number > 1 and loop.refusal, _lines_of(window, loop))
        for number, loop in taking
    ]
    # those of the iterations in a window are told once
    for part in parts(kinds):
        for number, loop in taking[part.first : part.first + part.length]:
            yield from _in_loop(number, window, launch, loop, report)
        if part.times > 1:
            same = taking[part.first : part.end]
            seconds = sum(report.measured.of_nests(loop.nests) for _, loop in same)
            come = "The same loops come" if part.length > 1 else "Such a loop comes"
            yield (f"<p>{come} {part.times:,} times, {in_seconds(seconds)} in all</p>")
    if launch.stored:
        yield f"<p>Arrays stored: {escape(launch.stored)}</p>"
    if launch.loops:
        yield f"<p>The task reads and writes {in_bytes(launch.moved)} of arrays.</p>"
    for text, names in launch.fates:
        yield f"<p>Arrays {escape(text)}: {escape(names)}</p>"


def _in_loop(
    number: int,
    window: WindowFacts,
    launch: LaunchFacts,
    loop: LoopFacts,
    report: Report,
) -> Iterator[str]:
    seconds = report.measured.of_nests(loop.nests)
    lines = _lines_of(window, loop)
    links = ", ".join(link(line) for line in sorted(lines)[:_MOST_LINES])
    more = f" and {len(lines) - _MOST_LINES} more" if len(lines) > _MOST_LINES else ""
    yield (
        f"<p>Loop {number} of {len(launch.loops)} over {escape(loop.extents)}, "
        f"{in_seconds(seconds)} in all, with the lines {links}{more}</p>"
    )
    if number > 1 and loop.refusal is not None:
        yield _refused("the loop before", loop.refusal)


def _lines_of(window: WindowFacts, loop: LoopFacts) -> frozenset[Line]:
    return frozenset(
        found
        for n in loop.operations
        if (found := file_and_line(window.operations[n].provenance)) is not None
    )


def _refused(before: str, refusal: Refusal) -> str:
    text = f"Not with {before}: {refusal.value}. {OF_REFUSALS[refusal]}"
    return f"<p>{escape(text)}</p>"
