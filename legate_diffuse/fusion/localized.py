# SPDX-License-Identifier: Apache-2.0
"""The nests of a launch, with those that compute something again or copy it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from legate_diffuse.fusion.lowering import LoweredNest
from legate_diffuse.fusion.tile_nests import Tiles
from legate_diffuse.ir import View


@dataclass(frozen=True, slots=True)
class Localized:
    """Nests whose points do not write what others read, or wait for rows far away.

    Attributes:
        nests: the nests.
        views: what they use, by number.
        shown: of each new view one that shows the same elements of the old store; and
            of each view of all of a new store any one of the old one.
        origins: the old store of each new one.
        scratch: the new stores that live in the task.
        short: those of them that have but the rows of a view, and which view that is.
        tiles: where the nests are, if that is known.
    """

    nests: tuple[LoweredNest, ...]
    views: Mapping[int, View]
    shown: Mapping[int, int] = field(default_factory=dict)
    origins: dict[int, int] = field(default_factory=dict)
    scratch: frozenset[int] = frozenset()
    short: Mapping[int, int] = field(default_factory=dict)
    tiles: Tiles | None = None

    @property
    def moved(self) -> frozenset[int]:
        """The new stores that take the places of old ones."""
        return frozenset(self.origins) - self.scratch
