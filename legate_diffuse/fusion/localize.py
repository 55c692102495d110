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

from legate_diffuse.fusion.draft import LaunchDraft
from legate_diffuse.fusion.nest_rewriter import copying, new_store, redirected
from legate_diffuse.fusion.tile_nests import Divided, divide
from legate_diffuse.ir import Privilege
from legate_diffuse.ir.nest import numbered
from legate_diffuse.ir.relations import covers_store


def localize(draft: LaunchDraft, numbers: Iterator[int]) -> LaunchDraft | None:
    """Return a launch whose points do not write what others read.

    None if that cannot be, as an array may not move to another store, or be copied.

    Args:
        draft: the launch, with its nests.
        numbers: gives numbers to new stores and shapes.
    """
    divided = divide(draft.nests, draft.scratch)
    if divided is None:
        return None
    moving, again = _crossed(divided)
    for store in sorted(moving | again):
        is_last = store in draft.liveness.last
        localized = _localized(
            draft,
            store,
            numbers,
            moves=store in moving and not is_last,
            in_scratch=store in again or is_last,
        )
        if localized is None:
            return None
        draft = localized
    if moving | again:
        divided = divide(draft.nests, draft.scratch)
        if divided is None or any(_crossed(divided)):
            return None
    return _without_unneeded(draft, divided)


def _without_unneeded(draft: LaunchDraft, divided: Divided) -> LaunchDraft:
    """Drop nests that only write scratch memory that nobody reads."""
    needed = {
        place
        for along in divided.along
        for place, halo in enumerate(along.nests)
        if halo is not None or along.axis.placements[place] is None
    }
    nests = numbered(
        [nest for place, nest in enumerate(draft.nests) if place in needed]
    )
    if nests != draft.nests:
        less = divide(nests, draft.scratch)
        if less is not None:
            return draft._replace(nests=nests, divided=less)
    return draft._replace(divided=divided)


def _crossed(divided: Divided) -> tuple[set[int], set[int]]:
    """Return the arrays that points change, and use beside their own tiles.

    What is used so as it was before must move, and what is used so afterwards must be
    computed in scratch memory.
    """
    moving: set[int] = set()
    again: set[int] = set()
    for along in divided.along:
        for store, own in along.results.items():
            if along.before.get(store, own).joined(own) != own:
                moving.add(store)
            if along.after.get(store, own) != own:
                again.add(store)
    return moving, again


def _localized(
    draft: LaunchDraft,
    store: int,
    numbers: Iterator[int],
    *,
    moves: bool,
    in_scratch: bool,
) -> LaunchDraft | None:
    """Return a launch whose points have a copy of their own of a store.

    It is ``in_scratch`` memory, in a fresh store to which it ``moves``, or both. None
    if the store may not move, or be copied. What was never written to is not copied:
    Legion ends programs that read it. What is in scratch memory in the end is copied
    from there only if somebody uses it after the launch.
    """
    liveness = draft.liveness
    uses = [
        (place, access)
        for place, nest in enumerate(draft.nests)
        for access in nest.accesses
        if access.view.store.id == store
    ]
    like = uses[0][1].view
    old = like.store
    first = next(place for place, access in uses if access.changes)
    own = [access for place, access in uses if place == first]
    # whether the first nest that changes the store writes all, and reads nothing of it
    covers = all(a.privilege is Privilege.WRITE for a in own) and any(
        covers_store(a.view) for a in own
    )
    may_move = not (moves and old.fixed) and old.replaces is None
    if not may_move or not (covers or store not in liveness.incomplete):
        return None
    target = new_store(old, next(numbers)) if moves else old
    local = new_store(old, next(numbers)) if in_scratch else target
    before = list(draft.nests[:first])
    after = [redirected(nest, store, local) for nest in draft.nests[first:]]
    if not covers and store not in liveness.undefined:
        before.append(copying(local, like, next(numbers)))
    if in_scratch and store not in liveness.last:
        after.append(copying(target, replace(like, store=local), next(numbers)))
    return draft._replace(
        nests=numbered([*before, *after]),
        scratch=draft.scratch | ({local.id} if in_scratch else set()),
    )
