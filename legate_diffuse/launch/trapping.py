# SPDX-License-Identifier: Apache-2.0
"""Operations of which a kernel must be run if there can be one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.ir import OperationKind


class Trapping:
    """Meanings of operations, of which no original task may run where ``traps``."""

    def __init__(
        self, meanings: Meanings, traps: Callable[[OperationKind], bool]
    ) -> None:
        self._meanings = meanings
        self._traps = traps

    def traps(self, kind: OperationKind) -> bool:
        """Return whether an original task must not run if a kernel can instead."""
        return self._traps(kind) or self._meanings.traps(kind)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._meanings, name)


def fills(kind: OperationKind) -> bool:
    """Return whether an operation fills.

    Where ranks share an array, Legion's fills end or hang programs:
    ``EquivalenceSet::overwrite_set`` uses views that were freed (Legate 26.1).
    """
    return kind.task == "FILL"
