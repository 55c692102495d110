# SPDX-License-Identifier: Apache-2.0
"""Tells a person what fusion makes of a program.

Each distinct window is described when it is first submitted. How often it was
submitted is told at the end of the program.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Final, TextIO

from legate_diffuse import settings
from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.launches import Form, Launch
from legate_diffuse.fusion.liveness import Liveness
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.plan import Plan, PlannedLaunch, analyse
from legate_diffuse.fusion.translate import translate
from legate_diffuse.ir.privilege import READ
from legate_diffuse.messages import say
from legate_diffuse.observe.location import escaped, locate
from legate_diffuse.observe.wording import TITLE, Names, extents, positions

# At most so many windows are described; the others are only counted.
MAX_DESCRIBED: Final = 200

_ENDINGS: Final = {
    "read": "the program reads a value",
    "full window": "it is as long as a window may be",
    "shutdown": "the program ends",
    "native call": "a library calls Legate directly",
    "fence": "the program waits for its tasks",
    "escape": "a library gets at Legate's own array",
    "task that cannot be fused": "a task comes that cannot wait",
    "read of shared memory": "it reads an array that NumPy holds as well",
    "write to a constant": "a constant is overwritten",
}


def open_explanation(rank: int, meanings: Meanings) -> Explanation | None:
    """Return the explanation that ``LEGATE_DIFFUSE_EXPLAIN`` asks for, if it does.

    ``-`` stands for the standard output, after the program's own. Of several ranks
    only the first explains.
    """
    path = settings.explanation_path()
    if not path or rank != 0:
        return None
    if path != "-":
        return Explanation(meanings, open(path, "w", encoding="utf-8"), at_once=True)
    return Explanation(meanings, sys.stdout, at_once=False)


@dataclass(slots=True)
class _Described:
    """A plan, and how often its window was submitted."""

    plan: Plan
    operations: int
    submissions: int = 0


class Explanation:
    """Describes windows in a file; ``at_once`` or when the program ends."""

    def __init__(self, meanings: Meanings, file: TextIO, *, at_once: bool) -> None:
        self._meanings = meanings
        self._file = file
        self._at_once = at_once
        self._broken = False
        self._blocks: list[str] = []
        self._described: dict[int, _Described] = {}
        self._write(_title())
        # registered before the last flush, hence run after it
        atexit.register(self._finish)

    def add(self, window: Any, plan: Plan) -> None:
        """Take note of a window that was submitted."""
        found = self._described.get(id(plan))
        if found is None:
            found = _Described(plan, len(window.operations))
            self._described[id(plan)] = found
            number = len(self._described)
            if number <= MAX_DESCRIBED:
                self._write(
                    "\n".join(_describe(number, window, plan, self._meanings)) + "\n"
                )
        found.submissions += 1

    def _write(self, block: str) -> None:
        if not self._at_once:
            self._blocks.append(block)
            return
        try:
            print(block, file=self._file, flush=True)
        except (OSError, ValueError) as error:
            if not self._broken:
                self._broken = True
                say(f"the explanation cannot be written: {error}")

    def _finish(self) -> None:
        self._at_once = True
        for block in self._blocks:
            self._write(block)
        self._write("\n".join(_totals(list(self._described.values()))))


def _title() -> str:
    program = " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]).strip()
    return f"{TITLE}{escaped(program) or 'the program'}\n"


def _totals(described: list[_Described]) -> list[str]:
    lines = ["Totals", "  window  submitted  operations  tasks"]
    lines += [
        f"  {number:6}  {one.submissions:9,}  {one.operations:10}  "
        f"{_count_tasks(one.plan):5}"
        for number, one in enumerate(described[:MAX_DESCRIBED], 1)
    ]
    if len(described) > MAX_DESCRIBED:
        lines.append(f"  and {len(described) - MAX_DESCRIBED:,} windows more")
    operations = sum(one.submissions * one.operations for one in described)
    tasks = sum(one.submissions * _count_tasks(one.plan) for one in described)
    lines.append(f"{operations:,} operations became {tasks:,} tasks")
    return lines


def _count_tasks(plan: Plan) -> int:
    return sum(
        len(launch.tasks) - len(launch.deferrable)
        if launch.form is Form.ORIGINAL
        else len(_hoisted(launch)) + bool(launch.nests)
        for launch in plan.launches
    )


def _hoisted(launch: PlannedLaunch) -> list[int]:
    """Return the operations that run before a fused task, and need not wait."""
    return [n for n in launch.hoisted if n not in launch.deferrable]


def _describe(
    number: int, window: Any, plan: Plan, meanings: Meanings
) -> Iterator[str]:
    """Yield the lines that describe a window and its plan."""
    operations = window.operations
    names = Names(window)
    count, tasks = len(operations), _count_tasks(plan)
    ending = _ENDINGS.get(window.cause, window.cause)
    place = locate()
    yield (
        f"Window {number}: {_plural(count, 'operation')} became "
        f"{_plural(tasks, 'task')}"
    )
    yield f"  It ends where {ending}{f' ({place})' if place else ''}."
    yield "  Arrays"
    legend = names.legend()
    width = max((len(kind) for _, kind in legend), default=0)
    for text, kind in legend:
        yield f"    {kind:<{width}}  {text}"
    yield "  Operations"
    width = max(len(operation.provenance_) for operation in operations)
    for position, operation in enumerate(operations, 1):
        yield (
            f"    {position:3}  {operation.provenance_:<{width}}  "
            f"{names.operation(operation)}"
        )
    try:
        analysed = analyse(translate(window, meanings), meanings)
    except Exception:
        # the submitter has told the user what it was
        yield "  Its analysis failed, so all operations run as they were submitted."
        return
    place_of = _TaskNumbers()
    for planned, (launch, liveness) in zip(
        plan.launches, analysed.launches, strict=True
    ):
        writer = _LaunchWriter(window, names, planned, launch, liveness)
        for line in writer.lines(place_of):
            yield from _fold(line)


class _TaskNumbers:
    """Counts the tasks of a window while they are described."""

    def __init__(self) -> None:
        self._last = 0

    def take(self, count: int) -> str:
        first, self._last = self._last + 1, self._last + count
        return f"Task {first}" if count == 1 else f"Tasks {first}-{self._last}"


@dataclass(frozen=True, slots=True)
class _LaunchWriter:
    """Describes one launch."""

    window: Any
    names: Names
    planned: PlannedLaunch
    launch: Launch
    liveness: Liveness

    def lines(self, numbers: _TaskNumbers) -> Iterator[str]:
        planned, launch = self.planned, self.launch
        if planned.form is Form.ORIGINAL:
            yield from self._original(numbers)
            return
        hoisted = _hoisted(planned)
        if hoisted:
            why = self._why_original(hoisted) or (
                ", because other tasks or the program need the result too"
            )
            which = numbers.take(len(hoisted))
            yield f"  {which}: {positions(hoisted)} as submitted{why}"
        if not planned.nests:
            yield f"  No task: nobody needs the results of {positions(launch.tasks)}"
            yield from self._refusals()
            return
        if launch.form is Form.ALIGNED:
            yield (
                f"  {numbers.take(1)}: {positions(launch.tasks)} in one loop over "
                f"{self._extents(launch.groups[0])}, on all processors"
            )
            yield from self._refusals()
        else:
            count = len(launch.groups)
            loops = "one loop" if count == 1 else f"{count} loops one after the other"
            yield f"  {numbers.take(1)}: {loops} over whole arrays"
            yield from self._loops()
        yield from self._arrays()

    def _original(self, numbers: _TaskNumbers) -> Iterator[str]:
        tasks = [n for n in self.planned.tasks if n not in self.planned.deferrable]
        why = self._why_original(tasks)
        if not why and self.launch.form is not Form.ORIGINAL:
            why = ", because something failed before"
        if tasks:
            yield f"  {numbers.take(len(tasks))}: {positions(tasks)} as submitted{why}"
            yield from self._refusals()
        yield from self._waiting()

    def _why_original(self, tasks: Sequence[int]) -> str:
        operations = self.window.operations
        if all(operations[n].kind.operation.task == "FILL" for n in tasks):
            return ", because fills cost Legate little"
        return ""

    def _waiting(self) -> Iterator[str]:
        if self.planned.deferrable:
            yield (
                f"  No task yet: {positions(self.planned.deferrable)}, which only the "
                "program needs, until it reads the result"
            )

    def _refusals(self) -> Iterator[str]:
        for group in self.launch.groups[:1]:
            if group.refusal is not None:
                yield f"    not with what comes before: {group.refusal.value}"

    def _loops(self) -> Iterator[str]:
        for number, group in enumerate(self.launch.groups, 1):
            yield (
                f"    loop {number:2} over {self._extents(group)}: "
                f"{positions(group.tasks)}"
            )
            if group.refusal is not None:
                after = "the loop before" if number > 1 else "what comes before"
                yield f"            not with {after}: {group.refusal.value}"

    def _extents(self, group: Grouping) -> str:
        """Return the extents of a group's loop: those of its largest operation."""
        views = [
            view
            for position in group.tasks
            for view in self.window.operations[position].views
        ]
        return extents(max(views, key=lambda view: view.volume).shape)

    def _arrays(self) -> Iterator[str]:
        """Say what becomes of the arrays that the launch makes."""
        views = self.window.views
        operations = [self.window.operations[n] for n in self.planned.tasks]
        read = {
            view.root
            for operation in operations
            for privilege, view in zip(
                operation.privileges, operation.views, strict=True
            )
            if privilege == READ
        }
        scratch = [views[number].root for number, _, _ in self.planned.scratch]
        dropped = [views[number].root for number in self.planned.temporaries]
        dropped = [root for root in dropped if root not in scratch]
        for text, found in (
            (
                "never stored, only passed on within a loop",
                [r for r in dropped if r in read],
            ),
            ("never computed, nobody reads it", [r for r in dropped if r not in read]),
            ("in the task's own memory", scratch),
        ):
            if found:
                yield f"    arrays {text}: {self.names.roots(found)}"
        yield from self._waiting()


def _fold(line: str) -> list[str]:
    """Return a line in lines that are not too long."""
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return wrap(line, width=88, subsequent_indent=indent, drop_whitespace=True)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
