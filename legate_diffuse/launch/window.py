# SPDX-License-Identifier: Apache-2.0
"""The window of operations that wait to be fused (Diffuse, section 4.1).

Operations are recorded as they are submitted. While they are recorded, the
window's key grows: what the plan depends on, with views, roots and shapes
renumbered in the order of first appearance, and never an extent or a scalar's
value. A window whose key was seen before is submitted without analysis.
"""

from __future__ import annotations

from typing import Any, Final

from legate_diffuse.fusion.lowering import ConstantSource
from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.storage import Root, Shape, View
from legate_diffuse.launch.fill import Fill
from legate_diffuse.launch.plan import Plan, PlannedGroup, make_plan, unfused_plan
from legate_diffuse.launch.recognize import Recognizer
from legate_diffuse.launch.translate import translate
from legate_diffuse.observe.counters import Counters
from legate_diffuse.startup import say

# Operations that wait at most. Twice the longest program body that is known
# (Black-Scholes, 67), and few enough to keep kernels small.
CAPACITY: Final = 128
# Plans that are remembered at most; the oldest is forgotten first.
MAX_PLANS: Final = 4096
_SCALAR_SLOT: Final = 16  # bytes; see the kernel calling convention


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
        self._plans: dict[tuple[int, ...], Plan] = {}
        self._native: Any = None
        self._compiler: Any = None
        self._kernels: dict[str, int] = {}
        self._warned = False
        self._track_provenance = False

    def start(self) -> None:
        """Connect to the native part; Legate's runtime must be up."""
        from legate_diffuse import _native

        self._native = _native
        _native.start()
        _native.set_flush_callback(lambda: self.flush("native call"))
        self._track_provenance = bool(real.runtime.config().provenance)

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
        self.flush("task that cannot be fused")
        self.counters.tasks_seen += 1
        self.counters.tasks_submitted += 1
        operation.run()

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
                fill.views = [target, _over(value, target.shape)]
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
        if self._track_provenance:
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
        views = list(state.views)
        failure: BaseException | None = None
        for group in self._plan(key, state).groups:
            try:
                self._run(group, state.operations[group.start : group.stop], views)
            except BaseException as error:
                # one that Legate raises for an original task, or an interrupt
                failure = failure or error
        if failure is not None:
            raise failure

    def _plan(self, key: tuple[int, ...], state: WindowState) -> Plan:
        plan = self._plans.get(key)
        if plan is not None:
            self.counters.plan_hits += 1
            return plan
        try:
            plan = make_plan(translate(state), self._compile)
            self.counters.plans_made += 1
        except Exception as error:
            self._failed("analysis or compilation", error)
            plan = unfused_plan(len(state.operations))
        except BaseException:  # an interrupt
            self._replay(state.operations)
            raise
        if len(self._plans) >= MAX_PLANS:
            del self._plans[next(iter(self._plans))]
        self._plans[key] = plan
        return plan

    def _compile(self, kernel: Any) -> int:
        if self._compiler is None:
            from legate_diffuse.codegen import Compiler

            self._compiler = Compiler.from_environment()
        compiled = self._compiler.compile(kernel)
        number = self._kernels.get(compiled.name)
        if number is None:
            number = self._native.register_kernel(compiled.address)
            self._kernels[compiled.name] = number
        self.counters.kernels_compiled = self._compiler.kernels_compiled
        self.counters.kernel_disk_hits = self._compiler.disk_hits
        self.counters.compile_seconds = self._compiler.compile_seconds
        return number

    def _run(
        self, group: PlannedGroup, operations: list[Any], views: list[View]
    ) -> None:
        if group.lowered is None and not group.vanishes:
            self._replay(operations)
            return
        self._replay([operations[position] for position in group.hoisted])
        if group.lowered is not None and not self._launch(group, operations, views):
            self._replay_rest(group, operations)
            return
        self._count_temporaries(group, views)

    def _replay_rest(self, group: PlannedGroup, operations: list[Any]) -> None:
        hoisted = set(group.hoisted)
        self._replay([o for n, o in enumerate(operations) if n not in hoisted])

    def _launch(
        self, group: PlannedGroup, operations: list[Any], views: list[View]
    ) -> bool:
        """Submit one fused task; False if the original tasks must run instead."""
        lowered = group.lowered
        assert lowered is not None
        called = False
        try:
            scalars = b"".join(
                [
                    self._constant(views[source.view].root)
                    if isinstance(source, ConstantSource)
                    else self._scalar(
                        operations[source.task].scalars[source.position][0]
                    )
                    for source in lowered.scalars
                ]
            )
            shape = views[lowered.arguments[0]].shape
            stores = tuple(
                [_over(views[view], shape).handle for view in lowered.arguments]
            )
            provenance = _provenance(operations) if self._track_provenance else None
            called = True
            self._native.submit(
                group.kernel, stores, lowered.privileges, scalars, provenance
            )
        except Exception as error:
            self._failed("submission", error)
            group.lowered = None
            return False
        except BaseException:  # an interrupt, delivered before or after the call
            if not called:
                self._replay_rest(group, operations)
            raise
        self.counters.groups += 1
        self.counters.tasks_submitted += 1
        return True

    def _replay(self, operations: list[Any]) -> None:
        """Run operations as they were submitted; all of them, even if one fails."""
        failure: BaseException | None = None
        for operation in operations:
            self.counters.tasks_submitted += 1
            try:
                if operation.provenance_:
                    with real.Scope(provenance=operation.provenance_):
                        operation.run()
                else:
                    operation.run()
            except BaseException as error:
                failure = failure or error
        if failure is not None:
            raise failure

    def _scalar(self, scalar: Any) -> bytes:
        return bytes(self._native.scalar_bytes(scalar.raw_handle)).ljust(
            _SCALAR_SLOT, b"\0"
        )

    def _constant(self, root: Root) -> bytes:
        if root.constant_bytes is None:
            root.constant_bytes = self._scalar(root.constant)
        return root.constant_bytes

    def _count_temporaries(self, group: PlannedGroup, views: list[View]) -> None:
        counters = self.counters
        for number in group.temporaries:
            root = views[number].root
            if root.real is None:
                counters.temporaries_removed += 1
                counters.temporaries_removed_bytes += root.nbytes

    def _failed(self, stage: str, error: Exception) -> None:
        """Tell the user once that original tasks run instead of fused ones."""
        self.counters.failures += 1
        if not self._warned:
            self._warned = True
            say(
                f"{stage} of a group of operations failed "
                f"({type(error).__name__}: {error}), they run unfused"
            )


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


def _over(view: View, shape: Shape) -> View:
    """Return a view of the launch domain's shape; only one-element stores differ."""
    if view.shape == shape:
        return view
    while view.shape:
        view = view.project(0, 0)
    for dim, extent in enumerate(shape):
        view = view.promote(dim, extent)
    return view


def _provenance(operations: list[Any]) -> str:
    return "; ".join(dict.fromkeys(operation.provenance_ for operation in operations))


window = LaunchWindow()
