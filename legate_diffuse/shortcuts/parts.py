# SPDX-License-Identifier: Apache-2.0
"""What a basic index shows of an array, or a transpose.

It follows from the array's layout. cuPyNumeric computes it the first time; from then on
the layout remembers it.

Follows: cuPyNumeric (cupynumeric/_thunk/deferred.py)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from legate_diffuse.interpose.store import LogicalStore
from legate_diffuse.launch.failure import FailureError, attempt
from legate_diffuse.stores.layout import Layout
from legate_diffuse.stores.view import View


def _plain(part: Any) -> Any:
    """Return Python's integer in place of one of NumPy's."""
    return int(part) if isinstance(part, np.integer) else part


def _is_bound(part: Any) -> bool:
    return part is None or type(part) is int


def _token(key: Any) -> tuple[Any, ...] | None:
    """Return a basic index in a form that can be looked up, None for others."""
    parts: list[Any] = []
    for part in key if type(key) is tuple else (key,):
        if type(part) is slice:
            start, stop = _plain(part.start), _plain(part.stop)
            step = _plain(part.step)
            if step not in (None, 1) or not all(map(_is_bound, (start, stop, step))):
                return None
            parts.append((start, stop))
        else:
            part = _plain(part)
            if not _is_bound(part) and part is not Ellipsis:
                return None
            parts.append(part)
    return tuple(parts)


def find_part(thunk: Any, key: Any) -> View | None:
    """Return what a basic index shows of an array, None for the original."""
    if type(thunk.base) is not LogicalStore:
        # within a task, stores are Legate's own
        return None
    view: View = thunk.base._view
    token = _token(key)
    if token is None or not view.root.fusable or not view.shape:
        return None
    layout = view.layout.indexed.get(token)
    if layout is None:
        layout = _compute(thunk, key)
        if layout is None:
            return None
        view.layout.index(token, layout)
    return view.through(layout)


def _compute(thunk: Any, key: Any) -> Layout | None:
    key = key if type(key) is tuple else (key,)
    try:
        found = attempt(lambda: thunk._get_view(key).base._view)
    except FailureError:
        # the original raises it
        return None
    # an empty slice or one that is not affine may be a store of its own
    whole = found.root is thunk.base._view.root and found.affine and found.volume
    return found.layout if whole else None


def part_of(thunk: Any, key: Any) -> Any:
    """Return the view that a basic index shows, of a thunk for which it is right.

    A list is none: it has the axes of a transpose.
    """
    if type(key) is list:
        return _transposed(thunk, tuple(key))
    found = find_part(thunk, key)
    if found is None:
        found = thunk._get_view(key if type(key) is tuple else (key,)).base._view
    return found


def _transposed(thunk: Any, axes: tuple[int, ...]) -> View:
    view: View = thunk.base._view
    token = "transpose", (axes,)
    layout = view.layout.indexed.get(token)
    if layout is not None:
        return view.through(layout)
    found: View = thunk.transpose(axes).base._view
    if found.root is view.root and found.affine:
        view.layout.index(token, found.layout)
    return found
