# SPDX-License-Identifier: Apache-2.0
"""Whether two views show the same values, as far as operations that wait tell.

Two operations of one kind that read the same values write the same values. So
``x[x > 0]`` and a later ``x > 0`` have one mask, if nothing has changed ``x`` between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from legate_diffuse.ir.privilege import WRITE
from legate_diffuse.stores.view import View

# How many operations may have made a value, one from the result of another.
_MOST_STEPS: Final = 8


class Likeness:
    """Compares what views show at places between operations that wait.

    Args:
        operations: the operations, in program order.
    """

    def __init__(self, operations: Sequence[Any]) -> None:
        self._operations = operations

    def are_alike(self, one: View, other: View) -> bool:
        """Whether two views show the same values after all operations.

        ``one`` may be a copy of such a view.
        """
        end = len(self._operations)
        place = self._maker(one, end)
        if place is not None and self._is_copy(place):
            (one,) = self._read(place)
            return self._are_alike(one, place, other, end, _MOST_STEPS)
        return self._are_alike(one, end, other, end, _MOST_STEPS)

    def _are_alike(
        self, one: View, before: int, other: View, before_other: int, steps: int
    ) -> bool:
        """Compare two views as operations at two places find them."""
        if one.root is other.root:
            between = range(*sorted((before, before_other)))
            return _show_alike(one, other) and not any(
                self._changes(place, one) for place in between
            )
        if not steps or (one.root.dtype, one.shape) != (other.root.dtype, other.shape):
            return False
        place, place_other = self._maker(one, before), self._maker(other, before_other)
        if place is None or place_other is None:
            return False
        first, second = self._operations[place], self._operations[place_other]
        return (
            first.kind is second.kind
            and first.kind.repeatable
            and _have_same_scalars(first, second)
            and all(
                self._are_alike(a, place, b, place_other, steps - 1)
                for a, b in zip(self._read(place), self._read(place_other), strict=True)
            )
        )

    def _maker(self, view: View, before: int) -> int | None:
        """Return the place of the operation that has made a view's elements.

        None if that is unknown, or others than all of them have been written.
        """
        for place in reversed(range(before)):
            if self._changes(place, view):
                operation = self._operations[place]
                kind = operation.kind
                (written, *more) = [operation.views[n] for n in kind.changed]
                is_whole = (
                    not more
                    and kind.covered
                    and kind.overwrites
                    and operation.privileges[kind.changed[0]] == WRITE
                    and _show_alike(written, view)
                )
                return place if is_whole else None
        return None

    def _changes(self, place: int, view: View) -> bool:
        operation = self._operations[place]
        return any(
            operation.views[number].root is view.root
            for number in operation.kind.changed
        )

    def _read(self, place: int) -> list[View]:
        operation = self._operations[place]
        changed = operation.kind.changed
        return [
            view for number, view in enumerate(operation.views) if number not in changed
        ]

    def _is_copy(self, place: int) -> bool:
        operation = self._operations[place].kind.operation
        return (operation.task, operation.code) == ("UNARY_OP", "COPY")


def _have_same_scalars(one: Any, other: Any) -> bool:
    """Whether two operations have the same scalar arguments, bit by bit."""
    values = [[value for value, _ in each.scalars] for each in (one, other)]
    return len(values[0]) == len(values[1]) and all(
        a is b or (type(a) is int is type(b) and a == b)
        for a, b in zip(*values, strict=True)
    )


def _show_alike(one: View, other: View) -> bool:
    """Whether two views of roots of one shape show the same places of them."""
    if one.root.shape != other.root.shape:
        return False
    mine, others = one.layout, other.layout
    return mine is others or (
        mine.affine
        and others.affine
        and (mine.shape, mine.dims, mine.low, mine.extents)
        == (others.shape, others.dims, others.low, others.extents)
    )
