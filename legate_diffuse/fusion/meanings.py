# SPDX-License-Identifier: Apache-2.0
"""What fusion asks about operations."""

from __future__ import annotations

from typing import Protocol

from legate_diffuse.ir import OperationKind
from legate_diffuse.kernel import Builder, Value


class Meanings(Protocol):
    """What operations compute, as a library knows it."""

    def covers(self, kind: OperationKind) -> bool:
        """Return whether a kernel can express an operation."""

    def lower(
        self, kind: OperationKind, builder: Builder, operands: list[Value]
    ) -> list[Value]:
        """Emit an operation over its inputs, then its scalars; return its outputs.

        Of a reduction that is the value to combine at each point.
        """

    def reduction(self, kind: OperationKind) -> str | None:
        """Return the operator with which an operation reduces, None if it does not."""

    def copies(self, kind: OperationKind) -> bool:
        """Return whether an operation's output is its input, bit by bit."""

    def advise(self, task: str) -> str:
        """Return what to write instead of a task that is not fused, '' for nothing.

        ``task`` is Legate's name of it.
        """

    def depends_on_index(self, kind: OperationKind) -> bool:
        """Return whether the values of an operation depend on a point's index."""

    def sums_rows(self, kind: OperationKind) -> bool:
        """Return whether an operation sums over rows of elements, or finds one in each.

        Its first input says where the rows lie; of the others it reads any element.
        """

    def traps(self, kind: OperationKind) -> bool:
        """Return whether an original task ends the process on some values."""
