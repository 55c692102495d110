# SPDX-License-Identifier: Apache-2.0
"""NumPy's names of Legate's types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from legate_diffuse.ir.store import OTHER
from legate_diffuse.kernel.dtypes import RECT

# Legate's name of `rect_type(1)`
_RECT: Final = "{int64[1]:0,int64[1]:8}"
_NAMES: dict[int, str | None] = {}
# Python's classes of numbers
_CLASSES: Final = bool, int, float, complex


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


def names_by_spelling(names: Iterable[str]) -> dict[Any, str]:
    """Return the names of NumPy's types by all that stands for them.

    That is what ``dtype=`` takes: types, classes of NumPy's and Python's, names, codes.
    """
    found: dict[Any, str] = {}
    for name in names:
        dtype = np.dtype(name)
        code = dtype.str[1:]
        codes = dtype.char, code, f"={code}", dtype.str
        # "single" as well as "float32", and float as well as "float"
        words = [each for each, type_ in np.sctypeDict.items() if type_ is dtype.type]
        classes = [each for each in _CLASSES if np.dtype(each) == dtype]
        for spelling in (name, dtype, dtype.type, *codes, *words, *classes):
            found[spelling] = name
    return found
