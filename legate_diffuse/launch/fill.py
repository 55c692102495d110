# SPDX-License-Identifier: Apache-2.0
"""A fill that waits in the window, in the shape of a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from legate_diffuse.interpose.originals import real

if TYPE_CHECKING:
    from legate_diffuse.stores.view import View

_INPUT, _OUTPUT = 0, 1  # roles, as in interpose.task


class Fill:
    """``Runtime.issue_fill(store, value)``: a constant or one-element store."""

    __slots__ = ("kind", "provenance_", "roles", "scalars", "value", "views")
    roles: tuple[int, ...]

    def __init__(self, target: View, value: Any) -> None:
        self.value = value
        self.kind: Any = None
        self.provenance_ = ""
        self.views = [target]
        self.scalars: list[tuple[Any, Any]] = []
        if type(value) is real.Scalar:
            self.scalars.append((value, None))
            self.roles = (_OUTPUT,)
        else:
            self.views.append(value)
            self.roles = (_OUTPUT, _INPUT)

    def run(self) -> None:
        """Issue the real fill."""
        value = self.value
        if not self.scalars:
            value.root.settle()
            value = value.materialize()
        target = self.views[0]
        target.root.constant = None
        target.root.shares_future = False
        real.runtime.issue_fill(target.materialize(), value)
