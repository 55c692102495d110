# SPDX-License-Identifier: Apache-2.0
"""Loop nests, bands of them, and programs.

A nest runs over all points of a shape. A band is a sequence of nests that take turns
on the rows of an axis; a program is a sequence of bands. They have no extents, as
windows have none. Numbers of rows may depend on landmarks (``distance.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from legate_diffuse.ir.distance import Landmark, Rows, landmarks_of
from legate_diffuse.ir.region import REPEATED, SINGLE
from legate_diffuse.ir.store import Points, Store, View
from legate_diffuse.ir.task import Access
from legate_diffuse.kernel.ir import Kernel

NO_KERNEL: Final = Kernel((), (), ())
"""What a nest computes before anybody has asked."""


@dataclass(frozen=True, slots=True)
class ConstantSource:
    """A kernel scalar that is the value of a constant store."""

    view: int


@dataclass(frozen=True, slots=True)
class TaskScalarSource:
    """A kernel scalar that is a scalar argument of one of the nest's tasks.

    ``position`` counts from the end of the task's scalar arguments, because
    the first ones are part of the operation's kind.
    """

    task: int
    position: int


ScalarSource = ConstantSource | TaskScalarSource


@dataclass(frozen=True, slots=True)
class RowsOf:
    """The rows of a nest at which a nest's view shows what another view does.

    Nobody knows which these are. The nest's views show no more than their regions.

    Attributes:
        loop: the loop of the nest along them, None if it has a single one.
        beside: the recorded number of the nest's view of a store, None if that shows
            the store.
        rows: that of the view that shows these rows of the store, and no others.
    """

    loop: int | None
    beside: int | None
    rows: int


@dataclass(frozen=True, slots=True)
class Nest:
    """A perfect loop nest, whose points do not depend on one another.

    Attributes:
        number: of the nest in its program, before that is scheduled.
        shape: class of the extents of its loops.
        points: how many points they have.
        accesses: what each point does. All views have a dimension for each loop. Those
            that change something come first.
        rows: those of its shape that it runs; None are all.
        whole: it runs over all of its stores, and its shape is none of the window's.
        tasks: the operations in it, by position.
        kernel: what each point computes; it has an argument for each access.
        scalars: what the scalars of the kernel are.
    """

    number: int
    shape: int
    points: Points
    accesses: tuple[Access, ...]
    rows: RowsOf | None = None
    whole: bool = False
    tasks: tuple[int, ...] = ()
    kernel: Kernel = NO_KERNEL
    scalars: tuple[ScalarSource, ...] = ()

    @property
    def views(self) -> tuple[View, ...]:
        """The view of each access."""
        return tuple([access.view for access in self.accesses])

    @property
    def arguments(self) -> tuple[int, ...]:
        """The recorded number of each view."""
        return tuple([access.view.recorded for access in self.accesses])

    @property
    def privileges(self) -> bytes:
        """A byte for each access."""
        return bytes([access.privilege for access in self.accesses])

    @property
    def extents(self) -> tuple[int, ...]:
        """The recorded numbers of the views whose rows its stores have."""
        stores = (access.view.store for access in self.accesses)
        return tuple([store.rows for store in stores if store.rows is not None])


def over(like: View, access: Access) -> Access:
    """Return an access over the loops of a nest, which a view has.

    One-element stores repeat, and what each point may read all of.
    """
    view = access.view
    if view.shape == like.shape and not access.whole:
        return access
    along = REPEATED if like.points.several else SINGLE
    dims = (along,) * len(like.dims)
    view = replace(view, shape=like.shape, points=like.points, dims=dims)
    return Access(access.privilege, view, access.operator)


def numbered(nests: Sequence[Nest]) -> tuple[Nest, ...]:
    """Return nests with the numbers of their places."""
    return tuple(
        [
            nest if nest.number == place else replace(nest, number=place)
            for place, nest in enumerate(nests)
        ]
    )


@dataclass(frozen=True, slots=True)
class Margin:
    """How far a nest stays away from both ends of a part of the rows."""

    before: Rows = 0
    after: Rows = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """A nest as a member of a band.

    Row x of the nest touches the row of each view that is ``distances`` rows farther
    on; an access without a distance touches rows of its own in every turn. Which rows
    of stores lie side by side follows from the first nest that moves along both. A
    nest that moves along none which was there before begins at the row at which its
    first access that moves begins. The nest runs its row x at time x + ``shift``.

    If threads take parts of the band's rows, the nest takes those from
    ``margin.before`` rows behind the beginning of a part to ``margin.after`` rows
    before its end. What lies between two parts comes when both are done.

    Attributes:
        nest: the nest.
        row_loop: its loop along the rows, None if it has a single one.
        shift: see above.
        distances: see above; one for each access.
        margin: see above; None if the band cannot be divided.
    """

    nest: Nest
    row_loop: int | None = None
    shift: Rows = 0
    distances: tuple[Rows | None, ...] = ()
    margin: Margin | None = None

    @property
    def landmarks(self) -> frozenset[Landmark]:
        """The landmarks on which its numbers depend."""
        margin = self.margin or Margin()
        numbers = (self.shift, margin.before, margin.after, *self.distances)
        return frozenset[Landmark]().union(*map(landmarks_of, numbers))


@dataclass(frozen=True, slots=True)
class Band:
    """Nests that take turns on blocks of rows, in their order.

    ``circular`` has, for each store that lives in the band only, how many rows more
    than those of a block are in use at a time: a buffer of so many is enough for it.
    """

    turns: tuple[Turn, ...]
    circular: tuple[tuple[int, Rows], ...] = ()

    @property
    def nests(self) -> tuple[Nest, ...]:
        """The nests in their order."""
        return tuple(turn.nest for turn in self.turns)


def alone(nest: Nest) -> Band:
    """Return the band of a single nest that runs as a whole."""
    return Band((Turn(nest, distances=(None,) * len(nest.accesses)),))


@dataclass(frozen=True, slots=True)
class Program:
    """Bands that run one after the other."""

    bands: tuple[Band, ...]

    @property
    def nests(self) -> tuple[Nest, ...]:
        """The nests of all bands in their order."""
        return tuple(nest for band in self.bands for nest in band.nests)

    @property
    def landmarks(self) -> frozenset[Landmark]:
        """The landmarks on which turns and buffers depend."""
        return frozenset[Landmark]().union(
            *(turn.landmarks for band in self.bands for turn in band.turns),
            *(landmarks_of(rows) for band in self.bands for _, rows in band.circular),
        )

    @property
    def band_of(self) -> tuple[int, ...]:
        """The number of the band of each nest, by the nest's place."""
        return tuple([n for n, band in enumerate(self.bands) for _ in band.turns])

    @property
    def uses(self) -> dict[int, list[int]]:
        """The places of the nests that use each store, in order."""
        uses: dict[int, list[int]] = {}
        for place, nest in enumerate(self.nests):
            for store in {view.store.id for view in nest.views}:
                uses.setdefault(store, []).append(place)
        return uses

    @property
    def stores(self) -> tuple[Store, ...]:
        """The distinct stores, in the order of first appearance."""
        found = {v.store.id: v.store for nest in self.nests for v in nest.views}
        return tuple(found.values())
