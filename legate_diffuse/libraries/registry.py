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
    """

    id: int
    operation: OperationKind
    changed: tuple[int, ...]
    pointwise: bool
    covered: bool
    traps: bool = False


class Recognizer(Protocol):
    """Tells which operation a submitted task is."""

    def add_library(self, name: str, library: Any) -> None:
        """Learn the task ids of a library that a client has found."""

    def recognize_task(self, task: Any) -> Kind | None:
        """Return the kind of a stand-in auto task, None if it cannot wait."""

    def recognize_fill(self, fill: Any) -> Kind | None:
        """Return the kind of a fill."""
