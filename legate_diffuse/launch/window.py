# SPDX-License-Identifier: Apache-2.0
"""The window of operations that wait to be fused (Diffuse, section 4.1).

Operations are recorded as they are submitted. While they are recorded, the
window's key grows: what the plan depends on, with views, roots and shapes
renumbered in the order of first appearance, and never an extent or a scalar's
value. A window whose key was seen before is submitted without analysis.
"""

from __future__ import annotations

from typing import Any, Final

from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.storage import Root
from legate_diffuse.interpose.view import Shape, View, over
from legate_diffuse.launch.fill import Fill
from legate_diffuse.launch.recognize import Recognizer
from legate_diffuse.launch.submission import Submitter
from legate_diffuse.observe.counters import Counters

# Operations that wait at most. Twice the longest program body that is known
# (Black-Scholes, 67), and few enough to keep kernels small.
CAPACITY: Final = 128


class WindowState:
    """What has been recorded since the last flush."""

    __slots__ = ("key", "operations", "roots", "shapes", "views")

    def __init__(self) -> None:
        self.operations: list[Any] = []
        self.key: list[int] = []
        self.views: dict[View, int] = {}
        self.roots: dict[Root, int] = {}
        self.shapes: dict[Shape, int] = {}


class LaunchWindow:
    """Records operations, and submits them fused."""

    def __init__(self) -> None:
        self.counters = Counters()
        self.recognizer = Recognizer()
        self.state = WindowState()
        self.submitter = Submitter(self.counters)
        self._native: Any = None

    def start(self) -> None:
        """Connect to the native part, which has been started."""
        from legate_diffuse import _native

        self._native = _native
        _native.set_flush_callback(lambda: self.flush("native call"))
        self.submitter.start(_native)

    # -- recording --------------------------------------------------------------
    def submit(self, operation: Any) -> None:
        """Hold an operation back, or run it after all that is pending."""
        if type(operation) is Fill:
            recorded = self._record_fill(operation)
        else:
            recorded = operation.plain and self._record_task(operation)
        if not recorded:
            self.submit_now(operation)
            return
        self.counters.tasks_seen += 1
        if len(self.state.operations) >= CAPACITY:
            self.flush("full window")

    def submit_now(self, operation: Any) -> None:
        """Run an operation after all that is pending."""
        self.let_pass("task that cannot be fused")
        operation.run()

    def let_pass(self, cause: str) -> None:
        """Submit what is pending, and count the operation that comes after it."""
        self.flush(cause)
        self.counters.tasks_seen += 1
        self.counters.tasks_submitted += 1

    def _record_task(self, task: Any) -> bool:
        kind = self.recognizer.recognize_task(task)
        if kind is None:
            return False
        views = task.views
        shape = views[0].shape
        shared = False
        for view in views:
            root = view.root
            if not root.fusable:
                return False
            if root.shared and root.is_shared():
                shared = True
            if view.shape != shape:
                if kind.operation.task != "FILL":
                    return False
                return self._record_fill(task, kind)
        if shared and views[0].root.shared:
            return False
        self._record(task, kind)
        if shared:
            # as soon as the application could have expected it without a window
            self.flush("read of shared memory")
        return True

    def _record_fill(self, fill: Any, kind: Any = None) -> bool:
        """Record a fill: its one-element value repeats over the target."""
        target = fill.views[0]
        root = target.root
        if not root.fusable or (root.shared and root.is_shared()):
            return False
        if len(fill.views) > 1:
            value = fill.views[1]
            if (
                not value.root.fusable
                or value.root.dtype != target.root.dtype
                or value.shape != ()
                or not value.root.scalar_storage
            ):
                return False
            if target.volume > 1:
                fill.views = [target, over(value, target.shape)]
        kind = kind or self.recognizer.recognize_fill(fill)
        self._record(fill, kind)
        return True

    def _record(self, operation: Any, kind: Any) -> None:
        written = operation.views[0].root
        if written.constant is not None:
            # pending tasks still read the value that is about to change
            self.flush("write to a constant")
            written.constant = None
        state = self.state
        views = state.views
        key = state.key
        key.append(kind.id)
        for view in operation.views:
            slot = views.get(view)
            if slot is None:
                slot = _describe(state, view)
            key.append(slot)
        operation.kind = kind
        if self.submitter.track_provenance:
            operation.provenance_ = real.Scope.provenance()
        state.operations.append(operation)
        if len(state.operations) == 1:
            self._native.set_pending(True)

    # -- submission ---------------------------------------------------------------
    def flush(self, cause: str) -> None:
        """Submit everything that is pending; ``cause`` is counted."""
        state = self.state
        if not state.operations:
            return
        self.state = WindowState()
        self._native.set_pending(False)
        self.counters.flushes[cause] += 1
        key = (
            *state.key,
            -2,
            *[root.alive or root.escaped for root in state.roots],
        )
        self.submitter.submit(key, state)


def _describe(state: WindowState, view: View) -> int:
    """Number a view, and add to the key what the plan depends on in it."""
    slot = state.views[view] = len(state.views)
    root = view.root
    root_number = state.roots.setdefault(root, len(state.roots))
    shape_number = state.shapes.setdefault(view.shape, len(state.shapes))
    flags = (
        min(view.volume, 2)
        | view.inner_broadcast << 2
        | root.scalar_storage << 3
        | (root.constant is not None) << 4
        | view.affine << 5
    )
    state.key += (-1, root_number, shape_number, flags)
    return slot


window = LaunchWindow()
