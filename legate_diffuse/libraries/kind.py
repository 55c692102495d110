# SPDX-License-Identifier: Apache-2.0
"""What the window asks about the tasks that are submitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from legate_diffuse.ir import OperationKind


@dataclass(frozen=True, slots=True)
class Kind:
    """An operation kind as a window records it.

    Attributes:
        id: the number that stands for it in a window's key.
        operation: what it computes.
        changed: positions of the arguments that it writes or reduces to.
        pointwise: its arguments must have one shape for a kernel to express it.
        covered: a kernel can express it.
        traps: the original task ends the process on some values, a kernel does not.
        overwrites: it writes all elements of what it writes; else it may leave some.
        repeatable: a second run gives the same results and has no other effects.
        repeated: positions of the arguments whose one element is used at all points.
    """

    id: int
    operation: OperationKind
    changed: tuple[int, ...]
    pointwise: bool
    covered: bool
    traps: bool = False
    overwrites: bool = True
    repeatable: bool = True
    repeated: tuple[int, ...] = ()


class Recognizer(Protocol):
    """Tells which operation a submitted task is."""

    def recognize_task(self, task: Any) -> Kind | None:
        """Return the kind of a stand-in auto task, None if it cannot wait."""

    def recognize_opaque(self, task: Any) -> Kind | None:
        """Return the kind of a task that runs as it is, None if it cannot wait."""

    def recognize_fill(self, fill: Any) -> Kind | None:
        """Return the kind of a fill."""
