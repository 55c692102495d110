# SPDX-License-Identifier: Apache-2.0
"""The real stores behind views, for whoever is not a task in the window."""

from __future__ import annotations

from typing import Any

from legate_diffuse.interpose.window import window
from legate_diffuse.stores.view import View


def expose(view: View) -> Any:
    """Return the real store for code that is not intercepted.

    All pending operations are submitted first. From now on the storage counts as
    reachable from outside.
    """
    window.flush("escape")
    view.root.escaped = True
    return writable(view)


def hold(view: View) -> Any:
    """Return the real store for a task that is being built, and may write it.

    From now on the elements lie there, whenever the task is submitted.
    """
    view.root.held = True
    return writable(view)


def real_store(view: View, *, writes: bool) -> Any:
    """Return the real store for a task that reads it or ``writes``, and runs now."""
    return writable(view) if writes else view.materialize(reads_only=True)


def writable(view: View) -> Any:
    """Return the real store for a task that may write it."""
    if view.root.constant is not None:
        # pending tasks still read the value that may change
        window.flush("write to a constant")
        view.root.constant = None
    view.root.settle()
    return view.materialize()
