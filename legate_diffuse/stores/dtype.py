# SPDX-License-Identifier: Apache-2.0
"""NumPy's names of Legate's types."""

from __future__ import annotations

from typing import Any

_NAMES: dict[int, str | None] = {}


def dtype_name(type_: Any) -> str | None:
    """Return the NumPy name of a Legate type, None if kernels cannot hold it."""
    code = int(type_.code)
    if code not in _NAMES:
        _NAMES[code] = str(type_.to_numpy_dtype()) if type_.is_primitive else None
    return _NAMES[code]
