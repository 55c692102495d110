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

from dataclasses import replace

from legate_diffuse.ir import Access, Points, Privilege, Store, View
from legate_diffuse.ir.nest import Nest, RowsOf
from legate_diffuse.ir.region import WHOLE, Zones
from legate_diffuse.kernel.ir import Argument, Kernel, Load
from legate_diffuse.kernel.ir import Store as Stored
from legate_diffuse.kernel.part import part_for


def new_store(like: Store, number: int, rows: View | None = None) -> Store:
    """Return a store that replaces another one, or has the rows of a view."""
    zones = like.zones
    if rows is not None:
        zones = (Zones(), *zones[1:]) if any(zones[1:]) else ()
    return replace(
        like,
        id=number,
        live=False,
        undefined=True,
        zones=zones,
        replaces=like.id,
        rows=None if rows is None else rows.recorded,
    )


def copying(
    target: Store,
    like: View,
    shape: int,
    tasks: tuple[int, ...] = (),
    rows: RowsOf | None = None,
) -> Nest:
    """Return a nest that copies all of the store of a view, or a part of it.

    ``shape`` is that of its loops, which no other nest has.
    """
    rank = len(like.region or ())
    source = replace(
        like,
        shape=shape,
        points=Points.MANY,
        region=(WHOLE,) * rank,
        dims=tuple(range(rank)),
    )
    written = Argument(target.dtype, reads=False, writes=True)
    read = Argument(target.dtype, reads=True, writes=False)
    return Nest(
        0,
        shape,
        Points.MANY,
        (
            Access(Privilege.WRITE, replace(source, store=target)),
            Access(Privilege.READ, source),
        ),
        rows=rows,
        whole=True,
        tasks=tasks,
        kernel=Kernel((written, read), (), (Load(1), Stored(0, 0))),
    )


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
            moved(replace(nest.accesses[result], privilege=privilege), store),
            *(moved(each, store) if each.view.store == old else each for each in reads),
        ),
        kernel=kernel,
    )


def redirected(nest: Nest, old: int, new: Store) -> Nest:
    """Return a nest that uses a new store instead of an old one."""
    accesses = tuple(
        moved(access, new) if access.view.store.id == old else access
        for access in nest.accesses
    )
    return replace(nest, accesses=accesses)


def moved(access: Access, store: Store) -> Access:
    """Return an access of another store; what has some rows only is seen as it is."""
    view = replace(access.view, store=store)
    if store.rows is not None:
        view = replace(view, region=(WHOLE, *(view.region or ())[1:]))
    return replace(access, view=view)
