# SPDX-License-Identifier: Apache-2.0
"""What the nests of a program do with the roots that it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from legate_diffuse.fusion.passed import Passed
from legate_diffuse.ir import View
from legate_diffuse.ir.distance import Rows
from legate_diffuse.ir.nest import Nest
from legate_diffuse.ir.privilege import OPERATORS, READ, REDUCE, WRITE
from legate_diffuse.ir.relations import covers_store


class Buffer(NamedTuple):
    """A buffer in scratch memory, where a temporary lives.

    Attributes:
        view: the number of a view of its store.
        first: the first nest that uses it.
        last: the last one.
        spread: how many rows more than those of a block are in use at a time, if the
            buffer is circular; None if it has all rows of its store.
        thin: whether it has the rows of its view only.
    """

    view: int
    first: int
    last: int
    spread: Rows | None = None
    thin: bool = False


class RootUsers:
    """Which nests of a program use which stores, and how.

    Stores in ``places`` have the buffers of others, and those in ``circular`` need so
    many rows more than those of a block.

    Attributes:
        arguments: what the task is passed, each with its number, in order.
        scratch: the buffers in scratch memory, in order, by the first of their stores.
        operands: for each access of each nest which argument of the task it is, or
            which buffer, from -1 downwards.
    """

    def __init__(
        self,
        in_scratch: AbstractSet[int],
        undefined: AbstractSet[int],
        places: Mapping[int, int],
        circular: Mapping[int, Rows],
    ) -> None:
        self.arguments: dict[Passed, int] = {}
        self.scratch: dict[int, Buffer] = {}
        self.operands: list[tuple[int, ...]] = []
        # of arguments, in order
        self._privileges = bytearray()
        # by their numbers, what those are reduced with that are
        self._operators: dict[int, str] = {}
        # arguments of which all is written
        self._covered: set[int] = set()
        # by the first of its stores
        self._buffers: dict[int, int] = {}
        self._in_scratch = in_scratch
        self._undefined = undefined
        self._places = places
        self._circular = circular

    def add(self, number: int, nest: Nest, all_passed: Sequence[Passed]) -> None:
        """Take in a nest, by its number, and what is passed for each access."""
        operands: list[int] = []
        covered: set[int] = set()
        for access, passed in zip(nest.accesses, all_passed, strict=True):
            if passed.store in self._in_scratch:
                place = self._places.get(passed.store, passed.store)
                known = self.scratch.get(place) or self._buffer(access.view, number)
                self.scratch[place] = known._replace(last=number)
                buffer = self._buffers.setdefault(place, ~len(self._buffers))
                operands.append(buffer)
                continue
            argument = self._argument(passed)
            covers = self._covers(access.view)
            operands.append(argument)
            self._use(argument, access.privilege, covers=covers)
            if access.privilege is REDUCE:
                self._operators[argument] = access.operator
            if access.changes and covers:
                covered.add(argument)
        self.operands.append(tuple(operands))
        # reading through another view comes before what the nest writes
        self._covered |= covered

    def _buffer(self, view: View, number: int) -> Buffer:
        """Return the buffer of a view's store, which a nest is the first to use."""
        rows, spread = view.store.rows, self._circular.get(view.store.id)
        if rows is None:
            return Buffer(view.recorded, number, number, spread)
        return Buffer(rows, number, number, spread, thin=True)

    def _argument(self, passed: Passed) -> int:
        if passed.image_of is not None:
            # what points to an image comes before it
            self._use(self._argument(passed.image_of), READ, covers=False)
        if passed not in self.arguments:
            self.arguments[passed] = len(self.arguments)
            self._privileges.append(0)
        return self.arguments[passed]

    def _covers(self, view: View) -> bool:
        """Whether writing a root through a view loses nothing of the root."""
        return covers_store(view) or view.store.id in self._undefined

    def _use(self, argument: int, privilege: int, *, covers: bool) -> None:
        """Add a nest's privilege to an argument's.

        What a nest writes in part must be read as well, or the rest of it would be
        lost, unless it has no contents yet.
        """
        if privilege & (WRITE | REDUCE):
            self._privileges[argument] |= WRITE
        if argument not in self._covered and (privilege != WRITE or not covers):
            self._privileges[argument] |= READ

    def privileges(self, shared: Sequence[bool]) -> bytes:
        """Return what the task does with its arguments, one byte for each.

        Of those that are ``shared`` each point has a share, of a sum or the like.
        """
        return bytes(
            REDUCE + OPERATORS[self._operators[argument]] if reduces else privilege
            for argument, (privilege, reduces) in enumerate(
                zip(self._privileges, shared, strict=True)
            )
        )
