# SPDX-License-Identifier: Apache-2.0
"""Windows of views over concrete arrays, written as keys and read back."""

from __future__ import annotations

from collections.abc import Sequence

from recorder import Machine, Recorder

from legate_diffuse.ir import View as ViewInWindow
from legate_diffuse.ir import Window
from legate_diffuse.ir.privilege import READ
from legate_diffuse.stores.view import View

# A slice of a dimension, or one position of it.
Index = slice | int

_RECORDER = Recorder(Machine())


def array(*shape: int) -> View:
    """Return an array."""
    return _RECORDER.array(*shape)


def view_of(array: View, *index: Index) -> View:
    """Return a view of an array as NumPy's basic indexing gives it."""
    view: View | None = array
    dim = 0
    for each, extent in zip(index, array.shape, strict=True):
        assert view is not None
        if isinstance(each, int):
            view = view.project(dim, each % extent)
        else:
            start, stop, _ = each.indices(extent)
            view = view.slice(dim, start, stop)
            dim += 1
    assert view is not None, "the view is empty"
    return view


def window_of(views: Sequence[View]) -> tuple[tuple[int, ...], Window]:
    """Return the key and the window of an operation that reads views."""
    _RECORDER.task("READ", views, [READ] * len(views))
    return _RECORDER.finish()


def read(views: Sequence[View]) -> tuple[tuple[int, ...], list[ViewInWindow]]:
    """Return the key of an operation that reads views, and the views in its window."""
    key, window = window_of(views)
    (task,) = window.tasks
    return key, [access.view for access in task.accesses]
