# SPDX-License-Identifier: Apache-2.0
"""Index tasks of the scale-free IR."""

from __future__ import annotations

from dataclasses import dataclass

from legate_diffuse.ir.kind import OperationKind
from legate_diffuse.ir.privilege import Privilege
from legate_diffuse.ir.store import View


@dataclass(frozen=True, slots=True)
class Access:
    """One argument of a task.

    ``operator`` names what a reduction combines values with ('add', 'max', ...).
    """

    privilege: Privilege
    view: View
    operator: str = ""


@dataclass(frozen=True, slots=True)
class IndexTask:
    """One operation over all points of a launch domain.

    ``shape`` is the class of the launch domain: tasks of one class are
    partitioned alike. Accesses are in the order of the operation's arguments.
    """

    kind: OperationKind
    shape: int
    accesses: tuple[Access, ...]

    @property
    def reads(self) -> tuple[View, ...]:
        """The views that the task reads, in the order of its operands."""
        return self._views(Privilege.READ)

    @property
    def writes(self) -> tuple[View, ...]:
        """The views that the task writes, in the order of its results."""
        return self._views(Privilege.WRITE)

    @property
    def reductions(self) -> tuple[Access, ...]:
        """The reductions of the task, in the order of its results."""
        return tuple(a for a in self.accesses if a.privilege is Privilege.REDUCE)

    @property
    def changes(self) -> tuple[View, ...]:
        """The views that the task writes or reduces to."""
        return tuple(a.view for a in self.accesses if a.privilege is not Privilege.READ)

    @property
    def stores(self) -> set[int]:
        """The ids of the stores that the task touches."""
        return {access.view.store.id for access in self.accesses}

    def _views(self, privilege: Privilege) -> tuple[View, ...]:
        return tuple(a.view for a in self.accesses if a.privilege is privilege)
