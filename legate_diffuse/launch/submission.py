# SPDX-License-Identifier: Apache-2.0
"""Submits a window's operations: fused where a plan says so, else as they were.

Whatever fails on the way, no operation is lost: the original tasks run, in order, and
the pattern is not tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Protocol

from legate_diffuse import settings
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.pipeline import verify_pass
from legate_diffuse.fusion.plan import Plan, PlannedLaunch, unfused_plan
from legate_diffuse.launch.at_once import AtOnce
from legate_diffuse.launch.choice import ThreadsOrPoints
from legate_diffuse.launch.copy_task import CopyTask
from legate_diffuse.launch.failure import ElsewhereError, FailureError, attempt
from legate_diffuse.launch.kernels import WORK_OF_A_LAUNCH, KernelTable
from legate_diffuse.launch.logs import Logs, kernels_text
from legate_diffuse.launch.planner import Planner
from legate_diffuse.launch.queue import Once, Step
from legate_diffuse.launch.ranks import Agreement
from legate_diffuse.launch.release import LetGo, knows_last_uses
from legate_diffuse.launch.repeat import Repeats
from legate_diffuse.launch.small import SmallArrays
from legate_diffuse.launch.spares import Spares
from legate_diffuse.launch.state import (
    ALL_SINGLE,
    ClosedWindow,
    WindowState,
    close,
    record,
)
from legate_diffuse.launch.steps import FusedStep, OriginalStep, Waiting
from legate_diffuse.launch.telling import Tell, open_explanation, print_pass
from legate_diffuse.messages import note, say, say_once
from legate_diffuse.observe.counters import Counters
from legate_diffuse.observe.decisions import decision
from legate_diffuse.observe.ledger import Ledger
from legate_diffuse.observe.location import locate_operation
from legate_diffuse.observe.naming import task_name
from legate_diffuse.stores.legate import Legate
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View

# So many names of operations are told apart, of those that run at once.
_NAMES: Final = 1 << 16


class Checker(Protocol):
    """Runs windows in two ways, and compares the results."""

    def steps(
        self, submitter: Submitter, plan: Plan, window: ClosedWindow
    ) -> list[Step]:
        """Return what is to be done to submit a window, and to compare the results."""


class Submitter:
    """Plans windows, remembers the plans, and says what is to be done."""

    def __init__(
        self,
        legate: Legate,
        meanings: Meanings,
        counters: Counters,
        checker: Checker | None,
        agreement: Agreement | None,
        release: Callable[[int], None],
    ) -> None:
        self.legate = legate
        self.native = native = legate.native
        self.counters, self._agreement = counters, agreement
        self.logs = Logs(native)
        # how many operations ran that were not recorded
        self.unseen = 0
        self._windows = 0
        # the numbers of fused tasks, by name
        self._named: dict[str, int] = {}
        self._spares, self._warned = Spares(), False
        self._prints_decisions = settings.DECISIONS in settings.dump()
        _set_limits(native)
        self._kernels = KernelTable(native, agreement is not None, counters)
        self.planner = Planner(
            legate,
            meanings,
            counters,
            self._kernels,
            self.logs,
            self.note_failure,
            agreement is not None,
        )
        if checker is not None:
            self.planner.watch = verify_pass
        if settings.PASS in settings.dump():
            self.planner.watch = print_pass
        self.copies = CopyTask(legate, meanings)
        self.choice = ThreadsOrPoints(native, _who_chooses(agreement, checker))
        # for a person who looks on; None in ordinary runs
        self.explanation = open_explanation(
            legate, meanings, counters, self._named, self.choice.facts
        )
        self.checker = checker
        self.small = SmallArrays(
            legate,
            _most_bytes(legate, checker),
            lambda: self.choice.single_below() != ALL_SINGLE,
            release,
        )
        self._locates = self.explanation is not None or checker is not None
        # whoever looks on wants to see every window
        looks_on = self._locates or self.logs.are_on or self._prints_decisions
        self.repeats: Repeats | None = None
        if not looks_on and agreement is None and self.planner.watch is None:
            self.repeats = Repeats(native, self.small, self.choice, counters)
        self.at_once = AtOnce(legate, self.small, self.planner, self.has_kernels)
        if self.ledger is not None:
            self.ledger.clock(self.planner, "plan", "planning")
            self.ledger.clock(self.at_once, "plan", "submission")
        self._places: Any = native.Places() if self._locates else None
        provenance = legate.runtime.config().provenance
        self.track_provenance = self._locates or bool(provenance)

    @property
    def ledger(self) -> Ledger | None:
        """The clocks of the program's thread, if somebody wants times."""
        return None if self.explanation is None else self.explanation.ledger

    def provenance(self, kind: int = -1) -> str:
        """Return where the operation of a kind that is being recorded comes from.

        The place that the program or a library has named comes first.
        """
        place: str = self.legate.Scope.provenance()
        if place or not self._locates:
            return place
        return self._places.find(kind) or locate_operation(self._places, kind)

    def place_of_run(self, name: str) -> str:
        """Return where an operation of a name comes from that has run at once."""
        # kinds of operations that wait are not negative, nor is -1 one of these
        return self.provenance(-2 - hash(name) % _NAMES)

    def single_below(self, *, begins: bool = False) -> int:
        """Return from how many elements on arrays are divided.

        If a window ``begins``, that is chosen for it first.
        """
        if begins:
            self.choice.choose(self._windows)
        return self.choice.single_below()

    def note_task(self, operation: Any) -> None:
        """Take note of an operation that runs as it was submitted."""
        self.small.note_task()
        if self.choice.is_open:
            self.choice.note_task(operation.uses())

    def note_move(self, root: Root) -> None:
        """Take note of a root that has moved to its spare store."""
        self._spares.note(root, self._windows)

    def note_use(self, plan: Plan) -> None:
        """Take note of a window that has this plan."""
        self._windows += 1
        self._spares.let_go(self._windows)
        plan.last_use = self._windows

    def prepare(
        self, window: ClosedWindow, may_wait: bool, wanted: Root | None = None
    ) -> tuple[list[Step], Waiting]:
        """Return what is to be done to submit a window, and what goes on waiting.

        Until then nothing is done that does harm if it is done twice, or in vain.
        ``wanted`` is what the program waits for, if for anything.
        """
        plan = self.logs.planned(self._windows + 1, window, lambda: self._plan(window))
        self.note_use(plan)
        if self.checker is not None:
            steps, waiting = self.checker.steps(self, plan, window), Waiting()
        else:
            ran_here = None
            if self.repeats is not None and self.repeats.may_note(plan):
                ran_here = partial(self.repeats.note, window, plan)
            each = window.operations, window.views, window.shapes
            steps, waiting = self.steps(plan, *each, may_wait, wanted, ran_here)
        if plan.never_made:
            roots = [window.views[number].root for number in plan.never_made]
            steps.append(Once(partial(self.counters.count_removed, *roots)))
        if self.explanation is not None:
            steps.append(Tell(self.explanation, plan, window))
        if self._prints_decisions:
            steps.append(Once(partial(note, decision(self._windows, window, plan))))
        return steps, waiting

    def steps(
        self,
        plan: Plan,
        operations: list[Any],
        views: list[View],
        shapes: list[Any],
        may_wait: bool,
        wanted: Root | None = None,
        ran_here: Callable[[bytes], None] | None = None,
    ) -> tuple[list[Step], Waiting]:
        """Return what is to be done to carry out a plan over concrete views."""
        steps: list[Step] = []
        waiting = Waiting()
        # explanations and checks need all of them later
        if lets_go := not self._locates and knows_last_uses(plan, views):
            # nested work may submit the window while its caller prepares it still
            operations, views = [*operations], [*views]
        for launch in plan.launches:
            deferred = launch.deferrable if may_wait else ()
            fused = launch.fused
            if fused and not self.has_kernels(launch, shapes):
                fused, deferred = False, ()
                self.logs.late(launch, operations)
                if self.ledger is not None:
                    self.ledger.note_late(operations[n] for n in launch.tasks)
            originals: Sequence[int] = launch.hoisted if fused else launch.tasks
            late: Sequence[int] = launch.late if fused else ()
            if deferred:
                originals = [n for n in originals if n not in deferred]
                late = [n for n in late if n not in deferred]
                waiting.operations += [operations[n] for n in deferred]
            for n in originals:
                steps += self._steps_of_original(operations[n])
            if fused:
                steps.append(
                    FusedStep(
                        self,
                        launch,
                        operations,
                        views,
                        shapes,
                        originals,
                        len(late),
                        waiting,
                        wanted,
                        ran_here,
                    )
                )
            for n in late:
                steps += self._steps_of_original(operations[n])
            if lets_go:
                steps.append(LetGo(launch, operations, views))
        return steps, waiting

    def steps_of_part(
        self, operations: Sequence[Any], kept: frozenset[Root]
    ) -> list[Step]:
        """Return what is to be done to submit operations by themselves.

        ``kept`` are the roots that are used later.
        """
        part = record(operations, self.single_below(), 0)
        part.kept = kept
        window = close(part, "")
        steps, _ = self.steps(
            self._plan(window), window.operations, window.views, window.shapes, False
        )
        return steps

    def _steps_of_original(self, operation: Any) -> list[Step]:
        """Return what is to be done to run an operation by itself."""
        if operation.kind.traps and all(
            view.root.scalar_storage for view in operation.views
        ):
            alone = WindowState()
            alone.single_below = 2
            alone.kept = frozenset(view.root for view in operation.views)
            alone.add(operation)
            window = close(alone, "")
            (launch,) = self._plan(window).launches
            if launch.fused and self.has_kernels(launch, window.shapes):
                views, shapes = window.views, window.shapes
                step = FusedStep(
                    self, launch, [operation], views, shapes, (), 0, Waiting()
                )
                return [step]
        return [OriginalStep(self, operation)]

    def _plan(self, window: ClosedWindow) -> Plan:
        is_broken = self._agreement is not None and self._agreement.broken
        if is_broken or not self.native.scope_runs_kernels():
            return unfused_plan(len(window.operations))
        return self.planner.plan(window)

    def has_kernels(
        self, launch: PlannedLaunch, shapes: list[Any], at_once: bool = False
    ) -> bool:
        """Find or compile a launch's kernels; False if the original tasks must run.

        What runs ``at_once`` does so in the program's thread.
        """
        missing = [nest for nest in launch.nests if nest.kernel is None]
        if not missing:
            return True
        work = WORK_OF_A_LAUNCH * len(launch.tasks) + launch.work(shapes)
        kernels = [nest.nest.kernel for nest in missing]

        def find() -> None:
            if at_once:
                numbers = self._kernels.find_at_once(kernels)
            else:
                numbers = self._kernels.find(kernels, work)
            for nest, number in zip(missing, numbers, strict=True):
                nest.kernel = number
            if None not in numbers:
                for run in launch.runs:
                    run.kernel = self._kernels.find_rows(run.code)

        failed = False
        try:
            attempt(find)
        except FailureError as failure:
            failed = True
            self.give_up(launch, "compilation", failure)
        if self._agreement is not None and not self._kernels.are_everywhere(kernels):
            if self._agreement.on_kernels(not failed):
                self._kernels.note_everywhere(kernels)
            elif not failed:
                failed = True
                self.give_up(launch, "compilation", ElsewhereError())
        return not failed and all(nest.kernel is not None for nest in missing)

    def name(self, launch: PlannedLaunch, operations: Sequence[Any]) -> int:
        """Return the number of a task that is named as the operations of a launch.

        A name that is given twice, as something came between, does no harm.
        """
        name = task_name([operations[n] for n in launch.tasks])
        number = self._named.get(name)
        if number is None:
            number = int(self.native.name_task(name))
            # 0 if there are too many names
            if number:
                self._named[name] = number
        return number

    def give_up(self, launch: PlannedLaunch, stage: str, failure: Exception) -> None:
        """Let the original tasks of a launch run from now on."""
        launch.fused = False
        launch.deferrable = ()
        self.native.forget_windows()
        self.note_failure(stage, failure, lambda: kernels_text(launch))

    def note_failure(
        self, stage: str, failure: Exception, describe: Callable[[], str]
    ) -> None:
        """Tell the user once that original tasks run instead of fused ones.

        ``describe`` returns the text of what failed, for the log.
        """
        self.counters.failures += 1
        error = failure.__cause__ if isinstance(failure, FailureError) else failure
        elsewhere = isinstance(error, ElsewhereError)
        reason = error if elsewhere else f"{type(error).__name__}: {error}"
        self.logs.failed(stage, reason, describe)
        if not self._warned:
            self._warned = True
            (say_once if elsewhere else say)(
                f"{stage} of a group of operations failed ({reason}), so they run "
                "unfused"
            )


def _who_chooses(agreement: Agreement | None, checker: Checker | None) -> str:
    """Return who says how fused tasks use several processors, '' if nobody does."""
    if agreement is not None:
        return "Legate divides arrays over several processes"
    if settings.threads() is not None:
        return "LEGATE_DIFFUSE_THREADS says"
    return "check mode runs all tasks in two ways" if checker is not None else ""


def _set_limits(native: Any) -> None:
    """Tell the native part of caches and threads what the user has set."""
    if (cache_bytes := settings.cache_bytes()) is not None:
        native.set_cache_bytes(cache_bytes)
    if (threads := settings.threads()) is not None:
        native.set_num_threads(threads)


def _most_bytes(legate: Legate, checker: Checker | None) -> int:
    """Return how many bytes an array in this process has at most."""
    # check mode compares what tasks compute, and the profiler shows tasks
    tasks_only = (
        checker is not None
        or legate.runtime.config().profile
        or not legate.native.kernels_run_in_process()
    )
    return 0 if tasks_only else settings.process_bytes()
