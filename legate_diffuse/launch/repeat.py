# SPDX-License-Identifier: Apache-2.0
"""Windows that came before, run again in one native call.

A program that reads a result in each iteration ends a window there, which may hold two
or three operations: to find its plan, and to make and do the steps of it, takes longer
than the loop over a hundred thousand elements. So a window whose plan is one program
that ran in this process is noted, once it came twice, with all that the program depends
on and the key does not say. When it comes again, native code compares that, has the
program run, and lets an empty window take its place, with nothing in between
(``mappers/process/repeat.h``). It does nothing where anything differs. A full window
that takes long runs apart, while the program goes on.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final, NamedTuple

from legate_diffuse.fusion.plan import Plan, PlannedLaunch
from legate_diffuse.ir.nest import ConstantSource
from legate_diffuse.launch.choice import ThreadsOrPoints
from legate_diffuse.launch.few_points import MOST_LOOPED
from legate_diffuse.launch.policy import kinds_of
from legate_diffuse.launch.small import SmallArrays
from legate_diffuse.launch.state import ClosedWindow
from legate_diffuse.observe.counters import Counters

# See the kernel calling convention.
_SCALAR_WORDS: Final = 2
_WORD: Final = 8
# A window has to come so often before it is noted.
_LEAST_TIMES: Final = 2

_Place = tuple[int, int]


class Repeated(NamedTuple):
    """What is noted of a window.

    Attributes:
        plan: its plan.
        takes_long: whether its loops take far longer than to hand it over as a task.
        has_few_points: whether they are as small as those that run as they come.
        used: the bytes of its large arrays.
        removed: how many arrays are never made, and their bytes.
        kinds: of its operations.
    """

    plan: Plan
    takes_long: bool
    has_few_points: bool
    used: int
    removed: tuple[int, int]
    kinds: tuple[int, ...]


class Repeats:
    """Notes windows, and keeps count of those that run again."""

    def __init__(
        self,
        native: Any,
        small: SmallArrays,
        choice: ThreadsOrPoints,
        counters: Counters,
    ) -> None:
        self._native = native
        self._small = small
        self._choice = choice
        self._counters = counters

    @staticmethod
    def may_note(plan: Plan) -> bool:
        """Whether a plan is one program and nothing else."""
        if len(plan.launches) != 1:
            return False
        (one,) = plan.launches
        others = one.hoisted or one.late or one.deferrable or one.partitioned
        return one.fused and bool(one.nests) and not others

    def note(self, window: ClosedWindow, plan: Plan, program: bytes) -> None:
        """Note a window whose only program ran here.

        That is if its arrays were seen in the same way the last time. What was noted
        and still comes here does so for another reason, and is noted ever less often.
        """
        (launch,) = plan.launches
        times, views = launch.written.times, window.views
        if times < _LEAST_TIMES or times & (times - 1) or window.carried:
            return
        roots = [views[number].root for number in launch.arguments]
        temporaries = (*launch.temporaries, *plan.never_made)
        removed = [views[number].root for number in temporaries]
        takes_long = self._small.is_long(launch, window.shapes, roots)
        self._native.note_window(
            window.key,
            window.operations,
            [view.layout for view in views],
            window.shapes,
            launch.arguments,
            launch.privileges,
            program,
            *_scalars(launch),
            temporaries,
            self._small.room.most_in_all,
            takes_long,
            Repeated(
                plan,
                takes_long,
                all([prod(shape) <= MOST_LOOPED for shape in window.shapes]),
                self._choice.used_by(roots),
                (len(removed), sum([root.nbytes for root in removed])),
                kinds_of(window.operations),
            ),
        )

    def count(self, window: Repeated) -> None:
        """Count a window that ran again."""
        self._small.note_again(window.takes_long, window.has_few_points)
        self._choice.note_again(window.used)
        counters, removed = self._counters, window.removed
        counters.plan_hits += 1
        counters.windows_repeated += 1
        counters.groups += 1
        counters.ran_in_process += 1
        counters.temporaries_removed += removed[0]
        counters.temporaries_removed_bytes += removed[1]


def _scalars(launch: PlannedLaunch) -> tuple[list[_Place], list[_Place]]:
    """Return where the program of a launch has scalars, in words.

    They are constants, each with a view of it, and those of operations, by position.
    """
    constants: list[_Place] = []
    others: list[_Place] = []
    for planned, place in zip(launch.nests, launch.written.places, strict=True):
        for number, source in enumerate(planned.nest.scalars):
            word = place // _WORD + _SCALAR_WORDS * number
            if isinstance(source, ConstantSource):
                constants.append((word, source.view))
            else:
                others.append((word, source.task))
    return constants, others
