# SPDX-License-Identifier: Apache-2.0
"""A fill that waits in the window, in the shape of a task."""

from __future__ import annotations

from typing import Any

from legate_diffuse.stores.view import View

_INPUT, _OUTPUT = 0, 1  # roles, as in interpose.task


class Fill:
    """``Runtime.issue_fill(store, value)``: a Legate scalar, or a one-element view."""

    __slots__ = ("kind", "provenance_", "roles", "scalars", "value", "views")
    roles: tuple[int, ...]

    def __init__(self, target: View, value: Any) -> None:
        self.value = value
        self.kind: Any = None
        self.provenance_ = ""
        self.views = [target]
        self.scalars: list[tuple[Any, Any]] = []
        if isinstance(value, View):
            self.views.append(value)
            self.roles = (_OUTPUT, _INPUT)
        else:
            self.scalars.append((value, None))
            self.roles = (_OUTPUT,)

    def run(self) -> None:
        """Issue the real fill."""
        value = self.value
        if not self.scalars:
            value.root.settle()
            value = value.materialize()
        target = self.views[0]
        root = target.root
        root.constant = None
        root.shares_future = False
        root.legate.runtime.issue_fill(target.materialize(), value)
