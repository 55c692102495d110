# SPDX-License-Identifier: Apache-2.0
"""Which launches run in the program's thread, on arrays that live in this process.

A task on a few thousand elements takes longer to launch than to run, and a program
that reads its result waits for all of it. So a launch whose arguments are all small, or
that has few operations on elements, runs at once, on memory of ours
(``mappers/process``). An array's elements are there while ``Root.is_here``. Whatever
passes the real store to Legate stores them first (``Root.materialize``).

Elements that Legate has are brought in only where the program would not wait for them
otherwise: it waits for the launch's result, or has submitted nothing but small launches
for a while.

Large arrays stay Legate's, who maps their memory for this process: until one of its
tasks wants it back, nothing is copied. So loops over a few of their elements (a row, a
column, a single one) run here as others do, once a few have come in a row.

A launch of many operations runs in the program's thread, and those that help it, where
most of what it reads would have to be copied for a task, or the program waits for its
result, time after time, and nothing is gained by a task that runs beside the program.
To hand arrays over takes time, so the program has to wait the longer, the more often
they have gone, until as many launches ran here.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.ir.privilege import WRITE
from legate_diffuse.launch import ranks
from legate_diffuse.launch.few_points import MOST_LOOPED, MOST_POINTS, has_few_points
from legate_diffuse.launch.room import Room
from legate_diffuse.stores.form import form
from legate_diffuse.stores.given import Given
from legate_diffuse.stores.layout import whole
from legate_diffuse.stores.legate import Legate
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View

# How large small arrays are: 49,152 numbers of 8 bytes.
_SMALL_BYTES: Final = 3 * 2**17
# With so few operations on elements a launch takes about as long as to hand it over.
_MOST_WORK: Final = 2**20
# After so many small launches that ran as tasks, with no other task between them, or
# large ones for whose results the program waited, what kept them out is brought in.
_PATIENCE: Final = 4


class Found(NamedTuple):
    """The small arrays of a launch.

    Attributes:
        arrays: one for each argument.
        first_values: elements that some have before the launch: the number of the
            argument, a buffer of them, and whether the real store has them as well.
    """

    arrays: tuple[Any, ...]
    first_values: list[tuple[int, Any, bool]]


class SmallArrays:
    """Finds out which launches run in the program's thread.

    Args:
        legate: the real Legate.
        most: the bytes of an array that may be here; with 0 all launches are tasks.
        divides: whether arrays are divided now. Such arrays are not mapped.
        release: see ``Room``.

    Attributes:
        limit: the bytes of a small array.
        maps: whether large arrays may be mapped, as nobody limits the bytes of all.
        room: the memory for large arrays.
        all_ran_here: false once a launch was a task, or had loops over more points than
            operations that run as they come.
    """

    def __init__(
        self,
        legate: Legate,
        most: int,
        divides: Callable[[], bool],
        release: Callable[[int], None],
    ) -> None:
        self._legate = legate
        self._native = legate.native
        self._does_attach: bool | None = None
        self._divides = divides
        # every rank would have to compute and read all of them
        self._most = 0 if ranks.are_several(legate.runtime) else most
        self.room = Room(legate.native, self._most, release)
        self.limit = min(self._most, _SMALL_BYTES)
        self.maps = self._most > self.limit
        self.all_ran_here = False
        # small launches in a row that ran as tasks
        self._kept_out = 0
        # large ones in a row that the program waited for
        self._waited = 0
        # how many of these it must wait for first
        self._patience = _PATIENCE
        # large arrays that were given to Legate
        self._gone = 0

    def take(self, root: Root, elements: Any) -> bool:
        """Put the elements of a new array into this process, or give them to Legate.

        Legate gets what is too large for here, or is divided, in memory of its own: for
        what is attached, every task that uses it would make a copy.

        Args:
            root: of an array that nobody else knows.
            elements: a NumPy array that is not used any more.
        """
        size = root.nbytes
        is_large = size > self.limit
        if not root.fusable or not size or not (self.maps if is_large else self.limit):
            return False
        stays = not is_large or self.may_stay(size)
        form(whole(root.shape), root.shape)
        small = root.small_array()
        if not small.adopt(elements):
            small.put(elements)
        if not stays:
            root.materialize()
        return True

    def note_task(self) -> None:
        """Take note of a task that is not a small launch."""
        self._kept_out = self._waited = 0
        self.all_ran_here = False

    def is_short(self, operation: Any) -> bool:
        """Whether an operation could run as it comes if its arrays were here."""
        return (
            operation.kind.covered
            and has_few_points(operation)
            and all(
                [
                    view.root.is_here or self.may_be_brought(view.root)
                    for view in operation.views
                ]
            )
        )

    def bring_next(self) -> None:
        """Bring in what keeps out the next small launch, as many have come in a row."""
        self._kept_out = _PATIENCE

    def find(
        self,
        planned: PlannedLaunch,
        views: list[View],
        shapes: list[Any],
        wanted: Root | None,
    ) -> Found | None:
        """Return the arrays of a launch that runs here, None if it is to be a task.

        Args:
            planned: the launch.
            views: the window's views, by number.
            shapes: the window's shapes, by number.
            wanted: the single element, or array to come, for which the program waits.
        """
        found = self._find(planned, views, shapes, wanted)
        if self.all_ran_here:
            is_small = all([prod(shape) <= MOST_LOOPED for shape in shapes])
            self.all_ran_here = found is not None and is_small
        return found

    def _find(
        self,
        planned: PlannedLaunch,
        views: list[View],
        shapes: list[Any],
        wanted: Root | None,
    ) -> Found | None:
        if not self.limit or planned.partitioned:
            return None
        roots = [views[number].root for number in planned.arguments]
        doubtful = [r for r in roots if r.shared or r.escaped or r.held or not r.shape]
        if not all(map(self._may_be_used_here, doubtful)):
            self._kept_out = 0
            return None
        away = [
            (number, root, planned.privileges[number] == WRITE)
            for number, root in enumerate(roots)
            if not root.is_here
        ]
        inputs = [(number, root) for number, root, written in away if not written]
        in_legate = sum([root.nbytes for _, root in inputs if root.real is not None])
        is_wanted = wanted in roots
        if self.is_long(planned, shapes, roots):
            self._kept_out = 0
            if not self._may_be_long(roots, in_legate, is_wanted):
                return None
        elif in_legate and not is_wanted and self._kept_out < _PATIENCE:
            self._kept_out += 1
            return None
        # what is only written gets memory of ours
        sizes = [r.nbytes for _, r, written in away if written or r.real is None]
        if not self.room.has(*[size for size in sizes if size > self.limit]):
            return None
        values = []
        for number, root in inputs:
            if root.real is not None and root.nbytes > self.limit:
                if not self.bring(root):
                    return None
            elif root.real is not None or root.initial is not None:
                values.append((number, self._value(root), root.real is not None))
        return Found(tuple([r.small or r.small_array() for r in roots]), values)

    def _may_be_long(self, roots: list[Root], in_legate: int, is_wanted: bool) -> bool:
        """Whether a launch that takes long may run here, on these arrays.

        ``in_legate`` is how many bytes of them would have to come.
        """
        self._look_what_is_gone()
        here = [root for root in roots if root.is_here and root.nbytes > self.limit]
        # what Legate maps need not be copied, neither way
        copied = sum([root.nbytes for root in here if root.mapped is None])
        must_wait = not is_wanted or self._waited < self._patience
        if must_wait and (in_legate > copied or not here):
            self._waited = self._waited + 1 if is_wanted else 0
            return False
        self._patience = max(_PATIENCE, self._patience - 1)
        return True

    def _look_what_is_gone(self) -> None:
        if (gone := self._native.num_given_away()) != self._gone:
            self._gone = gone
            self._waited = 0
            self._patience *= 2

    def note_again(self, takes_long: bool, has_few_points: bool) -> None:
        """Take note of a launch that ran here, all of whose arrays were here.

        It ``takes_long`` if ``is_long``, and may have as few points as run at once.
        """
        if takes_long:
            self._kept_out = 0
            self._look_what_is_gone()
            self._patience = max(_PATIENCE, self._patience - 1)
        if not has_few_points:
            self.all_ran_here = False

    def note_taken(self, count: int) -> None:
        """Take note of arrays that a task took for whose result the program waits."""
        # they would not have gone here, so they may come sooner
        self._gone += count

    def is_long(
        self, planned: PlannedLaunch, shapes: list[Any], roots: list[Root]
    ) -> bool:
        """Whether to run a launch takes far longer than to hand it over as a task."""
        if planned.work(shapes) <= _MOST_WORK:
            return False
        are_small = all([root.nbytes <= self.limit for root in roots])
        most = self.limit if are_small else MOST_POINTS
        if not any([prod(shape) > most for shape in shapes]):
            return False
        nests = [nest.nest for nest in planned.nests if not nest.nest.whole]
        points = max([prod(shapes[nest.shape]) for nest in nests], default=0)
        return points > most

    def may_be_here(self, root: Root) -> bool:
        """Whether a root's elements may lie in memory of ours."""
        return root.nbytes <= self._most and self._may_be_used_here(root)

    def _may_be_used_here(self, root: Root) -> bool:
        return (
            # Legate does not let such a region be read
            (root.scalar_storage or root.shape != ())
            and not root.escaped
            and not root.held
            # the application, if it has the memory, sees what is done here
            and (
                root.mapped is not None
                or (root.small is not None and root.small.shown)
                or not (root.shared and root.is_shared())
            )
        )

    def may_show(self, root: Root) -> bool:
        """Whether the application may get hold of elements in memory of ours."""
        return (
            (root.mapped is None or type(root.mapped) is Given)
            and root.is_here
            and self._may_be_used_here(root)
            and self._attaches(root.type, root.dtype)
        )

    def _attaches(self, type_: Any, dtype: Any) -> bool:
        """Whether Legate uses memory that is attached; found out once."""
        if self._does_attach is None:
            _, physical = self._legate.attach(type_, np.zeros(2, dtype))
            self._does_attach = physical is not None
        return self._does_attach

    def may_be_given(self, type_: Any, elements: Any) -> bool:
        """Whether a NumPy array's memory may be that of an array here."""
        fits = self.may_lie_here(elements.nbytes)
        return fits and self._attaches(type_, elements.dtype)

    def may_lie_here(self, size: int) -> bool:
        """Whether memory of so many bytes, of ours or lent, may be a whole array's."""
        if size > self.limit:
            return self.maps and not self._divides()
        return size > 0

    def may_stay(self, size: int) -> bool:
        """Whether there is room for a large new array; submits what keeps much."""
        return self.maps and self.room.take(size) and not self._divides()

    def share(self, root: Root) -> None:
        """Use the memory of Legate's that the application has got hold of.

        What runs in this process then sees what the application writes there, and the
        application sees what it writes.
        """
        if (
            root.mapped is None
            and self.may_lie_here(root.nbytes)
            and root.fusable
            and not root.escaped
            and not root.held
        ):
            self._map(root)

    def may_be_mapped(self, root: Root) -> bool:
        """Whether the memory of a large array may be used here, once Legate has it."""
        return (
            self.maps
            and root.fusable
            and self._may_be_used_here(root)
            and not self._divides()
        )

    def _map(self, root: Root) -> bool:
        physical = self._native.call(root.real.get_physical_store)
        elements = np.asarray(physical.get_inline_allocation())
        if not elements.flags.c_contiguous or elements.shape != root.shape:
            return False
        form(whole(root.shape), root.shape)
        root.map(physical, elements.ctypes.data)
        return True

    def may_be_brought(self, root: Root) -> bool:
        """Whether an array may be here once nothing that is pending uses it."""
        is_small = root.nbytes <= self.limit
        return self.may_be_here(root) if is_small else self.may_be_mapped(root)

    def bring(self, root: Root) -> bool:
        """Let the elements of an array that Legate has be in this process; waits.

        False if they may not be here. Nothing that is pending may use the array.
        """
        if root.is_here:
            return True
        if root.real is None or not self.may_be_brought(root):
            return False
        if root.nbytes > self.limit:
            return self._map(root)
        form(whole(root.shape), root.shape)
        root.small_array().put(self._value(root))
        return True

    def _value(self, root: Root) -> Any:
        """Return a buffer of the elements of an array that is not here; waits."""
        native, store = self._native, root.real
        if store is None:
            return bytes(native.scalar_bytes(root.initial.raw_handle))
        if not root.volume:
            return b""
        physical = native.call(store.get_physical_store)
        elements = np.asarray(physical.get_inline_allocation())
        return elements if elements.flags.c_contiguous else elements.tobytes()
