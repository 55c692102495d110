# SPDX-License-Identifier: Apache-2.0
"""Memory of the application's that is an array's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True, eq=False)
class Given:
    """Memory of the application's in which the elements of an array lie.

    Attributes:
        elements: NumPy's array.
        physical: the physical store, once Legate has had to know the memory.
    """

    elements: Any
    physical: Any = None

    def get_inline_allocation(self) -> Any:
        """Return the elements."""
        return self.elements
