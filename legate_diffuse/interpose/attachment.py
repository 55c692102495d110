# SPDX-License-Identifier: Apache-2.0
"""Stores that are attached to the application's memory.

Two stores over the same buffer are two regions to Legate, so it orders nothing
between them, and a fused kernel must not assume that they are disjoint. Their
tasks are never held back.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from legate_diffuse.interpose.storage import Root
from legate_diffuse.launch.window import window

_attached: list[tuple[int, int, weakref.ref[Root]]] = []


def attach(root: Root, data: Any) -> None:
    """Note that a storage lies in the memory of ``data`` (a buffer)."""
    low, high = np.lib.array_utils.byte_bounds(np.asarray(data))
    _attached[:] = [entry for entry in _attached if entry[2]() is not None]
    for other_low, other_high, reference in _attached:
        other = reference()
        if other is not None and low < other_high and other_low < high:
            window.flush("shared buffer")
            root.fusable = other.fusable = False
            root.escaped = other.escaped = True
    _attached.append((low, high, weakref.ref(root)))
