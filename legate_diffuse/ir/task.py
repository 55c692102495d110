# SPDX-License-Identifier: Apache-2.0
"""Index tasks of the scale-free IR."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from legate_diffuse.ir.kind import OperationKind
from legate_diffuse.ir.privilege import Privilege
from legate_diffuse.ir.region import REPEATED
from legate_diffuse.ir.store import View

ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class Access:
    """One argument of a task or a nest.

    ``operator`` names what a reduction combines values with ('add', 'max', ...). For a
    read it is ``ALL`` if each point may read any element of the view, which then has a
    shape of its own.
    """

    privilege: Privilege
    view: View
    operator: str = ""

    @property
    def reads(self) -> bool:
        """Whether it finds what was there before; a reduction does not see it."""
        return bool(self.privilege & Privilege.READ)

    @property
    def changes(self) -> bool:
        """Whether it writes or reduces."""
        return self.privilege is not Privilege.READ

    @property
    def whole(self) -> bool:
        """Whether each point may read any element."""
        return self.operator == ALL

    @property
    def touched(self) -> View:
        """The view that each point touches."""
        view = self.view
        return replace(view, dims=(REPEATED,) * len(view.dims)) if self.whole else view


@dataclass(frozen=True, slots=True)
class IndexTask:
    """One operation over all points of a launch domain.

    Attributes:
        kind: the operation.
        shape: the class of the launch domain; tasks of one class are partitioned alike.
        accesses: in the order of the operation's arguments.
        reads: the views that the task reads, in the order of its operands.
        writes: the views that it writes, in the order of its results.
        changes: the views that it writes or reduces to.
        stores: the ids of the stores that it touches.
        read: those of the stores that it reads.
        written: those of the stores that it writes.
        changed: those of the stores that it writes or reduces to.
        arrays: those of the stores that are more than single elements.
        reductions: what it reduces to, in the order of its results.
        scalar: whether it touches one-element stores only that all points see, and
            reduces to none.
        single: whether Legate would run it on one processor.
        gathers: whether each point reads elements that an argument tells.
    """

    kind: OperationKind
    shape: int
    accesses: tuple[Access, ...]
    # what follows from the accesses; analyses ask for it again and again
    reads: tuple[View, ...] = field(init=False, repr=False, compare=False)
    writes: tuple[View, ...] = field(init=False, repr=False, compare=False)
    changes: tuple[View, ...] = field(init=False, repr=False, compare=False)
    stores: frozenset[int] = field(init=False, repr=False, compare=False)
    read: frozenset[int] = field(init=False, repr=False, compare=False)
    written: frozenset[int] = field(init=False, repr=False, compare=False)
    changed: frozenset[int] = field(init=False, repr=False, compare=False)
    arrays: frozenset[int] = field(init=False, repr=False, compare=False)
    reductions: tuple[Access, ...] = field(init=False, repr=False, compare=False)
    scalar: bool = field(init=False, repr=False, compare=False)
    single: bool = field(init=False, repr=False, compare=False)
    gathers: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        put = object.__setattr__

        def touch(views: str, stores: str, *privileges: Privilege) -> None:
            own = [a.view for a in self.accesses if a.privilege in privileges]
            put(self, views, tuple(own))
            put(self, stores, frozenset([view.store.id for view in own]))

        touch("reads", "read", Privilege.READ)
        touch("writes", "written", Privilege.WRITE)
        touch("changes", "changed", Privilege.WRITE, Privilege.REDUCE)
        reductions = [a for a in self.accesses if a.privilege is Privilege.REDUCE]
        put(self, "reductions", tuple(reductions))
        stores = [access.view.store for access in self.accesses]
        put(self, "stores", frozenset([store.id for store in stores]))
        arrays = [store.id for store in stores if not store.replicated]
        put(self, "arrays", frozenset(arrays))
        put(self, "scalar", not arrays and not reductions)
        put(self, "single", all([s.single or s.replicated for s in stores]))
        put(self, "gathers", any([access.whole for access in self.accesses]))


def in_order(task: IndexTask) -> list[Access]:
    """Return the accesses of a task, what it reads first."""
    read = [access for access in task.accesses if access.privilege is Privilege.READ]
    return read + [a for a in task.accesses if a.privilege is not Privilege.READ]


def first_accesses(tasks: Iterable[IndexTask]) -> dict[int, Access]:
    """Return the first access of each store by tasks, by the store's id."""
    first: dict[int, Access] = {}
    for task in tasks:
        for access in in_order(task):
            first.setdefault(access.view.store.id, access)
    return first


def read_before_changed(tasks: Iterable[IndexTask]) -> set[int]:
    """Return the ids of the stores that tasks read as they were before them."""
    first = first_accesses(tasks).items()
    return {store for store, access in first if access.privilege is Privilege.READ}
