# SPDX-License-Identifier: Apache-2.0
"""What each line of a program costs, and what keeps its tasks apart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from legate_diffuse.fusion.legality import Refusal
from legate_diffuse.fusion.plan import PlannedNest
from legate_diffuse.observe.advice import OF_FIRST_TIMES, OF_REFUSALS, OF_WAITING
from legate_diffuse.observe.facts import LoopFacts, OperationFacts, WindowFacts
from legate_diffuse.observe.ledger import Measured, TaskTime, Wait
from legate_diffuse.observe.naming import file_and_line, place

Line = tuple[str, int]


@dataclass(slots=True)
class LineCosts:
    """What a line costs, in seconds.

    The time of a loop is shared out evenly over its operations.

    Attributes:
        loops: time of its share of loops, by the number of the window.
        others: the tasks that run as they are.
        runs: operations on small arrays, which run at once.
        waited: what the program has waited for there.
    """

    loops: dict[int, float] = field(default_factory=dict)
    others: list[TaskTime] = field(default_factory=list)
    runs: list[TaskTime] = field(default_factory=list)
    waited: Wait = field(default_factory=Wait)

    @property
    def seconds(self) -> float:
        """The time of the line's tasks, and of what ran at once."""
        tasks = sum(task.seconds for task in (*self.others, *self.runs))
        return sum(self.loops.values()) + tasks


@dataclass(frozen=True, slots=True)
class Wall:
    """Something that keeps tasks apart: where, what, what to write instead, its time.

    ``line`` is None if it is no line of a file.
    """

    line: Line | None
    what: str
    advice: str
    seconds: float


def costs_of_lines(
    windows: Sequence[tuple[WindowFacts, int]], measured: Measured
) -> dict[Line, LineCosts]:
    """Return what each line costs that submits operations or waits."""
    costs: dict[Line, LineCosts] = {}

    def at(provenance: str) -> LineCosts:
        line = file_and_line(provenance)
        # what has no place counts in the totals only
        return LineCosts() if line is None else costs.setdefault(line, LineCosts())

    for number, (window, _) in enumerate(windows, 1):
        for operation in window.operations:
            at(operation.provenance).loops.setdefault(number, 0.0)
        for loop, nest in _nests(window):
            # a copy of what others still read is made for all of a loop's operations
            positions = nest.nest.tasks or loop.operations
            share = measured.of_nests([nest]) / len(positions)
            for position in positions:
                at(window.operations[position].provenance).loops[number] += share
    for task in measured.other_tasks:
        at(task.place).others.append(task)
    for run in measured.runs:
        at(run.place).runs.append(run)
    for where, wait in measured.ledger.waits.items():
        at(where).waited = wait
    return costs


def _nests(window: WindowFacts) -> Iterator[tuple[LoopFacts, PlannedNest]]:
    for launch in window.launches or ():
        for loop in launch.loops:
            yield from ((loop, nest) for nest in loop.nests)


def find_walls(
    windows: Sequence[tuple[WindowFacts, int]],
    measured: Measured,
    advise: Callable[[str], str],
) -> list[Wall]:
    """Return what keeps tasks apart, the costliest first."""
    reasons = _reasons(windows, measured.ledger.late)
    walls = [_as_it_is(task, reasons, advise) for task in measured.other_tasks]
    walls += [
        Wall(
            file_and_line(where),
            f"the program waits for its tasks ({_times(wait.times)})",
            OF_WAITING,
            wait.seconds,
        )
        for where, wait in measured.ledger.waits.items()
        if where
    ]
    walls += [
        Wall(
            file_and_line(where),
            f"{name.removeprefix('issue_')} is no task that can be fused "
            f"({_times(times)})",
            advise(name),
            0.0,
        )
        for (where, name), times in measured.ledger.passed.items()
    ]
    walls += dict.fromkeys(
        _new_task(window.operations[launch.operations[0]], launch.refusal)
        for window, _ in windows
        for launch in window.launches or ()
        if launch.loops and launch.refusal not in _OF_OTHERS
    )
    return sorted(walls, key=lambda wall: -wall.seconds)


# What copies are called, and a task of ours that does nothing else.
_COPY: Final = "copy"
# Nothing was refused, or the wall is what comes before.
_OF_OTHERS: Final = (None, Refusal.OTHER_TASK)


@dataclass(frozen=True, slots=True)
class _Reason:
    """What a task that runs as it is does, why, and what to write instead."""

    verb: str
    why: str = ""
    advice: str = ""


# By the line of a task and the letters of its name.
_Reasons = dict[tuple[Line | None, str], _Reason]


def _reasons(
    windows: Sequence[tuple[WindowFacts, int]], late: Collection[tuple[str, str]]
) -> _Reasons:
    found: _Reasons = {}
    for window, _ in windows:
        for launch in window.launches or ():
            for n in launch.operations:
                operation = window.operations[n]
                reason = _Reason(operation.verb)
                if n not in launch.alone:
                    if (operation.provenance, operation.task) in late:
                        reason = _Reason(operation.verb, *OF_FIRST_TIMES)
                        found.setdefault(_keys(operation)[0], reason)
                    continue
                if launch.refusal not in _OF_OTHERS:
                    refusal = launch.refusal
                    reason = _Reason(
                        operation.verb, refusal.value, OF_REFUSALS[refusal]
                    )
                found.update(dict.fromkeys(_keys(operation), reason))
    return found


def _keys(operation: OperationFacts) -> list[tuple[Line | None, str]]:
    """Return the line of an operation with each name that its task may have.

    One of ours may copy in place of the library's (``launch/copy_task.py``).
    """
    names = {operation.task: None, **({_COPY: None} if operation.verb == _COPY else {})}
    line = file_and_line(operation.provenance)
    return [(line, _letters(name)) for name in names]


def _as_it_is(task: TaskTime, reasons: _Reasons, advise: Callable[[str], str]) -> Wall:
    line, name = file_and_line(task.place), short_name(task.name)
    reason = reasons.get((line, _letters(name)), _Reason(name))
    what = f"{reason.verb} runs as it is ({_times(task.times)})"
    if reason.why:
        what += f", because {reason.why}"
    return Wall(line, what, advise(task.name) or reason.advice, task.seconds)


def _letters(name: str) -> str:
    """Return what names of a task in the IR and in Legate have in common."""
    return name.replace("_", "").lower()


def _new_task(first: OperationFacts, refusal: Refusal) -> Wall:
    return Wall(
        file_and_line(first.provenance),
        f"{first.verb} begins a new task: {refusal.value}",
        OF_REFUSALS[refusal],
        0.0,
    )


def short_name(task: str) -> str:
    """Return a task's name without the library and what all names end in."""
    return place(task).rpartition("::")[2].removesuffix("Task")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
