# SPDX-License-Identifier: Apache-2.0
"""The scalars of programs."""

from __future__ import annotations

from typing import Any, Final

from legate_diffuse.stores.root import Root

_SCALAR_SLOT: Final = 16  # bytes; see the kernel calling convention


def scalar_bytes(native: Any, scalar: Any) -> bytes:
    """Return a ``legate.core.Scalar`` as kernels read it."""
    content = native.scalar_bytes(scalar.raw_handle)
    return bytes(content).ljust(_SCALAR_SLOT, b"\0")


def constant_bytes(root: Root) -> bytes:
    """Return the value with which a root was made, as kernels read it."""
    if root.constant_bytes is None:
        root.constant_bytes = scalar_bytes(root.legate.native, root.initial)
    return root.constant_bytes
