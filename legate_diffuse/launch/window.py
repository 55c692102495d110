# SPDX-License-Identifier: Apache-2.0
"""The window of operations that wait to be fused (Diffuse, section 4.1).

Operations are recorded as they are submitted. While they are recorded, the
window's key grows: what the plan depends on, with views, roots and shapes
renumbered in the order of first appearance, and never an extent or a scalar's
value. A window whose key was seen before is submitted without analysis.

Follows: Legate (src/cpp/legate/runtime/detail)
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.ir.privilege import READ
from legate_diffuse.launch.policy import CAPACITY, WindowPolicy
from legate_diffuse.launch.submission import Submitter
from legate_diffuse.libraries.registry import Recognizer
from legate_diffuse.observe.counters import Counters
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.legate import Legate
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import Shape, View, over

_ALL_SINGLE: Final = 1 << 62  # elements; no array has as many


class WindowState:
    """What has been recorded since the last flush.

    Attributes:
        operations: the operations, in program order.
        key: what their plan depends on, but for the roots' liveness.
        views: number of each view, in the order of first appearance.
        roots: number of each root.
        shapes: number of each shape.
        single_below: tasks over roots of fewer elements run on one processor.
        carried: operations at the start that an earlier window has let wait.
        kept: roots that operations after the window use.
        cause: what ended the window.
        parts: views of parts of roots that are changed.
        disjoint: for some of them, numbers of views with which they have nothing in
            common.
    """

    __slots__ = (
        "carried",
        "cause",
        "disjoint",
        "kept",
        "key",
        "operations",
        "parts",
        "roots",
        "shapes",
        "single_below",
        "views",
    )

    def __init__(self) -> None:
        self.operations: list[Any] = []
        self.key: list[int] = []
        self.views: dict[View, int] = {}
        self.roots: dict[Root, int] = {}
        self.shapes: dict[Shape, int] = {}
        self.single_below = 0
        self.cause = ""
        self.carried = 0
        self.kept: frozenset[Root] = frozenset()
        self.parts: list[View] = []
        self.disjoint: dict[View, list[int]] = {}

    def lives(self, root: Root) -> bool:
        """Whether a root can be read after the window."""
        return root.alive or root.escaped or root in self.kept


class LaunchWindow:
    """Records operations, and submits them fused.

    Legate's runtime and the native part must be up. ``recognizer`` tells which
    operation a task is, and ``meanings`` what operations compute.
    """

    def __init__(
        self, legate: Legate, recognizer: Recognizer, meanings: Meanings
    ) -> None:
        self.counters = Counters()
        self.recognizer = recognizer
        self.state = WindowState()
        self.submitter = Submitter(legate, meanings, self.counters)
        self._policy = WindowPolicy()
        # how many operations ran that were not recorded
        self.unseen = 0
        # the window ends before the next operation
        self._ended = False
        self._native = legate.native
        self._native.set_flush_callback(lambda: self.flush("native call"))

    # -- recording --------------------------------------------------------------
    def submit(self, operation: Any) -> None:
        """Hold an operation back, or run it after all that is pending."""
        if self._ended:
            # what the application has forgotten by now need not be stored
            self._end()
        if type(operation) is Fill:
            self.counters.fills_seen += 1
            recorded = self._record_fill(operation)
        else:
            recorded = operation.holdable and self._record_task(operation)
        if not recorded:
            self.submit_now(operation)
            return
        self.counters.tasks_seen += 1
        operations = self.state.operations
        self._ended = len(operations) >= CAPACITY or self._policy.ends_at(operations)

    def submit_now(self, operation: Any) -> None:
        """Run an operation after all that is pending."""
        self.let_pass("task that cannot be fused")
        operation.run()

    def let_pass(self, cause: str) -> None:
        """Submit what is pending, and count the operation that comes after it."""
        self.flush(cause)
        self.unseen += 1
        self.counters.tasks_seen += 1
        self.counters.tasks_submitted += 1

    def _record_task(self, task: Any) -> bool:
        kind = task.kind or self.recognizer.recognize_task(task)
        if kind is None:
            return False
        if not kind.covered:
            task.check_scalars()
        views = task.views
        shape = views[0].shape if kind.pointwise else None
        shared = False
        for privilege, view in zip(task.privileges, views, strict=True):
            root = view.root
            if not root.fusable:
                return False
            if root.shared and root.is_shared():
                if privilege != READ:
                    return False
                shared = True
            if shape is not None and view.shape != shape:
                if kind.operation.task != "FILL":
                    return False
                return self._record_fill(task, kind)
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
        for position in kind.changed:
            root = operation.views[position].root
            root.version += 1
            if root.constant is not None:
                # pending tasks still read the value that is about to change
                self.flush("write to a constant")
                root.constant = None
        operation.kind = kind
        if self.submitter.track_provenance:
            operation.provenance_ = self.submitter.provenance()
        self._append(operation)

    def _append(self, operation: Any) -> None:
        state = self.state
        if not state.operations:
            self._native.set_pending(True)
            state.single_below = self._single_below()
        views = state.views
        key = state.key
        key.append(operation.kind.id)
        for view in operation.views:
            slot = views.get(view)
            if slot is None:
                slot = _describe(state, view)
            key.append(slot)
        for position in operation.kind.changed:
            view = operation.views[position]
            if view.layout.extents != view.root.shape and view not in state.parts:
                _describe_part(state, view)
        state.operations.append(operation)

    def is_single(self, root: Root) -> bool:
        """Whether Legate would not partition a root, or threads share its tasks' loops.

        Source: ``PartitionManager::compute_launch_shape``
        (``src/cpp/legate/runtime/detail/partition_manager.cc``).
        """
        return root.volume < self._single_below()

    def _single_below(self) -> int:
        pieces, threshold = self._native.launch_policy()
        return _ALL_SINGLE if pieces == 1 else int(threshold)

    # -- submission ---------------------------------------------------------------
    def flush(self, cause: str) -> None:
        """Submit everything that is pending; ``cause`` is counted."""
        if self.state.operations:
            self._submit(cause, None)

    def flush_for(self, wanted: Root) -> None:
        """Submit what is pending, before a root is read.

        Scalar operations whose results only the application could read go on
        waiting, unless one of them is about to be read.
        """
        state = self.state
        if not state.operations:
            return
        deferred: list[Any] = []
        try:
            self._submit("read", deferred)
        finally:
            self._carry(deferred)
        if any(
            operation.views[position].root is wanted
            for operation in deferred
            for position in operation.kind.changed
        ):
            self.flush("read")

    def _end(self) -> None:
        """Submit a window that is full, up to a good place to cut it."""
        operations = self.state.operations
        count = len(operations)
        if count >= CAPACITY:
            count = self._policy.cut(operations)
        rest = deque(operations[count:])
        if rest:
            carried = self.state.carried
            self.state = WindowState()
            self.state.carried = carried
            for operation in operations[:count]:
                self._append(operation)
        while True:
            self.state.kept = frozenset(
                view.root for operation in rest for view in operation.views
            )
            self._submit_full_window(rest)
            while rest and not self._ended:
                self._append(rest.popleft())
                self._ended = self._policy.ends_at(self.state.operations)
            if not rest:
                return

    def _submit_full_window(self, rest: deque[Any]) -> None:
        """Submit the window; if that fails, what comes after it waits all the same."""
        deferred: list[Any] = []
        try:
            self._submit("full window", deferred)
        except BaseException:
            self._carry(deferred)
            for operation in rest:
                self._append(operation)
            raise
        self._carry(deferred)

    def _carry(self, deferred: list[Any]) -> None:
        """Start a window with operations that may go on waiting."""
        for operation in deferred:
            self._append(operation)
        self.state.carried = len(deferred)

    def _submit(self, cause: str, deferred: list[Any] | None) -> None:
        """Submit the window; what may wait goes to ``deferred`` if it is a list."""
        state = self.state
        self.state = WindowState()
        self._ended = False
        self._native.set_pending(False)
        self.counters.flushes[cause] += 1
        state.cause = cause
        alive = [state.lives(root) for root in state.roots]
        key = (*state.key, -2, state.carried, *alive)
        self.submitter.submit(key, state, deferred)


def _describe(state: WindowState, view: View) -> int:
    """Number a view, and add to the key what the plan depends on in it."""
    slot = state.views[view] = len(state.views)
    root, layout = view.root, view.layout
    root_number = state.roots.setdefault(root, len(state.roots))
    shape_number = state.shapes.setdefault(view.shape, len(state.shapes))
    flags = (
        min(layout.volume, 2)
        | layout.inner_broadcast << 2
        | root.scalar_storage << 3
        | (root.constant is not None) << 4
        | layout.affine << 5
        | (layout.extents == root.shape) << 6
        | (root.volume < state.single_below) << 7
        | root.is_undefined << 8
    )
    state.key += (-1, root_number, shape_number, flags)
    for part in state.parts:
        if part.root is root:
            _compare(state, part, view)
    return slot


def _describe_part(state: WindowState, part: View) -> None:
    """Add to the key which views a part of a root overlaps that is changed."""
    for view in state.views:
        if view.root is part.root and view is not part and view not in state.parts:
            _compare(state, part, view)
    state.parts.append(part)


def _compare(state: WindowState, part: View, view: View) -> None:
    if part.layout.is_disjoint_from(view.layout):
        state.disjoint.setdefault(part, []).append(state.views[view])
        state.key += (-3, state.views[part], state.views[view])
