# SPDX-License-Identifier: Apache-2.0
"""What the passes have made of a window so far."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.launches import Launch, Placed
from legate_diffuse.fusion.liveness import Liveness
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.nest_rewriter import Rewritten
from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.fusion.renaming import Renaming
from legate_diffuse.ir import Window
from legate_diffuse.ir.nest import Nest, Program

T = TypeVar("T")


@dataclass(slots=True)
class Memo(Generic[T]):
    """What a pass has made of parts of a window, for when it runs again."""

    made: dict[Hashable, T] = field(default_factory=dict)

    def of(self, part: Hashable, make: Callable[[], T]) -> T:
        """Return what was made of a part; it is made once."""
        if part not in self.made:
            self.made[part] = make()
        return self.made[part]


@dataclass(slots=True)
class Memos:
    """What does not depend on cuts."""

    placed: Placed = field(default_factory=Placed)
    nests: Memo[Nest | None] = field(default_factory=Memo)
    rewritten: Memo[Rewritten | None] = field(default_factory=Memo)
    programs: Memo[Program] = field(default_factory=Memo)
    planned: Memo[PlannedLaunch | None] = field(default_factory=Memo)


@dataclass(slots=True)
class Draft:
    """A window on its way to a plan; each pass fills in a part.

    Attributes:
        window: the operations, as they were recorded, but for what points divide.
        meanings: what they mean.
        renaming: the window with new names, which all that follows is about.
        runs_rows: whether nests may run as a whole on one row after the other.
        kept: ids of stores whose names stay.
        cuts: tasks, by position, that share no launch on several points with those
            before them.
        dead: tasks, by position, whose results nobody uses.
        groups: which tasks share a loop nest.
        launches: which groups share a task, in the order in which these run.
        liveness: for each launch, what it need not write.
        nests: for each launch, its kernels.
        rewritten: for each launch, the nests that it runs, and what they use.
        programs: for each launch, the schedule of its nests.
        planned: for each launch, what is to be submitted.
        memos: what has been made of parts of ``renaming.window``.
    """

    window: Window
    meanings: Meanings
    renaming: Renaming
    runs_rows: bool = False
    kept: frozenset[int] = frozenset()
    cuts: frozenset[int] = frozenset()
    dead: frozenset[int] = frozenset()
    groups: tuple[Grouping, ...] = ()
    launches: tuple[Launch, ...] = ()
    liveness: tuple[Liveness, ...] = ()
    nests: tuple[tuple[Nest, ...], ...] = ()
    rewritten: tuple[Rewritten, ...] = ()
    programs: tuple[Program, ...] = ()
    planned: tuple[PlannedLaunch, ...] = ()
    memos: Memos = field(default_factory=Memos)
