# SPDX-License-Identifier: Apache-2.0
"""Submits a window's operations: fused where a plan says so, else as they were.

Whatever fails on the way, no operation is lost: the original tasks run, in
order, and the pattern is not tried again.
"""

from __future__ import annotations

from typing import Any, Final

from legate_diffuse.fusion.lowering import ConstantSource
from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.storage import Root
from legate_diffuse.interpose.view import View, over
from legate_diffuse.launch.kernels import KernelTable
from legate_diffuse.launch.plan import Plan, PlannedGroup, make_plan, unfused_plan
from legate_diffuse.launch.translate import translate
from legate_diffuse.observe.counters import Counters
from legate_diffuse.observe.messages import say

# Plans that are remembered at most; the oldest is forgotten first.
MAX_PLANS: Final = 4096
_SCALAR_SLOT: Final = 16  # bytes; see the kernel calling convention


class Submitter:
    """Plans windows, remembers the plans, and carries them out."""

    def __init__(self, counters: Counters) -> None:
        self.native: Any = None
        self.track_provenance = False
        self._counters = counters
        self._kernels = KernelTable(counters)
        self._plans: dict[tuple[int, ...], Plan] = {}
        self._warned = False

    def start(self, native: Any) -> None:
        """Use the native part; Legate's runtime must be up."""
        self.native = native
        self._kernels.connect(native, real.runtime.node_count)
        self.track_provenance = bool(real.runtime.config().provenance)

    def submit(self, key: tuple[int, ...], state: Any) -> None:
        """Submit the operations of a ``WindowState`` whose key is ``key``.

        Raises:
            Exception: what Legate raises for an original task, after all
                operations were submitted.
        """
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

    def _plan(self, key: tuple[int, ...], state: Any) -> Plan:
        plan = self._plans.get(key)
        if plan is not None:
            self._counters.plan_hits += 1
            return plan
        try:
            plan = make_plan(translate(state))
            self._counters.plans_made += 1
        except Exception as error:
            self._failed("analysis", error)
            plan = unfused_plan(len(state.operations))
        except BaseException:  # an interrupt
            self._replay(state.operations)
            raise
        if len(self._plans) >= MAX_PLANS:
            del self._plans[next(iter(self._plans))]
        self._plans[key] = plan
        return plan

    def _run(
        self, group: PlannedGroup, operations: list[Any], views: list[View]
    ) -> None:
        if not group.vanishes and not self._has_kernel(group, operations, views):
            self._replay(operations)
            return
        self._replay([operations[position] for position in group.hoisted])
        if not group.vanishes and not self._launch(group, operations, views):
            self._replay_rest(group, operations)
            return
        self._count_temporaries(group, views)

    def _has_kernel(
        self, group: PlannedGroup, operations: list[Any], views: list[View]
    ) -> bool:
        """Find or compile a group's kernel; False if the original tasks must run."""
        lowered = group.lowered
        if lowered is None or group.kernel is not None:
            return lowered is not None
        work = views[lowered.arguments[0]].volume * len(operations)
        try:
            group.kernel = self._kernels.find(lowered.kernel, work)
        except Exception as error:
            self._failed("compilation", error)
            group.lowered = None
        except BaseException:  # an interrupt
            self._replay(operations)
            raise
        return group.kernel is not None

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
                [over(views[view], shape).handle for view in lowered.arguments]
            )
            provenance = _provenance(operations) if self.track_provenance else None
            called = True
            self.native.submit(
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
        self._counters.groups += 1
        self._counters.tasks_submitted += 1
        return True

    def _replay_rest(self, group: PlannedGroup, operations: list[Any]) -> None:
        hoisted = set(group.hoisted)
        self._replay([o for n, o in enumerate(operations) if n not in hoisted])

    def _replay(self, operations: list[Any]) -> None:
        """Run operations as they were submitted; all of them, even if one fails."""
        failure: BaseException | None = None
        for operation in operations:
            self._counters.tasks_submitted += 1
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
        return bytes(self.native.scalar_bytes(scalar.raw_handle)).ljust(
            _SCALAR_SLOT, b"\0"
        )

    def _constant(self, root: Root) -> bytes:
        if root.constant_bytes is None:
            root.constant_bytes = self._scalar(root.constant)
        return root.constant_bytes

    def _count_temporaries(self, group: PlannedGroup, views: list[View]) -> None:
        counters = self._counters
        for number in group.temporaries:
            root = views[number].root
            if root.real is None:
                counters.temporaries_removed += 1
                counters.temporaries_removed_bytes += root.nbytes

    def _failed(self, stage: str, error: Exception) -> None:
        """Tell the user once that original tasks run instead of fused ones."""
        self._counters.failures += 1
        if not self._warned:
            self._warned = True
            say(
                f"{stage} of a group of operations failed "
                f"({type(error).__name__}: {error}), they run unfused"
            )


def _provenance(operations: list[Any]) -> str:
    return "; ".join(dict.fromkeys(operation.provenance_ for operation in operations))
