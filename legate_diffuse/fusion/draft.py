# SPDX-License-Identifier: Apache-2.0
"""What the passes have made of a window so far."""

from __future__ import annotations

from dataclasses import dataclass

from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.launches import Launch
from legate_diffuse.fusion.liveness import Liveness
from legate_diffuse.fusion.localize import Localized
from legate_diffuse.fusion.lowering import LoweredNest
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.fusion.renaming import Renaming
from legate_diffuse.ir import Window
from legate_diffuse.ir.nest import Program


@dataclass(slots=True)
class Draft:
    """A window on its way to a plan; each pass fills in a part.

    Attributes:
        window: the operations, as they were recorded.
        meanings: what they mean.
        renaming: the window with new names, which all that follows is about.
        kept: ids of stores whose names stay.
        cuts: tasks, by position, that share no launch on several points with those
            before them.
        groups: which tasks share a loop nest.
        launches: which groups share a task, in the order in which these run.
        liveness: for each launch, what it need not write.
        nests: for each launch, its kernels.
        localized: for each launch, the nests that it runs, and what they use.
        programs: for each launch, the schedule of its nests.
        planned: for each launch, what is to be submitted.
    """

    window: Window
    meanings: Meanings
    renaming: Renaming
    kept: frozenset[int] = frozenset()
    cuts: frozenset[int] = frozenset()
    groups: tuple[Grouping, ...] = ()
    launches: tuple[Launch, ...] = ()
    liveness: tuple[Liveness, ...] = ()
    nests: tuple[tuple[LoweredNest, ...], ...] = ()
    localized: tuple[Localized, ...] = ()
    programs: tuple[Program, ...] = ()
    planned: tuple[PlannedLaunch, ...] = ()
