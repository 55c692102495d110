# SPDX-License-Identifier: Apache-2.0
"""Computes again what a nest has made, in a store of its own, for those that need it.

    nest 0: write %1[:], read %0[:]             nest 0: write %1[:], read %0[:]
    nest 1: write %2[:], read %1[:]             nest 2: write %3[:], read %0[:]
                                                nest 1: write %2[:], read %3[:]

What is needed of the new store, and by whom, is said where it is done: what points
change beside their tiles (``localize.py``), and rows that lie far away
(``wrapping.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from legate_diffuse.ir import Access, Points, Privilege, Store, View
from legate_diffuse.ir.nest import Nest, RowsOf, numbered
from legate_diffuse.ir.region import WHOLE, Zones
from legate_diffuse.kernel.ir import Argument, Kernel, Load
from legate_diffuse.kernel.ir import Store as Stored
from legate_diffuse.kernel.part import part_for


class NestRewriter:
    """Nests on their way to others.

    Args:
        nests: the nests.
        numbers: gives numbers to new stores and shapes.
    """

    def __init__(self, nests: Sequence[Nest], numbers: Iterator[int]) -> None:
        self._nests = list(nests)
        self._numbers = numbers
        # nests that come before another one
        self._before: dict[int, list[Nest]] = {}

    def _store(self, like: Store, rows: View | None = None) -> Store:
        """Return a new store that replaces another one, or has the rows of a view."""
        zones = like.zones
        if rows is not None:
            zones = (Zones(), *zones[1:]) if any(zones[1:]) else ()
        return replace(
            like,
            id=next(self._numbers),
            live=False,
            undefined=True,
            zones=zones,
            replaces=like.id,
            rows=None if rows is None else rows.recorded,
        )

    def _insert(self, place: int, nests: Iterable[Nest]) -> None:
        """Let nests come before another one, after those that do so already."""
        self._before.setdefault(place, []).extend(nests)

    def _read_from(self, place: int, argument: int, store: Store) -> None:
        """Let a nest use a new store for one of its arguments."""
        nest = self._nests[place]
        accesses = list(nest.accesses)
        accesses[argument] = _moved(accesses[argument], store)
        self._nests[place] = replace(nest, accesses=tuple(accesses))

    def _copy(
        self,
        target: Store,
        like: View,
        tasks: tuple[int, ...] = (),
        rows: RowsOf | None = None,
    ) -> Nest:
        """Return a nest that copies all of the store of a view, or a part of it."""
        rank = len(like.region or ())
        source = replace(
            like,
            shape=next(self._numbers),
            points=Points.MANY,
            region=(WHOLE,) * rank,
            dims=tuple(range(rank)),
        )
        return Nest(
            0,
            source.shape,
            Points.MANY,
            (
                Access(Privilege.WRITE, replace(source, store=target)),
                Access(Privilege.READ, source),
            ),
            rows=rows,
            whole=True,
            tasks=tasks,
            kernel=_copying(target.dtype),
        )

    def _all_nests(self) -> tuple[Nest, ...]:
        """Return the nests in their order."""
        return numbered(
            [
                each
                for place, nest in enumerate(self._nests)
                for each in (*self._before.get(place, ()), nest)
            ]
        )


def _copying(dtype: str) -> Kernel:
    """Return a kernel that writes to its first argument what it reads of the other."""
    written = Argument(dtype, reads=False, writes=True)
    read = Argument(dtype, reads=True, writes=False)
    return Kernel((written, read), (), (Load(1), Stored(0, 0)))


def again(nest: Nest, result: int, store: Store) -> Nest:
    """Return a nest that makes one result of another one in a store of its own.

    It finds there what it reads of the old store, too.
    """
    kernel, read = part_for(nest.kernel, result)
    old = nest.accesses[result].view.store
    reads = (replace(nest.accesses[n], privilege=Privilege.READ) for n in read)
    reads_own = kernel.arguments[0].reads
    privilege = Privilege.READ_WRITE if reads_own else Privilege.WRITE
    return replace(
        nest,
        accesses=(
            _moved(replace(nest.accesses[result], privilege=privilege), store),
            *(
                _moved(each, store) if each.view.store == old else each
                for each in reads
            ),
        ),
        kernel=kernel,
    )


def redirected(nest: Nest, old: int, new: Store) -> Nest:
    """Return a nest that uses a new store instead of an old one."""
    accesses = tuple(
        _moved(access, new) if access.view.store.id == old else access
        for access in nest.accesses
    )
    return replace(nest, accesses=accesses)


def _moved(access: Access, store: Store) -> Access:
    """Return an access of another store; what has some rows only is seen as it is."""
    view = replace(access.view, store=store)
    if store.rows is not None:
        view = replace(view, region=(WHOLE, *(view.region or ())[1:]))
    return replace(access, view=view)
