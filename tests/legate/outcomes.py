# SPDX-License-Identifier: Apache-2.0
"""What statements of ``hosted_statements`` give or raise, and where that differs."""

from __future__ import annotations

import os
import pickle
import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import cupynumeric as cn
import numpy as np
from hosted_statements import CACHED, CHANGES, CRASHING, ROUNDED, arrays

FUSED = os.environ["LEGATE_DIFFUSE"] != "0"
FUNCTIONS = {name: getattr(cn, name) for name in dir(cn) if name[0] != "_"}


def outcomes(statements: Iterable[str], dtype: str) -> dict[str, Any]:
    """Return what statements give on arrays of a type, but for those that end it."""
    return {each: outcome(each, dtype) for each in statements if _runs(each, dtype)}


def _runs(statement: str, dtype: str) -> bool:
    for begin, dtypes in CRASHING.items():
        if statement.startswith(begin):
            return dtype in dtypes
    # its task leaves garbage where all are True or False
    return dtype != "bool" or "argm" not in statement


def names_of(statement: str, dtype: str) -> dict[str, Any]:
    """Return the functions and arrays that a statement finds.

    Unfused, arrays that it does not mention are NumPy's, as each takes as long as
    another statement. They are as they were; fused it may have changed what it has not
    mentioned.
    """
    found = arrays(cn if FUSED else np, dtype)
    if not FUSED:
        for name in {*re.findall(r"\w+", statement)} & found.keys():
            found[name] = cn.array(found[name])
    return FUNCTIONS | found


def outcome(statement: str, dtype: str) -> Any:
    """Return what a statement gives, shows, changes or raises, as arrays of NumPy's."""
    names = names_of(statement, dtype)
    try:
        with warnings.catch_warnings(action="ignore"):
            if statement in CHANGES:
                exec(statement, names)
                return "list", [_elements(names[name]) for name in "xAT"]
            found = eval(statement, names)
            # whether it shows the elements of another array, and changes them
            for name in "xATP":
                names[name][...] = names[name] * 0
            shown = _plain(found)
            if isinstance(found, cn.ndarray) and not statement.startswith(CACHED):
                found[...] = 1
            return "tuple", [shown, *[_elements(names[name]) for name in "xATPoz"]]
    except Exception as error:
        # what Legate says of itself has addresses
        text, _, _ = str(error).partition("LEGATE ERROR")
        return "error", f"{type(error).__name__}: {text}"


def _elements(array: Any) -> Any:
    return "array", np.array(array.__array__())


def _plain(found: Any) -> Any:
    if isinstance(found, cn.ndarray):
        return _elements(found)
    if isinstance(found, (list, tuple)):
        return type(found).__name__, [_plain(each) for each in found]
    return type(found).__name__, found


def keep(found: dict[str, Any], path: str) -> None:
    """Write what statements gave."""
    Path(path).write_bytes(pickle.dumps(found))


def different(found: dict[str, Any], path: str, dtype: str) -> list[Any]:
    """Return the statements that gave something else than what was kept.

    What is rounded on arrays of a type may become another one.
    """
    kept = pickle.loads(Path(path).read_bytes())
    assert found.keys() == kept.keys()
    return [
        (statement, one, kept[statement])
        for statement, one in found.items()
        if _differs(one, kept[statement], statement.startswith(ROUNDED), dtype)
    ]


def _differs(one: Any, other: Any, rounds: bool, dtype: str) -> bool:
    if one[0] != other[0]:
        return True
    a, b = one[1], other[1]
    if one[0] in ("list", "tuple"):
        return len(a) != len(b) or any(
            _differs(*each, rounds, dtype) for each in zip(a, b, strict=True)
        )
    if one[0] != "array":
        return bool(a != b)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return True
    if a.tobytes() == b.tobytes():
        return False
    if not rounds:
        return True
    eps = np.finfo("float32" if dtype == "float32" else a.dtype).eps
    size = max(np.abs(a).max(), 1.0) * 1024 * eps
    return not np.allclose(a, b, rtol=0, atol=size, equal_nan=True)
