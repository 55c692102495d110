# SPDX-License-Identifier: Apache-2.0
"""What of a store a task on several points is passed, and how often.

A point has the elements of its own tile, and what lies near it. Where it sums over rows
of elements, it has of columns and values what its rows tell, and of the vector what its
columns tell: an image. It has such an image, too, of what it computes the vector from
again (``gathered.py``). A store is passed once for each of these.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from legate_diffuse.ir import View
from legate_diffuse.ir.nest import Nest
from legate_diffuse.ir.region import WHOLE
from legate_diffuse.kernel import Kernel, Load, Op
from legate_diffuse.kernel.dtypes import RECT
from legate_diffuse.kernel.operators import ROW_SUMS

INDEX: Final = "int64"
# Legate makes images of these, for arrays of one dimension.
_TELLING: Final = (RECT, INDEX)


class Passed(NamedTuple):
    """A store that a task is passed.

    Attributes:
        store: its number.
        teller: what tells which elements points have, if anything does.
        everywhere: whether points have all elements.
    """

    store: int
    teller: Passed | None = None
    everywhere: bool = False

    @property
    def gathered(self) -> bool:
        """Whether points have other elements than near their tiles."""
        return self.everywhere or self.teller is not None


def teller_of(told: tuple[int, ...]) -> Passed:
    """Return what tells which elements a nest makes (``Nest.told``)."""
    indices, rows = told
    return Passed(indices, Passed(rows))


def passed_by(nest: Nest, *, tiled: bool) -> tuple[Passed, ...]:
    """Return what is passed for each access of a nest.

    A task that is not ``tiled`` has all of its stores.
    """
    views = nest.views
    if nest.told:
        told = teller_of(nest.told)
        return tuple(
            Passed(store.id, None if access.changes or store.replicated else told)
            for access in nest.accesses
            for store in [access.view.store]
        )
    tellers = _tellers(nest.kernel)

    def passed(number: int) -> Passed:
        store = views[number].store.id
        if not (tiled and nest.accesses[number].whole):
            return Passed(store)
        teller = tellers.get(number)
        if (
            teller is None
            or views[teller].store.dtype not in _TELLING
            # Legate has no images of parts
            or not _shows_all(views[number])
            or not _shows_all(views[teller])
        ):
            return Passed(store, everywhere=True)
        return Passed(store, passed(teller))

    return tuple(map(passed, range(len(views))))


def _shows_all(view: View) -> bool:
    """Whether a view of an array of one dimension shows all of it."""
    return view.region == (WHOLE,)


def _tellers(kernel: Kernel) -> dict[int, int | None]:
    """Return for each whole argument the one that tells what is read of it.

    None if several do.
    """
    tellers: dict[int, int | None] = {}
    for step in kernel.body:
        if not (isinstance(step, Op) and step.name in ROW_SUMS):
            continue
        rows, columns, values, x = (
            load.argument
            for load in map(kernel.body.__getitem__, step.operands)
            if isinstance(load, Load)
        )
        for argument, teller in ((columns, rows), (values, rows), (x, columns)):
            if tellers.setdefault(argument, teller) != teller:
                tellers[argument] = None
    return tellers
