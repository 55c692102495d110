# SPDX-License-Identifier: Apache-2.0
"""What stand-in stores stand for: one Legate storage, existing or still to be made.

Legate hears of a storage when a task that needs it is submitted, so a
temporary that fusion removes never exists in Legate at all.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, Final

from legate_diffuse.interpose.view import Shape, View

# References to a physical store that nobody else holds, while they are counted:
# the list's, the loop variable's and the counting call's.
_LENT_REFERENCES: Final = 3


class Root:
    """One storage, made by Legate only when :attr:`real` is first needed.

    ``alive`` says whether the application can still reach the storage. It is
    the application's half of the paper's split reference count (section 5.2);
    the references that the window holds do not count.
    """

    __slots__ = (
        "__weakref__",
        "alive",
        "base",
        "constant",
        "constant_bytes",
        "create",
        "dtype",
        "escaped",
        "fusable",
        "lent",
        "real",
        "scalar_storage",
        "shared",
        "type",
        "volume",
    )

    def __init__(
        self,
        type_: Any,
        dtype: str | None,
        shape: tuple[int, ...],
        create: Callable[[], Any],
        *,
        scalar_storage: bool = False,
        constant: Any = None,
    ) -> None:
        self.type = type_
        # NumPy name of the element type, None if kernels cannot handle it
        self.dtype = dtype
        self.create = create
        self.scalar_storage = scalar_storage
        # legate.core.Scalar with the value, while nothing has been written
        self.constant = constant
        self.constant_bytes: bytes | None = None
        self.real: Any = None
        # True once code that was not intercepted may hold the real store
        self.escaped = False
        self.fusable = dtype is not None
        # True if the application may hold the storage's memory
        self.shared = False
        # the real physical stores through which it may, None if it does for good
        self.lent: list[Any] | None = []
        self.alive = True
        self.volume = math.prod(shape)
        self.base: View | None = View(
            self,
            Shape(shape),
            tuple(range(len(shape))),
            (0,) * len(shape),
            tuple(shape),
            (),
            transformed=False,
            substorage=False,
            affine=True,
        )

    @property
    def nbytes(self) -> int:
        """The size of the storage, in bytes."""
        return self.volume * int(self.type.size)

    def lend(self, physical: Any = None) -> None:
        """Note that the application holds the memory, as long as ``physical`` lives.

        Without ``physical`` it holds the memory for good.
        """
        self.shared = True
        if physical is None:
            self.lent = None
        elif self.lent is not None and not any(p is physical for p in self.lent):
            self.lent.append(physical)

    def is_shared(self) -> bool:
        """Whether the application holds the memory now; call it if ``shared``."""
        if self.lent is not None:
            self.lent = [p for p in self.lent if sys.getrefcount(p) > _LENT_REFERENCES]
            self.shared = bool(self.lent)
        return self.shared

    def materialize(self) -> Any:
        """Return the real ``LogicalStore`` of the whole storage."""
        if self.real is None:
            self.real = self.create()
        return self.real


class Owner:
    """Held by every stand-in of one root; its death is the root's."""

    __slots__ = ("root",)

    def __init__(self, root: Root) -> None:
        self.root = root

    def __del__(self) -> None:
        root = self.root
        root.alive = False
        # the root and its base view refer to one another
        root.base = None


_DTYPES: dict[int, str | None] = {}


def dtype_name(type_: Any) -> str | None:
    """Return the NumPy name of a Legate type, None if kernels cannot hold it."""
    code = int(type_.code)
    if code not in _DTYPES:
        _DTYPES[code] = str(type_.to_numpy_dtype()) if type_.is_primitive else None
    return _DTYPES[code]
