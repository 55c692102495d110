# SPDX-License-Identifier: Apache-2.0
"""Index tasks of the scale-free IR."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from legate_diffuse.ir.store import View
from legate_diffuse.ops.registry import OperationKind


class Privilege(enum.Enum):
    """What a task does with an argument (Diffuse, section 3.3)."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Access:
    """One argument of a task."""

    privilege: Privilege
    view: View


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
        return tuple(a.view for a in self.accesses if a.privilege is Privilege.READ)

    @property
    def writes(self) -> tuple[View, ...]:
        """The views that the task writes, in the order of its results."""
        return tuple(a.view for a in self.accesses if a.privilege is Privilege.WRITE)
