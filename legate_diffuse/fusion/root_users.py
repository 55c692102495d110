# SPDX-License-Identifier: Apache-2.0
"""What the nests of a program do with the roots that it names."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from legate_diffuse.fusion.lowering import LoweredNest
from legate_diffuse.fusion.tiles import Tiling
from legate_diffuse.ir import View
from legate_diffuse.ir.privilege import OPERATORS, READ, REDUCE, WRITE
from legate_diffuse.ir.relations import covers_store


@dataclass(slots=True)
class _RootAccess:
    """A root that a program names; ``covered`` once all of it is written."""

    privilege: int = 0
    covered: bool = False
    operator: str = ""


class RootUsers:
    """Which nests of a program use which stores, and how."""

    def __init__(
        self, in_scratch: AbstractSet[int], undefined: AbstractSet[int]
    ) -> None:
        self.arguments: dict[int, _RootAccess] = {}
        self.scratch: dict[int, list[int]] = {}
        self._in_scratch = in_scratch
        self._undefined = undefined

    def add(self, number: int, lowered: LoweredNest, views: Mapping[int, View]) -> None:
        """Take in a nest, by its number."""
        accesses = [(views[view], privilege) for view, privilege in lowered.accesses]
        for view, privilege in accesses:
            store = view.store.id
            if store in self._in_scratch:
                self.scratch.setdefault(store, [view.id, number, number])[2] = number
            else:
                argument = self.arguments.setdefault(store, _RootAccess())
                _use(argument, privilege, self._covers(view))
        kernel = zip(accesses, lowered.kernel.arguments, strict=True)
        for (view, _), argument_of_kernel in kernel:
            if argument_of_kernel.reduces and view.store.id in self.arguments:
                operator = argument_of_kernel.reduces
                self.arguments[view.store.id].operator = operator
        for view, privilege in accesses:
            # reading through another view comes before what the nest writes
            if privilege & (WRITE | REDUCE) and view.store.id in self.arguments:
                argument = self.arguments[view.store.id]
                argument.covered |= self._covers(view)

    def _covers(self, view: View) -> bool:
        """Whether writing a root through a view loses nothing of the root."""
        return covers_store(view) or view.store.id in self._undefined

    def privileges(self, tiling: Tiling | None) -> bytes:
        """Return what the task does with its arguments, one byte for each."""
        shared = tiling.shared if tiling else (False,) * len(self.arguments)
        return bytes(
            REDUCE + OPERATORS[access.operator] if reduces else access.privilege
            for access, reduces in zip(self.arguments.values(), shared, strict=True)
        )

    def places(self) -> dict[int, int]:
        """Return by store the number of its root among arguments or scratch buffers."""
        arguments = {store: place for place, store in enumerate(self.arguments)}
        return arguments | {store: ~place for place, store in enumerate(self.scratch)}


def _use(argument: _RootAccess, privilege: int, covers: bool) -> None:
    """Add a nest's privilege to a root's.

    A root that a nest writes in part must be read as well, or the rest of it would be
    lost, unless it has no contents yet.
    """
    covered = argument.covered
    if privilege & (READ | REDUCE) and not covered:
        argument.privilege |= READ
    if privilege & (WRITE | REDUCE):
        argument.privilege |= WRITE
        if not (covered or covers):
            argument.privilege |= READ
