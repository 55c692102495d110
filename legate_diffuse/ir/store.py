# SPDX-License-Identifier: Apache-2.0
"""Stores and views of the scale-free IR."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Final

from legate_diffuse.ir.region import REPEATED, Region, Zones

OTHER: Final = "other"
"""Stands for each element type that kernels cannot hold, as that of a structure."""


class Points(enum.Enum):
    """How many elements a shape has, as far as it matters."""

    NONE = "none"
    ONE = "one"
    MANY = "many"
    SHORT = "short"
    """Many, in rows of a few: the loop along the last dimension is too short."""

    @property
    def several(self) -> bool:
        """Whether there are more than one."""
        return self in (Points.MANY, Points.SHORT)


@dataclass(frozen=True, slots=True)
class Store:
    """A distributed array.

    Attributes:
        id: number of the store in its window.
        dtype: NumPy name of the element type, or ``OTHER``.
        live: the application can still read it after the window.
        replicated: every point sees the whole of it (a Legion future, of one element).
        constant: its value is known when the window is submitted.
        single: Legate would not partition it, so its tasks run on one processor.
        undefined: nothing was written to it before the window.
        fixed: it is partitioned, and others may hold its memory, so that it cannot
            move to other memory.
        zones: what is known of the order of its landmarks along each dimension;
            nothing if none is known.
        replaces: the store of which it has elements for a while, None if it is not one
            of those that a launch has besides.
        rows: the recorded number of the view of that store whose rows it has, None if
            it has all of them.
    """

    id: int
    dtype: str
    live: bool = True
    replicated: bool = False
    constant: bool = False
    single: bool = False
    undefined: bool = False
    fixed: bool = False
    zones: tuple[Zones, ...] = ()
    replaces: int | None = None
    rows: int | None = None

    def __hash__(self) -> int:
        return self.id

    @property
    def origin(self) -> int:
        """The store that the window has: the one that it replaces, or itself."""
        return self.id if self.replaces is None else self.replaces


@dataclass(frozen=True, slots=True)
class View:
    """A store seen through transforms.

    Two views that show the same element at every point have the same ``id``.
    ``shape`` numbers the window's distinct shapes; views of
    one shape in one task are aligned, so they have equal partitions (the
    partition's alignment class, Diffuse section 3.2).

    Attributes:
        id: number of the view in its window.
        store: what is viewed.
        shape: number of the view's shape in the window.
        points: how many elements it has.
        region: an interval for each dimension of the store; None if its elements are
            not evenly spaced, so that nobody knows which ones it shows.
        dims: for each dimension of the view, the one of the store along it,
            ``REPEATED`` or ``SINGLE``. Nothing without a region.
        recorded: number of a view that the program has, of a store of the same extents,
            with the same layout; its own without another.
    """

    id: int
    store: Store
    shape: int
    points: Points
    region: Region | None = None
    dims: tuple[int, ...] = ()
    recorded: int = field(default=-1, compare=False)

    def __post_init__(self) -> None:
        if self.recorded < 0:
            object.__setattr__(self, "recorded", self.id)

    def __hash__(self) -> int:
        return self.id

    @property
    def affine(self) -> bool:
        """Whether every element lies at an affine function of its position."""
        return self.region is not None

    @property
    def broadcast(self) -> bool:
        """Whether the view repeats along its last dimension."""
        return self.dims[-1:] == (REPEATED,)
