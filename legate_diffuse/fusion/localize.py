# SPDX-License-Identifier: Apache-2.0
"""Gives points a copy of their own of what others read while they change it.

Two nests of a launch on several points, ``g[1:-1] = w``, where ``w`` is of ``g``:

    nest 0: write %1[:], read %0[:-2], read %0[2:]
    nest 1: write %0[1:-1], read %1[:]

A point may not write what another one still reads beside its own tile. So it writes a
fresh store, which takes the place of the old one when the task was submitted:

    nest 0: write %1[:], read %0[:-2], read %0[2:]
    nest 2: write %2[:], read %0[:]
    nest 1: write %2[1:-1], read %1[:]

If what was written is read at a distance afterwards, too, it is computed in scratch
memory, for the tile and beyond it, and copied from there. What nobody uses after the
launch stays in scratch memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from legate_diffuse.fusion.draft import LaunchDraft
from legate_diffuse.fusion.nest_rewriter import NestRewriter, redirected
from legate_diffuse.fusion.tile_nests import Divided, divide
from legate_diffuse.ir import Access, Privilege
from legate_diffuse.ir.nest import Nest, numbered
from legate_diffuse.ir.relations import covers_store


def localize(draft: LaunchDraft, numbers: Iterator[int]) -> LaunchDraft | None:
    """Return a launch whose points do not write what others read.

    None if that cannot be, as an array may not move to another store, or be copied.

    Args:
        draft: the launch, with its nests.
        numbers: gives numbers to new stores and shapes.
    """
    liveness = draft.liveness
    divided = divide(draft.nests, draft.scratch)
    if divided is None:
        return None
    ways = _crossed(divided)
    if not ways:
        return _without_unneeded(draft, divided)
    for store, way in sorted(ways.items()):
        if store in liveness.last:
            way = _Way(False, True)
        localizer = _Localizer(draft, store, numbers)
        if not localizer.may_be(way, complete=store not in liveness.incomplete):
            return None
        draft = localizer.run(
            way,
            defined=store not in liveness.undefined,
            returns=store not in liveness.last,
        )
    divided = divide(draft.nests, draft.scratch)
    if divided is None or _crossed(divided):
        return None
    return _without_unneeded(draft, divided)


def _without_unneeded(draft: LaunchDraft, divided: Divided) -> LaunchDraft:
    """Drop nests that only write scratch memory that nobody reads."""
    needed = {
        place
        for axis, computed, _ in divided.along
        for place, halo in enumerate(computed.nests)
        if halo is not None or axis.placements[place] is None
    }
    nests = numbered(
        [nest for place, nest in enumerate(draft.nests) if place in needed]
    )
    if nests != draft.nests:
        less = divide(nests, draft.scratch)
        if less is not None:
            return draft._replace(nests=nests, divided=less)
    return draft._replace(divided=divided)


class _Way(NamedTuple):
    """Whether a store moves, and whether it is computed in scratch memory."""

    moves: bool
    in_scratch: bool

    def joined(self, other: _Way | None) -> _Way:
        """Return what does both."""
        if other is None:
            return self
        moves = self.moves or other.moves
        return _Way(moves, self.in_scratch or other.in_scratch)


def _crossed(divided: Divided) -> dict[int, _Way]:
    """Return the arrays that points change, and use beside their own tiles.

    What is used so as it was before must move, and what is used so afterwards must be
    computed in scratch memory.
    """
    crossed: dict[int, _Way] = {}
    for _, computed, results in divided.along:
        for store, own in results.items():
            way = _Way(
                computed.before.get(store, own).joined(own) != own,
                computed.after.get(store, own) != own,
            )
            if any(way):
                crossed[store] = way.joined(crossed.get(store))
    return crossed


class _Localizer(NestRewriter):
    """Gives points a copy of their own of one store."""

    def __init__(self, draft: LaunchDraft, store: int, numbers: Iterator[int]) -> None:
        super().__init__(draft.nests, numbers)
        self._draft = draft
        self._like = next(
            view
            for nest in draft.nests
            for view in nest.views
            if view.store.id == store
        )
        # the first nest that changes the store
        self._first = next(
            n for n, nest in enumerate(draft.nests) if self._changes(nest)
        )
        own = [a for a in draft.nests[self._first].accesses if self._is_of_store(a)]
        # whether it writes all of the store, and reads nothing of it
        self._covers = all(a.privilege is Privilege.WRITE for a in own) and any(
            covers_store(a.view) for a in own
        )

    def may_be(self, way: _Way, *, complete: bool) -> bool:
        """Whether the store may move, and is ``complete`` if it must be copied."""
        old = self._like.store
        may_move = not old.fixed or not way.moves
        return may_move and old.replaces is None and (self._covers or complete)

    def run(self, way: _Way, *, defined: bool, returns: bool) -> LaunchDraft:
        """Return the launch with a copy in scratch memory, in a fresh store, or both.

        What was never written to is not copied: Legion ends programs that read it. What
        is in scratch memory in the end is copied from there only if it ``returns``.
        """
        like, old, first = self._like, self._like.store, self._first
        target = self._store(old) if way.moves else old
        local = self._store(old) if way.in_scratch else target
        before = self._nests[:first]
        after = [redirected(nest, old.id, local) for nest in self._nests[first:]]
        if defined and not self._covers:
            before.append(self._copy(local, like))
        if way.in_scratch and returns:
            after.append(self._copy(target, replace(like, store=local)))
        nests = numbered([*before, *after])
        scratch = self._draft.scratch | ({local.id} if way.in_scratch else set())
        return self._draft._replace(nests=nests, scratch=scratch)

    def _changes(self, nest: Nest) -> bool:
        return any(self._is_of_store(a) and a.changes for a in nest.accesses)

    def _is_of_store(self, access: Access) -> bool:
        return access.view.store.id == self._like.store.id
