# SPDX-License-Identifier: Apache-2.0
"""Which scratch stores a nest writes in place of others that nobody needs after it.

    nest 3: write %1[:], read %0[:], read %5[:]       p = r + beta * p, for a new p
    nest 4: write %2[:], read %1[:-1], read %1[1:]

If store 0 and store 1 are in scratch memory and nest 3 is the last one that uses the
former, both have one buffer: less is in the caches, and no line of store 1 is read from
memory before it is written. Each point of a nest reads before it writes, and
writes nothing that another point of the nest reads: both stores are seen as they are.
Nests of one band take turns, so no other nest of the band may use the old store.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from legate_diffuse.ir import Access, Privilege, View
from legate_diffuse.ir.nest import Nest, Program
from legate_diffuse.ir.relations import shows_store


def written_in_place(
    program: Program, scratch: AbstractSet[int], circular: Mapping[int, object]
) -> dict[int, int]:
    """Map each store to the store whose buffer it reuses, both in scratch memory.

    That may reuse the buffer of another one itself; then it is the first of them.

    Args:
        program: the scheduled nests.
        scratch: the stores in scratch memory.
        circular: those that have a circular buffer, which others do not share.
    """
    full = scratch - circular.keys()
    if not full:
        return {}
    uses, band_of = program.uses, program.band_of
    places: dict[int, int] = {}
    for place, nest in enumerate(program.nests):
        first = band_of.index(band_of[place])
        dead = [
            old
            for old in _seen_as_they_are(nest, Privilege.READ, full)
            if [use for use in uses[old.store.id] if use >= first] == [place]
        ]
        for new in _seen_as_they_are(nest, Privilege.WRITE, full):
            if uses[new.store.id][0] != place:
                continue
            old = next((view for view in dead if _alike(view, new)), None)
            if old is not None:
                dead.remove(old)
                places[new.store.id] = places.get(old.store.id, old.store.id)
    return places


def _seen_as_they_are(
    nest: Nest, privilege: Privilege, stores: AbstractSet[int]
) -> list[View]:
    """Return the stores that a nest accesses once, so and through all of its loops.

    A part of a nest does not access all of a store.
    """
    accesses: dict[int, list[Access]] = {}
    for access in nest.accesses:
        if access.view.store.id in stores and not nest.rows:
            accesses.setdefault(access.view.store.id, []).append(access)
    return [
        own.view
        for own, *others in accesses.values()
        if not others
        and own.privilege is privilege
        and not own.whole
        and own.view.points.several
        and shows_store(own.view)
    ]


def _alike(one: View, other: View) -> bool:
    return one.dims == other.dims and one.store.dtype == other.store.dtype
