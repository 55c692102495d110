# SPDX-License-Identifier: Apache-2.0
"""The rules for nests that each point runs for what it gathers (``Image``).

Such a nest may run any of its points on several points of a launch, and each finds the
same there: it reads arrays that nobody changes, at the place of its own point, and what
it writes is gathered by those alone who use the same indices and rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from legate_diffuse.ir.nest import Image, Nest
from legate_diffuse.ir.privilege import Privilege
from legate_diffuse.ir.relations import shows_store
from legate_diffuse.ir.task import Access


def broken_rules(nests: Sequence[Nest], scratch: AbstractSet[int]) -> Iterator[str]:
    """Yield what is wrong with the nests of a program that run for images.

    ``scratch`` are the stores that live in the program.
    """
    changed: dict[int, list[int]] = {}
    for nest in nests:
        for access in nest.accesses:
            if access.changes:
                changed.setdefault(access.view.store.id, []).append(nest.number)
    for nest in nests:
        image = nest.image
        if image is None:
            continue
        where = f"nest {nest.number}"
        written = [a for a in nest.accesses if a.changes]
        read = [a for a in nest.accesses if a.reads and not a.view.store.replicated]
        if not changed.keys().isdisjoint((image.indices, image.rows)):
            yield f"{where}: the indices whose image it runs for are changed"
        if not read or any(
            access.whole or not shows_store(access.view) for access in (*written, *read)
        ):
            yield f"{where}: it does not make each element from those at its place"
        if any(access.view.store.id in changed for access in read):
            yield f"{where}: it reads what the program changes"
        if len(written) != 1 or written[0].privilege is not Privilege.WRITE:
            yield f"{where}: it does not write one buffer"
            continue
        buffer = written[0].view.store.id
        if buffer not in scratch or changed[buffer] != [nest.number]:
            yield f"{where}: it is not alone to write store {buffer}"
        for other in nests:
            uses = [a for a in other.accesses if a.view.store.id == buffer]
            if other is not nest and uses and not _gathers(other, uses, image):
                yield (
                    f"nest {other.number}: it uses other elements of store {buffer} "
                    f"than nest {nest.number} makes"
                )


def _gathers(nest: Nest, uses: Sequence[Access], image: Image) -> bool:
    """Whether a nest uses a store only as its rows and their indices say."""
    return all(access.whole for access in uses) and all(
        any(
            access.view.store.id == store and access.whole is whole
            for access in nest.accesses
        )
        for store, whole in ((image.indices, True), (image.rows, False))
    )
