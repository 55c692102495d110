# SPDX-License-Identifier: Apache-2.0
"""Plans windows, and remembers the plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.pipeline import Watch, make_plan
from legate_diffuse.fusion.plan import Plan, PlannedLaunch, unfused_plan
from legate_diffuse.fusion.translate import translate
from legate_diffuse.ir import OperationKind
from legate_diffuse.ir.text import render
from legate_diffuse.kernel.ir import Kernel, RowProgram
from legate_diffuse.launch.failure import FailureError, attempt
from legate_diffuse.launch.kernels import KernelTable
from legate_diffuse.launch.logs import Logs
from legate_diffuse.launch.proving import Prover
from legate_diffuse.launch.state import ClosedWindow
from legate_diffuse.observe.counters import Counters
from legate_diffuse.stores.legate import Legate

# Plans that are remembered at most, and kernels that are loaded at most (they take
# 10 to 20 KB each). Those that were used longest ago are forgotten first.
MAX_PLANS: Final = 4096
MAX_KERNELS: Final = 4096
_KEPT_SHARE: Final = 0.75


class Planner:
    """Finds a window's plan by its key, or makes one and has it proven.

    Args:
        legate: the real Legate.
        meanings: of operations.
        counters: count plans.
        kernels: forgotten with the plans that use them.
        logs: of the proofs.
        failed: is called with a stage, what failed and what describes it.
        several_ranks: whether the program runs on several ranks.

    Attributes:
        watch: is called after each pass.
    """

    def __init__(
        self,
        legate: Legate,
        meanings: Meanings,
        counters: Counters,
        kernels: KernelTable,
        logs: Logs,
        failed: Callable[[str, Exception, Callable[[], str]], None],
        several_ranks: bool,
    ) -> None:
        self._legate = legate
        self.native = legate.native
        self._meanings = meanings
        self._counters = counters
        self._kernels = kernels
        self._failed = failed
        self._traps = _is_fill if several_ranks else lambda kind: False
        self._prover = Prover(meanings, counters, logs)
        self._plans: dict[tuple[int, ...], Plan] = {}
        self.watch: Watch | None = None

    def clear(self) -> None:
        """Forget all plans."""
        self._plans.clear()
        self.native.forget_windows()

    def plan_nests(self, window: ClosedWindow) -> PlannedLaunch | None:
        """Plan a window whose operations no task may run.

        Returns its only launch, None if that needs more than loop nests.
        """
        plan = self._make_plan(window, lambda kind: True)
        if plan is None or not self._accepts(window, plan):
            return None
        first = plan.launches[0]
        rest = plan.launches[1:] or first.hoisted or first.late or first.scratch
        return first if first.fused and not rest else None

    def _make_plan(
        self, window: ClosedWindow, traps: Callable[[OperationKind], bool]
    ) -> Plan | None:
        """Plan a window; ``traps`` as in ``make_plan``. None if it fails."""
        meanings, runs_rows = self._meanings, self._kernels.runs_rows()

        def make() -> Plan:
            ir = translate(window, meanings)
            return make_plan(ir, meanings, self.watch, runs_rows, traps)

        try:
            plan: Plan = attempt(lambda: self.native.call_uncollected(make))
        except FailureError as failure:
            self._failed("analysis", failure, lambda: self._text(window))
            return None
        self._counters.plans_made += 1
        return plan

    def plan(self, window: ClosedWindow) -> Plan:
        """Return the plan of a window, remembered or made now."""
        plan = self._found_or_made(window)
        if not self._accepts(window, plan):
            plan = unfused_plan(len(window.operations))
            plan.proven = True
            if window.spells_operations():
                self._plans[window.key] = plan
        return plan

    def _accepts(self, window: ClosedWindow, plan: Plan) -> bool:
        """Whether a plan does what its window says, as far as that must be known."""
        try:
            return self._prover.accepts(window, plan)
        except FailureError as failure:
            self._failed("proof", failure, lambda: self._text(window))
            return False

    def _found_or_made(self, window: ClosedWindow) -> Plan:
        key, length = window.key, len(window.operations)
        if (plan := self._plans.get(key)) is not None and plan.length == length:
            self._counters.plan_hits += 1
            return plan
        if len(self._plans) >= MAX_PLANS or len(self._kernels) >= MAX_KERNELS:
            self._forget()
        plan = self._make_plan(window, self._traps) or unfused_plan(length)
        # the key is not always that of the operations
        if window.spells_operations():
            self._plans[key] = plan
        return plan

    def _text(self, window: ClosedWindow) -> str:
        return render(translate(window, self._meanings))

    def _forget(self) -> None:
        """Forget the plans that were used longest ago, and the kernels only they use.

        A step or a window that is being prepared may still have such a plan: the
        native part refuses its kernels, and the original tasks run.
        """
        plans = sorted(self._plans.items(), key=lambda item: -item[1].last_use)
        wanted: set[Kernel | RowProgram] = set()
        self.native.forget_windows()
        for number, (key, plan) in enumerate(plans):
            nests = [nest for launch in plan.launches for nest in launch.coded]
            kernels = {nest.code for nest in nests}
            if (
                number < _KEPT_SHARE * MAX_PLANS
                and len(wanted | kernels) <= _KEPT_SHARE * MAX_KERNELS
            ):
                wanted |= kernels
                continue
            self._plans.pop(key, None)
            for nest in nests:
                nest.kernel = None
        # from now on nobody can submit a task with the others
        free = self._kernels.keep(wanted)
        # tasks that were submitted may not have run yet
        self.native.call(self._legate.runtime.issue_execution_fence, True)
        free()


def _is_fill(kind: OperationKind) -> bool:
    """Return whether an operation fills.

    Where ranks share an array, Legion's fills end or hang programs:
    ``EquivalenceSet::overwrite_set`` uses views that were freed (Legate 26.1).
    """
    return kind.task == "FILL"
