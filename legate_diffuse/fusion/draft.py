# SPDX-License-Identifier: Apache-2.0
"""What the passes have made of a window so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.launches import Launch
from legate_diffuse.fusion.liveness import Liveness
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.memo import Memo
from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.fusion.renaming import Renaming
from legate_diffuse.fusion.tile_nests import Divided
from legate_diffuse.ir import OperationKind, Window
from legate_diffuse.ir.nest import Nest, Program


class LaunchDraft(NamedTuple):
    """A launch on its way to a task; each pass fills in a part.

    Attributes:
        launch: its groups.
        liveness: what it need not write.
        nests: its nests with their kernels, then with those that compute something
            again or copy it; what these use besides the window's stores replaces one.
        scratch: the ids of the stores that live in the task.
        divided: how points divide the nests, if several do.
        program: their schedule; it is known before that pass if somebody has asked what
            it costs.
        planned: what is to be submitted.
    """

    launch: Launch
    liveness: Liveness = Liveness(())
    nests: tuple[Nest, ...] = ()
    scratch: frozenset[int] = frozenset()
    divided: Divided | None = None
    program: Program = Program(())
    planned: PlannedLaunch | None = None


class Draft(NamedTuple):
    """A window on its way to a plan; each pass returns one with more in it.

    Attributes:
        window: the operations, as they were recorded, but for what points divide.
        meanings: what they mean.
        renaming: the window with new names, which all that follows is about.
        memo: what has been made of parts of that.
        runs_rows: whether nests may run as a whole on one row after the other.
        traps: which operations' original tasks must not run if kernels can instead,
            besides those that their meanings name.
        kept: ids of stores whose names stay.
        cuts: tasks, by position, that share no launch on several points with those
            before them.
        groups: which tasks share a loop nest.
        launches: which groups share a task, in the order in which these run.
    """

    window: Window
    meanings: Meanings
    renaming: Renaming
    memo: Memo
    runs_rows: bool = False
    traps: Callable[[OperationKind], bool] = lambda kind: False
    kept: frozenset[int] = frozenset()
    cuts: frozenset[int] = frozenset()
    groups: tuple[Grouping, ...] = ()
    launches: tuple[LaunchDraft, ...] = ()

    @property
    def planned(self) -> tuple[PlannedLaunch, ...]:
        """What is to be submitted, as far as it is known."""
        found = (each.planned for each in self.launches)
        return tuple([one for one in found if one is not None])
