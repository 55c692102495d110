# SPDX-License-Identifier: Apache-2.0
"""What of a store a task on several points is passed, and how often.

A point has the elements of its own tile, and what lies near it. Where it sums over rows
of elements, it has of columns and values an image of its rows, and of the vector an
image of its columns. A store is passed once for each of these.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from legate_diffuse.ir import View
from legate_diffuse.ir.nest import Nest
from legate_diffuse.ir.region import WHOLE
from legate_diffuse.kernel import Kernel, Load, Op
from legate_diffuse.kernel.dtypes import RECT
from legate_diffuse.kernel.operators import ROW_SUMS

# Legate makes images of these, for arrays of one dimension.
_INDICES: Final = (RECT, "int64")


class Passed(NamedTuple):
    """A store that a task is passed.

    Attributes:
        store: its number.
        image_of: what points to the elements that points have, if anything does.
        everywhere: whether points have all elements.
    """

    store: int
    image_of: Passed | None = None
    everywhere: bool = False

    @property
    def gathered(self) -> bool:
        """Whether points have other elements than near their tiles."""
        return self.everywhere or self.image_of is not None


def passed_by(nest: Nest) -> tuple[Passed, ...]:
    """Return what points are passed for each access of a nest."""
    views = nest.views
    pointers = _pointers(nest.kernel)

    def passed(number: int) -> Passed:
        store = views[number].store.id
        if not nest.accesses[number].whole:
            return Passed(store)
        pointer = pointers.get(number)
        if (
            pointer is None
            or views[pointer].store.dtype not in _INDICES
            # Legate has no images of parts
            or not _shows_all(views[number])
            or not _shows_all(views[pointer])
        ):
            return Passed(store, everywhere=True)
        return Passed(store, passed(pointer))

    return tuple(map(passed, range(len(views))))


def _shows_all(view: View) -> bool:
    """Whether a view of an array of one dimension shows all of it."""
    return view.region == (WHOLE,)


def _pointers(kernel: Kernel) -> dict[int, int | None]:
    """Return for each whole argument the one that points to what is read of it.

    None if several do.
    """
    pointers: dict[int, int | None] = {}
    for step in kernel.body:
        if not (isinstance(step, Op) and step.name in ROW_SUMS):
            continue
        rows, columns, values, x = (
            load.argument
            for load in map(kernel.body.__getitem__, step.operands)
            if isinstance(load, Load)
        )
        for argument, pointer in ((columns, rows), (values, rows), (x, columns)):
            if pointers.setdefault(argument, pointer) != pointer:
                pointers[argument] = None
    return pointers
