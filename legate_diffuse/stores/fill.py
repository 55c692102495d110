# SPDX-License-Identifier: Apache-2.0
"""A fill that waits in the window as tasks do."""

from __future__ import annotations

from typing import Any

from legate_diffuse.ir.privilege import READ, WRITE
from legate_diffuse.stores.view import View


class Fill:
    """``Runtime.issue_fill(store, value)``: a Legate scalar, or a one-element view."""

    __slots__ = ("kind", "privileges", "provenance_", "scalars", "value", "views")
    privileges: tuple[int, ...]

    def __init__(self, target: View, value: Any) -> None:
        self.value = value
        self.kind: Any = None
        self.provenance_ = ""
        self.views = [target]
        self.scalars: list[tuple[Any, Any]] = []
        if isinstance(value, View):
            self.views.append(value)
            self.privileges = (WRITE, READ)
        else:
            self.scalars.append((value, None))
            self.privileges = (WRITE,)

    def prepare(self) -> tuple[Any, ...]:
        """Return what to call with what, once, to issue the real fill."""
        value = self.value
        if not self.scalars:
            value.root.settle()
            value = value.materialize(reads_only=True)
        target = self.views[0]
        root = target.root
        root.constant = None
        return root.legate.runtime.issue_fill, target.materialize(), value

    def uses(self) -> tuple[()]:
        """Return nothing: Legion fills what comes after it, wherever that is."""
        return ()

    def run(self) -> None:
        """Issue the real fill."""
        call, *arguments = self.prepare()
        call(*arguments)
