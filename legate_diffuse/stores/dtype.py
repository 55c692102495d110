# SPDX-License-Identifier: Apache-2.0
"""NumPy's names of Legate's types."""

from __future__ import annotations

from typing import Any, Final

from legate_diffuse.ir.store import OTHER
from legate_diffuse.kernel.dtypes import RECT

# Legate's name of `rect_type(1)`
_RECT: Final = "{int64[1]:0,int64[1]:8}"
_NAMES: dict[int, str | None] = {}


def dtype_name(type_: Any) -> str | None:
    """Return the NumPy name of a Legate type, or what stands for other types.

    None for those whose elements differ in size.
    """
    if not type_.is_primitive and str(type_) == _RECT:
        return RECT
    code = int(type_.code)
    if code not in _NAMES:
        name = OTHER if type_.size and not type_.variable_size else None
        _NAMES[code] = str(type_.to_numpy_dtype()) if type_.is_primitive else name
    return _NAMES[code]
