# SPDX-License-Identifier: Apache-2.0
"""Which launches run in the program's thread, on arrays that live in this process.

A task on a few thousand elements takes longer to launch than to run, and a program
that reads its result waits for all of it. So a launch whose arguments are all small
runs at once, on memory of ours (``mappers/process``). An array's elements are there
while ``Root.is_here``. Whatever passes the real store to Legate stores them first
(``Root.materialize``).

Elements that Legate has are brought in only where the program would not wait for them
otherwise: it waits for the launch's result, or has submitted nothing but small launches
for a while.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.ir.privilege import WRITE
from legate_diffuse.launch import ranks
from legate_diffuse.stores.legate import Legate
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View

# After so many small launches that ran as tasks, with no other task between them, the
# arrays that kept them out are brought in.
_PATIENCE: Final = 4

_SCALAR_SLOT: Final = 16  # bytes; see the kernel calling convention


class Found(NamedTuple):
    """The small arrays of a launch.

    Attributes:
        arrays: one for each argument.
        first_values: elements that some have before the launch: the number of the
            argument, the elements, and whether the real store has them as well.
    """

    arrays: tuple[Any, ...]
    first_values: list[tuple[int, bytes, bool]]


class SmallArrays:
    """Finds out which launches run in the program's thread.

    Args:
        legate: the real Legate.
        limit: the bytes of a small array; with 0 all launches are tasks.
    """

    def __init__(self, legate: Legate, limit: int) -> None:
        self._native = legate.native
        # every rank would have to compute and read all of them
        self.limit = 0 if ranks.are_several(legate.runtime) else limit
        # small launches in a row that ran as tasks
        self._kept_out = 0

    def take(self, root: Root, elements: Any) -> bool:
        """Put the elements of a new array into this process, if it is small.

        Args:
            root: of an array that nobody else knows.
            elements: a NumPy array in row-major order.
        """
        if not root.fusable or not 0 < root.nbytes <= self.limit:
            return False
        first = elements.tobytes()
        root.small = self._native.SmallArray(root.type.size, root.shape, first)
        return True

    def note_task(self) -> None:
        """Take note of a task that is not a small launch."""
        self._kept_out = 0

    def find(
        self,
        planned: PlannedLaunch,
        views: list[View],
        shapes: list[Any],
        wanted: Root | None,
    ) -> Found | None:
        """Return the small arrays of a launch, None if it is to be a task.

        Args:
            planned: the launch.
            views: the window's views, by number.
            shapes: the window's shapes, by number.
            wanted: a single element that the program waits for, if any.
        """
        if (
            not self.limit
            or planned.partitioned
            or self._has_many_points(planned, shapes)
        ):
            self._kept_out = 0
            return None
        arrays: list[Any] = []
        outside: list[tuple[int, Root]] = []
        is_wanted = in_legate = False
        for number, privilege in zip(
            planned.arguments, planned.privileges, strict=True
        ):
            root = views[number].root
            small = root.small
            if small is None or root.escaped or root.held or root.shared:
                if not self.may_be_here(root):
                    self._kept_out = 0
                    return None
                small = root.small_array()
            if privilege != WRITE and not small.valid:
                if root.real is not None:
                    in_legate = True
                    outside.append((len(arrays), root))
                elif root.initial is not None:
                    outside.append((len(arrays), root))
            is_wanted = is_wanted or root is wanted
            arrays.append(small)
        if in_legate and not is_wanted and self._kept_out < _PATIENCE:
            self._kept_out += 1
            return None
        values = [(n, self._value(root), root.real is not None) for n, root in outside]
        return Found(tuple(arrays), values)

    def _has_many_points(self, planned: PlannedLaunch, shapes: list[Any]) -> bool:
        """Whether a nest has more points than a small array has bytes."""
        limit = self.limit
        return any([prod(shape) > limit for shape in shapes]) and any(
            [prod(shapes[nest.lowered.shape]) > limit for nest in planned.nests]
        )

    def may_be_here(self, root: Root) -> bool:
        """Whether a root's elements may lie in this process."""
        return (
            root.nbytes <= self.limit
            # Legate does not let such a region be read
            and (root.scalar_storage or root.shape != ())
            and not root.escaped
            and not root.held
            and not (root.shared and root.is_shared())
        )

    def scalar_bytes(self, scalar: Any) -> bytes:
        """Return a scalar as kernels read it."""
        content = self._native.scalar_bytes(scalar.raw_handle)
        return bytes(content).ljust(_SCALAR_SLOT, b"\0")

    def constant_bytes(self, root: Root) -> bytes:
        """Return the value with which a root was made, as kernels read it."""
        if root.constant_bytes is None:
            root.constant_bytes = self.scalar_bytes(root.initial)
        return root.constant_bytes

    def _value(self, root: Root) -> bytes:
        """Return the elements of an array that is not here; waits for them."""
        native, store = self._native, root.real
        if store is None:
            return bytes(native.scalar_bytes(root.initial.raw_handle))
        if not root.volume:
            return b""
        physical = native.call(store.get_physical_store)
        return np.asarray(physical.get_inline_allocation()).tobytes()
