# SPDX-License-Identifier: Apache-2.0
"""Nests whose points use nothing that other points change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from legate_diffuse.fusion.lowering import LoweredNest
from legate_diffuse.fusion.tile_nests import Tiles
from legate_diffuse.ir import View


@dataclass(frozen=True, slots=True)
class Localized:
    """Nests whose points do not write what others read.

    Attributes:
        nests: the nests.
        views: what they use, by number.
        shown: of each new view one that shows the same elements of the old store; and
            of each view of all of a new store any one of the old one.
        origins: the old store of each new one.
        scratch: the new stores that live in the task.
        tiles: where the nests are, if that is known.
    """

    nests: tuple[LoweredNest, ...]
    views: Mapping[int, View]
    shown: Mapping[int, int] = field(default_factory=dict)
    origins: dict[int, int] = field(default_factory=dict)
    scratch: frozenset[int] = frozenset()
    tiles: Tiles | None = None

    @property
    def moved(self) -> frozenset[int]:
        """The new stores that take the places of old ones."""
        return frozenset(self.origins) - self.scratch
