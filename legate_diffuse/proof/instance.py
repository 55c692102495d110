# SPDX-License-Identifier: Apache-2.0
"""Windows with extents: where each view lies in its store."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from legate_diffuse.ir.window import Window


class Layout(Protocol):
    """Which elements of its store a view shows, as ``stores.layout`` has it."""

    dims: tuple[int, ...]
    low: tuple[int, ...]
    extents: tuple[int, ...]
    affine: bool


@dataclass(frozen=True)
class Instance:
    """The extents of a window, and of its views.

    Attributes:
        window: the window.
        extents: of each store, by its number.
        views: what the writer of programs takes as views, by number; they have a
            ``layout`` and a ``root``.
        stores: the store of each of these views.
        shapes: the extents of each shape, by number.
        name: what is special about it.
    """

    window: Window
    extents: dict[int, tuple[int, ...]]
    views: Sequence[Any]
    stores: Sequence[int]
    shapes: Sequence[tuple[int, ...]]
    name: str

    def layout(self, view: int) -> Layout:
        """Return which elements a view shows."""
        found: Layout = self.views[view].layout
        return found

    @property
    def num_elements(self) -> int:
        """How many elements all stores have."""
        return sum(map(prod, self.extents.values()))
