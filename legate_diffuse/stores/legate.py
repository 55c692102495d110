# SPDX-License-Identifier: Apache-2.0
"""The real Legate, for the layers below the stand-ins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Legate:
    """What these layers use of ``legate.core``, and the native part.

    ``legate.core`` itself hands out stand-ins. Attributes with a capital are the
    real classes of that name.
    """

    runtime: Any
    native: Any
    Scalar: Any
    Type: Any
    Scope: Any
    ReductionOpKind: Any

    def attach(self, type_: Any, elements: Any) -> tuple[Any, Any]:
        """Return a store in the memory of a NumPy array, and what it is mapped by.

        It is mapped by None if Legate maps other memory.
        """
        call = self.native.call
        create = self.runtime.create_store_from_buffer
        store = call(create, type_, elements.shape, elements, False)
        physical = call(store.get_physical_store)
        mapped = np.asarray(physical.get_inline_allocation())
        is_same = mapped.ctypes.data == elements.ctypes.data
        return store, physical if is_same else None
