# SPDX-License-Identifier: Apache-2.0
"""Memory of the application's that is an array's."""

from __future__ import annotations

from typing import Any


class Given:
    """Memory of the application's in which the elements of an array lie.

    Attributes:
        elements: NumPy's array.
        physical: the physical store, once Legate has had to know the memory.
    """

    __slots__ = ("elements", "physical")

    def __init__(self, elements: Any) -> None:
        self.elements = elements
        self.physical: Any = None

    def get_inline_allocation(self) -> Any:
        """Return the elements."""
        return self.elements
