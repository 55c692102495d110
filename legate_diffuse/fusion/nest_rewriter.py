# SPDX-License-Identifier: Apache-2.0
"""What changes the nests of a launch: other arguments, and nests before them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from legate_diffuse.fusion.lowering import LoweredNest
from legate_diffuse.ir import Store, View


class NestRewriter:
    """Nests on their way to others, and the views that these need.

    Args:
        nests: the nests.
        views: what they use, by number.
        numbers: gives numbers to new stores and views.
        shown: for views that are new already those with the same layout.
    """

    def __init__(
        self,
        nests: Sequence[LoweredNest],
        views: Mapping[int, View],
        numbers: Iterator[int],
        shown: Mapping[int, int] | None = None,
    ) -> None:
        self._nests = list(nests)
        self._views = dict(views)
        self._numbers = numbers
        self._shown = dict(shown or {})
        # nests that come before another one
        self._before: dict[int, list[LoweredNest]] = {}

    def _insert(self, place: int, nests: Iterable[LoweredNest]) -> None:
        """Let nests come before another one, after those that do so already."""
        self._before.setdefault(place, []).extend(nests)

    def _read_from(
        self, place: int, argument: int, store: Store, **changes: Any
    ) -> None:
        """Let a nest use a new store for one of its arguments; see ``_view``."""
        nest = self._nests[place]
        arguments = list(nest.arguments)
        arguments[argument] = self._view(arguments[argument], store, **changes)
        self._nests[place] = replace(nest, arguments=tuple(arguments))

    def _view(self, number: int, store: Store, **changes: Any) -> int:
        """Return the number of a view of a new store like one of the old one.

        It differs from that in ``changes``, if there are any.
        """
        new = replace(
            self._views[number], id=next(self._numbers), store=store, **changes
        )
        self._views[new.id] = new
        self._shown[new.id] = self._shown.get(number, number)
        return new.id

    def _all_nests(self) -> tuple[LoweredNest, ...]:
        """Return the nests in their order."""
        return tuple(
            each
            for place, nest in enumerate(self._nests)
            for each in (*self._before.get(place, ()), nest)
        )
