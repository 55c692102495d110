# SPDX-License-Identifier: Apache-2.0
"""What the passes have made of a window so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.launches import Launch
from legate_diffuse.fusion.liveness import Liveness
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.memo import Memo
from legate_diffuse.fusion.nest_rewriter import Rewritten
from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.fusion.renaming import Renaming
from legate_diffuse.ir import Window
from legate_diffuse.ir.nest import Nest, Program


@dataclass(frozen=True, slots=True)
class LaunchDraft:
    """A launch on its way to a task; each pass fills in a part.

    Attributes:
        launch: its groups.
        liveness: what it need not write.
        nests: its nests with their kernels.
        rewritten: the nests that it runs.
        program: their schedule.
        planned: what is to be submitted.
    """

    launch: Launch
    liveness: Liveness = Liveness(())  # noqa: RUF009 (it is frozen)
    nests: tuple[Nest, ...] = ()
    rewritten: Rewritten = Rewritten((), frozenset())  # noqa: RUF009
    program: Program = Program(())  # noqa: RUF009
    planned: PlannedLaunch | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A window on its way to a plan; each pass returns one with more in it.

    Attributes:
        window: the operations, as they were recorded, but for what points divide.
        meanings: what they mean.
        renaming: the window with new names, which all that follows is about.
        runs_rows: whether nests may run as a whole on one row after the other.
        kept: ids of stores whose names stay.
        cuts: tasks, by position, that share no launch on several points with those
            before them.
        groups: which tasks share a loop nest.
        launches: which groups share a task, in the order in which these run.
        memo: what has been made of parts of ``renaming.window``.
    """

    window: Window
    meanings: Meanings
    renaming: Renaming
    runs_rows: bool = False
    kept: frozenset[int] = frozenset()
    cuts: frozenset[int] = frozenset()
    groups: tuple[Grouping, ...] = ()
    launches: tuple[LaunchDraft, ...] = ()
    memo: Memo = field(default_factory=Memo)

    @property
    def planned(self) -> tuple[PlannedLaunch, ...]:
        """What is to be submitted, as far as it is known."""
        found = (each.planned for each in self.launches)
        return tuple([one for one in found if one is not None])
