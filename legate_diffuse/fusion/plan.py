# SPDX-License-Identifier: Apache-2.0
"""The plan of a window: its launches, each a fused task or the original ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final

from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.root_users import Buffer
from legate_diffuse.fusion.tiles import Tile, Tiling
from legate_diffuse.ir.distance import Landmark
from legate_diffuse.ir.nest import Nest, Turn
from legate_diffuse.kernel.ir import Kernel, RowProgram

NO_CODE: Final = -1


@dataclass(slots=True)
class PlannedNest:
    """A loop nest in its band.

    Attributes:
        turn: the nest, and what it does there.
        kernel: the number of its kernel in the native table, once it is there.
        operands: for each access the number of the task's argument or, from -1
            downwards, of the scratch buffer.
        packed: what programs say of the nest, once one did (``launch.program``).
        plain: then what they say of each operand, if all are single elements, or what
            views show: words, and the number of a view of which more follows.
    """

    turn: Turn
    kernel: int | None = None
    operands: tuple[int, ...] = ()
    packed: bytes = b""
    plain: tuple[tuple[bytes, int | None], ...] = ()

    @property
    def nest(self) -> Nest:
        """The nest."""
        return self.turn.nest

    @property
    def code(self) -> Kernel:
        """What is to be compiled."""
        return self.turn.nest.kernel


@dataclass(slots=True)
class PlannedRun:
    """Nests of a launch that may run as a whole on one row after the other.

    ``kernel`` is the number of their common code in the native table, once it is
    there; `NO_CODE` says that there is none, so that they run by themselves.
    """

    first: int
    code: RowProgram
    kernel: int | None = None


@dataclass(slots=True)
class PlannedLaunch:
    """Operations of a window, by position, that run as one task.

    Attributes:
        tasks: the operations, in program order.
        groups: which of them share a loop; none if the analysis has failed.
        fused: False if they run as they were submitted.
        partitioned: whether the task runs on tiles, and not on whole roots.
        tiling: how points divide several nests; without it a partitioned task has one,
            and its arguments have that one's shape.
        nests: the loop nests; empty if nothing is left to do.
        hoisted: operations that also run by themselves, before the fused task.
        late: the same, after it.
        deferrable: scalar operations that may wait until their result is read.
        temporaries: a view of each store that is never made.
        arguments: the task's arguments: views, or a view of each root.
        moved: the numbers of those that are to take the places of their roots' stores.
        privileges: what the task does with them, one byte for each; with the operators
            of reductions.
        scratch: the buffers in scratch memory.
        bands: how many of the nests are in each band.
        runs: those of them whose rows are independent, if they may run row by row.
        landmarks: those on which turns depend, each with a view's number, ``is_end``
            and an offset: it lies ``offset`` rows before the first row of the view, or
            before the end of its rows if ``is_end``.
        last_uses: the tasks and the views that no later launch needs, by number, once
            somebody has asked.
        task: the number of the task that has the launch's name, once it has one.
        written: the last program of the launch, for ``launch.program``.
        in_use: the layouts of temporaries, and how many bytes these take at once if
            operations run one by one, for ``launch.splitting``.
        loops: of each loop over all elements its shape, and how many operations it has,
            once somebody has asked.
    """

    tasks: tuple[int, ...]
    groups: tuple[Grouping, ...] = ()
    fused: bool = True
    partitioned: bool = False
    tiling: Tiling | None = None
    nests: list[PlannedNest] = field(default_factory=list)
    hoisted: tuple[int, ...] = ()
    late: tuple[int, ...] = ()
    deferrable: tuple[int, ...] = ()
    temporaries: tuple[int, ...] = ()
    arguments: tuple[int, ...] = ()
    moved: tuple[int, ...] = ()
    privileges: bytes = b""
    scratch: tuple[Buffer, ...] = ()
    bands: tuple[int, ...] = ()
    runs: tuple[PlannedRun, ...] = ()
    landmarks: tuple[tuple[Landmark, int, bool, int], ...] = ()
    last_uses: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    task: int | None = None
    written: Any = None
    in_use: tuple[list[Any], int] | None = None
    loops: list[tuple[int, int]] | None = None

    @property
    def views(self) -> set[int]:
        """The numbers of the views whose layouts its program has."""
        views = {buffer.view for buffer in self.scratch}
        for planned in self.nests:
            views.update(planned.nest.arguments, planned.nest.extents)
        if self.tiling is not None:
            tiles = [t for nest in self.tiling.nests for t in nest]
            views.update(
                tile.view
                for tile in tiles
                if isinstance(tile, Tile) and tile.view is not None
            )
        return views

    def work(self, shapes: Sequence[Any]) -> int:
        """Return how many operations on elements its loops have.

        Args:
            shapes: the window's shapes, by number.
        """
        if self.loops is None:
            nests = [each.nest for each in self.nests]
            self.loops = [
                (nest.shape, len(nest.kernel.body))
                for nest in nests
                if not nest.whole and nest.rows is None
            ]
        return sum([prod(shapes[shape]) * count for shape, count in self.loops])

    @property
    def coded(self) -> tuple[PlannedNest | PlannedRun, ...]:
        """What has code of its own."""
        return (*self.nests, *self.runs)


@dataclass(slots=True)
class Plan:
    """The launches of a window, in an order that gives the results of the program.

    Attributes:
        launches: the launches.
        length: the number of the window's operations.
        last_use: when the plan was used last, in windows.
        knows_last_uses: whether the launches say which views none needs after them.
        proven: whether somebody has looked if it is right.
        never_made: a view of each array that only operations in no launch use.
    """

    launches: tuple[PlannedLaunch, ...]
    length: int
    never_made: tuple[int, ...] = ()
    last_use: int = 0
    knows_last_uses: bool = False
    proven: bool = False


def unfused_plan(length: int) -> Plan:
    """Return the plan that runs every operation as it was submitted."""
    return Plan((PlannedLaunch(tuple(range(length)), fused=False),), length)
