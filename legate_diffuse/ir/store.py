# SPDX-License-Identifier: Apache-2.0
"""Stores and views of the scale-free IR."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Points(enum.Enum):
    """How many elements a shape has, as far as it matters."""

    NONE = "none"
    ONE = "one"
    MANY = "many"


@dataclass(frozen=True, slots=True)
class Store:
    """A distributed array.

    Attributes:
        id: number of the store in its window.
        dtype: NumPy name of the element type.
        live: the application can still read it after the window.
        replicated: every point sees the whole of it (a Legion future, of one element).
        constant: its value is known when the window is submitted.
        single: Legate would not partition it, so its tasks run on one processor.
        undefined: nothing was written to it before the window.
    """

    id: int
    dtype: str
    live: bool = True
    replicated: bool = False
    constant: bool = False
    single: bool = False
    undefined: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A store seen through transforms.

    Two views of a store are the same access pattern if and only if they have
    the same ``id``. ``shape`` numbers the window's distinct shapes; views of
    one shape in one task are aligned, so they have equal partitions (the
    partition's alignment class, Diffuse section 3.2).

    Attributes:
        id: number of the view in its window.
        store: what is viewed.
        shape: number of the view's shape in the window.
        points: how many elements it has.
        broadcast: the view repeats along its last dimension.
        affine: every element lies at an affine function of its position.
        whole: the view covers the store.
        plain: the view is the store itself, not transformed in any way.
        disjoint: ids of views of the store that are known to have no element in common
            with it. One of the two views names the other.
        within: ids of views of the store that the window changes and that are known to
            contain it together.
    """

    id: int
    store: Store
    shape: int
    points: Points
    broadcast: bool = False
    affine: bool = True
    whole: bool = False
    plain: bool = False
    disjoint: tuple[int, ...] = ()
    within: tuple[int, ...] = ()

    def may_overlap(self, other: View) -> bool:
        """Whether two views of one store may have an element in common."""
        return other.id not in self.disjoint and self.id not in other.disjoint
