# SPDX-License-Identifier: Apache-2.0
"""Submits a window's operations: fused where a plan says so, else as they were.

Whatever fails on the way, no operation is lost: the original tasks run, in
order, and the pattern is not tried again.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

from legate_diffuse import settings
from legate_diffuse.check.checker import Checker
from legate_diffuse.fusion.launches import Form
from legate_diffuse.fusion.lowering import ConstantSource, LoweredNest
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.plan import Plan, PlannedLaunch, make_plan, unfused_plan
from legate_diffuse.fusion.translate import translate
from legate_diffuse.ir.privilege import REDUCE, WRITE
from legate_diffuse.launch.kernels import WORK_OF_A_LAUNCH, KernelTable
from legate_diffuse.launch.program import write_program
from legate_diffuse.messages import say
from legate_diffuse.observe.counters import Counters
from legate_diffuse.observe.explain import Explanation, open_explanation
from legate_diffuse.observe.location import locate
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.legate import Legate
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View, over

# Plans that are remembered at most; the oldest is forgotten first.
MAX_PLANS: Final = 4096
_SCALAR_SLOT: Final = 16  # bytes; see the kernel calling convention


class Submitter:
    """Plans windows, remembers the plans, and carries them out."""

    def __init__(self, legate: Legate, meanings: Meanings, counters: Counters) -> None:
        self.native = native = legate.native
        self._legate = legate
        self._meanings = meanings
        self._counters = counters
        self._plans: dict[tuple[int, ...], Plan] = {}
        self._warned = False
        if (cache_bytes := settings.cache_bytes()) is not None:
            native.set_cache_bytes(cache_bytes)
        if (threads := settings.threads()) is not None:
            native.set_num_threads(threads)
        runtime = legate.runtime
        self._kernels = KernelTable(native, runtime.node_count, counters)
        # for a person who looks on; both are None in ordinary runs
        self.explanation: Explanation | None = open_explanation(
            runtime.node_id, meanings
        )
        self.checker: Checker | None = None
        if settings.flag("LEGATE_DIFFUSE_CHECK"):
            self.checker = Checker(self.carry_out, counters)
        self.track_provenance = (
            bool(runtime.config().provenance)
            or self.explanation is not None
            or self.checker is not None
        )

    def provenance(self) -> str:
        """Return where the operation that is being recorded comes from."""
        found: str = self._legate.Scope.provenance()
        if found or (self.explanation is None and self.checker is None):
            return found
        return locate()

    def submit(
        self, key: tuple[int, ...], state: Any, deferred: list[Any] | None
    ) -> None:
        """Submit the operations of a ``WindowState`` whose key is ``key``.

        Scalar operations that may wait are put into ``deferred``, if it is a list.

        Raises:
            Exception: what Legate raises for an original task, after all
                operations were submitted.
        """
        plan = self._plan(key, state)
        if self.explanation is not None:
            self.explanation.add(state, plan)
        if self.checker is not None:
            self.checker.submit(plan, state)
        else:
            self.carry_out(
                plan, state.operations, list(state.views), list(state.shapes), deferred
            )

    def carry_out(
        self,
        plan: Plan,
        operations: list[Any],
        views: list[View],
        shapes: list[Any],
        deferred: list[Any] | None,
    ) -> None:
        """Run the launches of a plan; what may wait goes to ``deferred``."""
        failure: BaseException | None = None
        for launch in plan.launches:
            try:
                self._run(launch, operations, views, shapes, deferred)
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
            plan = make_plan(translate(state, self._meanings), self._meanings)
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
        self,
        launch: PlannedLaunch,
        operations: list[Any],
        views: list[View],
        shapes: list[Any],
        deferred: list[Any] | None,
    ) -> None:
        may_wait = launch.deferrable if deferred is not None else ()
        if launch.form is Form.ORIGINAL:
            self._replay([operations[n] for n in launch.tasks if n not in may_wait])
        elif launch.nests and not self._has_kernels(launch, operations, shapes):
            self._replay([operations[n] for n in launch.tasks])
            return
        else:
            hoisted = [n for n in launch.hoisted if n not in may_wait]
            self._replay([operations[n] for n in hoisted])
            rest = [operations[n] for n in launch.tasks if n not in hoisted]
            if launch.nests and not self._launch(
                launch, operations, views, shapes, rest
            ):
                self._replay(rest)
                return
            self._count_temporaries(launch, views)
        if deferred is not None:
            deferred += [operations[n] for n in may_wait]

    def _has_kernels(
        self, launch: PlannedLaunch, operations: list[Any], shapes: list[Any]
    ) -> bool:
        """Find or compile a launch's kernels; False if the original tasks must run."""
        missing = [nest for nest in launch.nests if nest.kernel is None]
        if not missing:
            return True
        try:
            work = WORK_OF_A_LAUNCH * len(launch.tasks) + sum(
                prod(shapes[nest.lowered.shape]) * len(nest.lowered.kernel.body)
                for nest in launch.nests
            )
            for nest in missing:
                nest.kernel = self._kernels.find(nest.lowered.kernel, work)
        except Exception as error:
            self._give_up(launch, "compilation", error)
            return False
        except BaseException:  # an interrupt
            self._replay([operations[n] for n in launch.tasks])
            raise
        return all(nest.kernel is not None for nest in missing)

    def _launch(
        self,
        launch: PlannedLaunch,
        operations: list[Any],
        views: list[View],
        shapes: list[Any],
        rest: list[Any],
    ) -> bool:
        """Submit one fused task; False if the original tasks must run instead.

        ``rest`` are the original tasks that have not run yet.
        """
        called = False
        try:
            provenance = None
            if self.track_provenance:
                provenance = _provenance([operations[n] for n in launch.tasks])

            def scalars(lowered: LoweredNest) -> bytes:
                return self._scalars(lowered, operations, views)

            if launch.form is Form.PROGRAM:
                program = write_program(launch, views, shapes, scalars)
                roots = [views[n].root for n in launch.arguments]
                handles = tuple([root.handle for root in roots])
                called = True
                self.native.submit_program(
                    handles, launch.privileges, program, provenance
                )
                changed = zip(roots, launch.privileges, strict=True)
                _share_future([r for r, privilege in changed if privilege & WRITE])
            else:
                (nest,) = launch.nests
                lowered = nest.lowered
                shape = shapes[lowered.shape]
                stores = tuple(
                    [over(views[n], shape).handle for n in lowered.arguments]
                )
                block = scalars(lowered)
                privileges = launch.privileges or self._privileges(lowered)
                launch.privileges = privileges
                reduced = [
                    views[n].root
                    for n, privilege in zip(lowered.arguments, privileges, strict=True)
                    if privilege >= REDUCE
                ]
                for root in reduced:
                    root.settle()
                called = True
                self.native.submit(nest.kernel, stores, privileges, block, provenance)
                _share_future(reduced)
        except Exception as error:
            self._give_up(launch, "submission", error)
            return False
        except BaseException:  # an interrupt, delivered before or after the call
            if not called:
                self._replay(rest)
            raise
        self._counters.groups += 1
        self._counters.tasks_submitted += 1
        return True

    def _scalars(
        self, lowered: LoweredNest, operations: list[Any], views: list[View]
    ) -> bytes:
        """Return the scalar block of a kernel."""
        return b"".join(
            [
                self._constant(views[source.view].root)
                if isinstance(source, ConstantSource)
                else self._scalar(operations[source.task].scalars[source.position][0])
                for source in lowered.scalars
            ]
        )

    def _privileges(self, lowered: LoweredNest) -> bytes:
        """Return the privileges, with the operators of reductions."""
        if REDUCE not in lowered.privileges:
            return lowered.privileges
        operators = self._legate.ReductionOpKind
        return bytes(
            REDUCE + int(getattr(operators, _REDUCTIONS[argument.reduces]))
            if argument.reduces
            else privilege
            for privilege, argument in zip(
                lowered.privileges, lowered.kernel.arguments, strict=True
            )
        )

    def _replay(self, operations: list[Any]) -> None:
        """Run operations as they were submitted; all of them, even if one fails."""
        failure: BaseException | None = None
        for operation in operations:
            self._counters.tasks_submitted += 1
            self._counters.fills_submitted += type(operation) is Fill
            try:
                if operation.provenance_:
                    with self._legate.Scope(provenance=operation.provenance_):
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

    def _count_temporaries(self, launch: PlannedLaunch, views: list[View]) -> None:
        counters = self._counters
        for number in launch.temporaries:
            root = views[number].root
            if root.real is None:
                counters.temporaries_removed += 1
                counters.temporaries_removed_bytes += root.nbytes

    def _give_up(self, launch: PlannedLaunch, stage: str, error: Exception) -> None:
        """Let the original tasks of a launch run from now on."""
        launch.form = Form.ORIGINAL
        launch.deferrable = ()
        self._failed(stage, error)

    def _failed(self, stage: str, error: Exception) -> None:
        """Tell the user once that original tasks run instead of fused ones."""
        self._counters.failures += 1
        if not self._warned:
            self._warned = True
            say(
                f"{stage} of a group of operations failed "
                f"({type(error).__name__}: {error}), so they run unfused"
            )


def _provenance(operations: list[Any]) -> str:
    found = dict.fromkeys(operation.provenance_ for operation in operations)
    return "; ".join(filter(None, found))


def _share_future(changed: list[Root]) -> None:
    """Note that the single elements that a task has changed lie in one future."""
    scalars = [root for root in changed if root.scalar_storage]
    for root in scalars:
        root.shares_future = len(scalars) > 1


_REDUCTIONS: Final = {
    "add": "ADD",
    "mul": "MUL",
    "min": "MIN",
    "max": "MAX",
    # of truth values
    "or": "ADD",
    "and": "MUL",
}
