# SPDX-License-Identifier: Apache-2.0
"""Twins: copies of the arrays that a window changes, for check mode's fused run."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final

from legate_diffuse.check.elements import Array, box, read, write
from legate_diffuse.ir.privilege import READ, WRITE
from legate_diffuse.launch.state import ClosedWindow
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.layout import whole
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View

# The bytes of a value that no program computes: 1.2e103 as a float64.
_STRANGE: Final = b"\x55"


class Twins:
    """Copies of the arrays that a window changes, made when they are needed."""

    def __init__(self, window: ClosedWindow) -> None:
        first = _first_accesses(window.operations)
        self._roots = {
            root: _twin(root, used=first[root] != WRITE)
            for root in changed_roots(window)
        }
        self._views: dict[View, View] = {}
        # how often writing results was broken off
        self.broken = 0
        # by the identity of the operation
        self._results: dict[int, list[tuple[View, Array]]] = {}

    def keep_results(self, operation: Any) -> None:
        """Let the fused run use what an original operation has computed.

        A task without inputs may have other results each time, as one that makes
        random numbers. A task that nobody knows may have effects, and runs once.
        """
        if not operation.kind.repeatable or _is_source(operation):
            results = [(view, read(view.root)) for view in targets([operation])]
            self._results[id(operation)] = results

    def root(self, root: Root) -> Root:
        """Return what stands for a root in the fused run."""
        return self._roots.get(root, root)

    def view(self, view: View) -> View:
        """Return what stands for a view."""
        twin = self.root(view.root)
        if twin is view.root:
            return view
        found = self._views.get(view)
        if found is None:
            found = self._views[view] = _through(twin, view)
        return found

    def operation(self, operation: Any) -> Any:
        """Return an operation over the twins."""
        results = self._results.get(id(operation))
        if results is not None:
            return _Results(self, operation, results)
        if type(operation) is Fill:
            twin = Fill(self.view(operation.views[0]), self._value(operation.value))
            twin.kind = operation.kind
        else:
            twin = copy.copy(operation)
            if hasattr(twin, "calls"):
                twin.arguments = [self._value(a) for a in operation.arguments]
                twin.calls = [
                    tuple(self._value(argument) for argument in call)
                    for call in operation.calls
                ]
        twin.views = [self.view(view) for view in operation.views]
        twin.provenance_ = operation.provenance_
        return twin

    def _value(self, value: Any) -> Any:
        return self.view(value) if isinstance(value, View) else value


class _Results:
    """Takes the place of an operation, and puts its results into stores."""

    def __init__(
        self,
        twins: Twins,
        operation: Any,
        results: list[tuple[View, Array]],
    ) -> None:
        self._twins = twins
        self.provenance_ = operation.provenance_
        self.kind = operation.kind
        self.scalars = operation.scalars
        self._results = results

    def prepare(self) -> tuple[Any, ...]:
        """Return what to call to write the results."""
        return (self._write,)

    def _write(self) -> None:
        self._twins.broken += 1
        for view, result in self._results:
            write(
                self._twins.root(view.root), result, box(view) if view.affine else ...
            )
        self._twins.broken -= 1


def _is_source(operation: Any) -> bool:
    """Whether fusion does not know an operation, which has no inputs."""
    kind = operation.kind.operation
    return kind.task.endswith("_TASK") and not kind.inputs


def _twin(root: Root, *, used: bool) -> Root:
    """Return a new root with the elements that a root has now.

    ``used`` says that the window's first access to the root does not write it. Else
    a future may have no value yet, and its twin begins with a strange one: Legate ends
    the process if a future is read that a wrong plan has not written.
    """
    initial = root.initial if root.real is None else None
    legate = root.legate
    twin = Root(
        legate,
        root.type,
        root.dtype,
        whole(root.shape),
        root.scalar_storage,
        initial,
    )
    twin.constant = None
    if root.scalar_storage and initial is None:
        strange = legate.Scalar(_STRANGE * root.type.size, root.type)
        legate.runtime.issue_fill(twin.materialize(), root.real if used else strange)
    elif root.real is not None and root.volume:
        twin.keep(legate.runtime.create_store(root.type, root.shape))
        # Legion refuses to copy elements that nobody has written
        write(twin, read(root))
    return twin


def _first_accesses(operations: list[Any]) -> dict[Root, int]:
    """Return what a window does first with each root; reading before writing."""
    first: dict[Root, int] = {}
    for operation in operations:
        accesses = zip(operation.privileges, operation.views, strict=True)
        for privilege, view in sorted(accesses, key=lambda pair: pair[0]):
            whole = operation.kind.overwrites or privilege != WRITE
            first.setdefault(view.root, privilege if whole else READ)
    return first


def _through(twin: Root, view: View) -> View:
    """Return a view of a twin, transformed like one of the original."""
    found = View(twin, whole(twin.shape))
    return found if view.layout is found.layout else View(twin, view.layout)


def changed_roots(window: ClosedWindow) -> list[Root]:
    """Return the roots that a window changes."""
    return list(dict.fromkeys(view.root for view in targets(window.operations)))


def targets(operations: list[Any]) -> Iterator[View]:
    """Yield the views that operations change."""
    for operation in operations:
        for position in operation.kind.changed:
            yield operation.views[position]
