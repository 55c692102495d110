# SPDX-License-Identifier: Apache-2.0
"""Check mode: every window runs fused and unfused, and the results are compared.

The original operations run in program order, and the program goes on with their
results. The fused run works on twins: copies, made before, of the arrays that the
window changes. So the comparison tests the whole plan: the order of the groups, what
they store, and their kernels.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import numpy as np

from legate_diffuse.check.elements import Array, box, read, same_bits
from legate_diffuse.check.functions import Functions
from legate_diffuse.check.tolerance import Tolerances
from legate_diffuse.check.twins import Twins, changed_roots, targets
from legate_diffuse.fusion.plan import Plan, PlannedLaunch
from legate_diffuse.kernel.dtypes import ALL
from legate_diffuse.kernel.text import print_kernel
from legate_diffuse.launch.queue import LaunchQueue, Step, chain
from legate_diffuse.launch.state import ClosedWindow
from legate_diffuse.launch.steps import OriginalStep
from legate_diffuse.launch.submission import Submitter
from legate_diffuse.libraries.operations import Operations
from legate_diffuse.messages import say
from legate_diffuse.observe.wording import Names, positions
from legate_diffuse.stores.root import Root

# The exit status of a program that was fused wrongly.
FAILED: Final = 1


class Checker:
    """Submits windows both ways. ``operations`` are those of all libraries."""

    def __init__(self, operations: Operations) -> None:
        self._functions = Functions(operations)

    def steps(
        self, submitter: Submitter, plan: Plan, window: ClosedWindow
    ) -> list[Step]:
        """Return what is to be done to submit a window, and to compare the results.

        A difference ends the program.
        """
        tasks = {position for launch in plan.launches for position in launch.tasks}
        if len(tasks) == plan.length and not any(one.fused for one in plan.launches):
            steps, _ = submitter.steps(
                plan, window.operations, window.views, window.shapes, may_wait=False
            )
            return steps
        run = _Run(submitter, plan, window, Tolerances(self._functions))
        originals = [_CheckedOriginal(run, one) for one in window.operations]
        return [_MakeTwins(run), *originals, _RunFused(run), _CompareResults(run)]


class _Run:
    """A window that runs both ways.

    ``comparable`` no longer holds once something has come between an original
    operation and what is to be learnt of it.
    """

    def __init__(
        self,
        submitter: Submitter,
        plan: Plan,
        window: ClosedWindow,
        tolerances: Tolerances,
    ) -> None:
        self.submitter = submitter
        self.plan = plan
        self.window = window
        self.names = Names(window)
        alive = zip(window.roots, window.alive, strict=True)
        living = {root for root, is_alive in alive if is_alive}
        self.compared = [root for root in changed_roots(window) if root in living]
        self.twins: Any = None
        self.tolerances = tolerances
        self.comparable = True


class _CheckStep(Step):
    """A step that reads and writes arrays as the program does not."""

    __slots__ = ("_run",)

    def __init__(self, run: _Run) -> None:
        super().__init__()
        self._run = run

    def run(self, queue: LaunchQueue, launch: int) -> None:
        queue.native.call(self._work)

    def _work(self) -> None:
        raise NotImplementedError

    def give_up(self, queue: LaunchQueue, error: Exception) -> None:
        self._run.comparable = False
        super().give_up(queue, error)


class _MakeTwins(_CheckStep):
    __slots__ = ()

    def _work(self) -> None:
        self._run.twins = Twins(self._run.window)


class _CheckedOriginal(OriginalStep):
    """An original operation, whose results' tolerances are learnt."""

    __slots__ = ("_learnt", "_run")

    def __init__(self, run: _Run, operation: Any) -> None:
        super().__init__(run.submitter, operation)
        self._run = run
        self._learnt = False

    def run(self, queue: LaunchQueue, launch: int) -> None:
        run, operation = self._run, self.operation
        submit = super().run

        def work() -> None:
            run.tolerances.run(operation, lambda: submit(queue, launch))
            run.twins.keep_results(operation)

        queue.native.call(work)
        self._learnt = True

    def finish(self, queue: LaunchQueue) -> None:
        if not self._learnt:
            self._run.comparable = False

    def give_up(self, queue: LaunchQueue, error: Exception) -> None:
        self._run.comparable = False
        super().give_up(queue, error)

    def count(self) -> None:
        """Count nothing: the fused run is counted."""


class _RunFused(_CheckStep):
    """Stands for the steps that run the plan over the twins."""

    __slots__ = ()

    def run(self, queue: LaunchQueue, launch: int) -> None:
        run = self._run
        window, twins = run.window, run.twins
        steps, _ = run.submitter.steps(
            run.plan,
            [twins.operation(operation) for operation in window.operations],
            [twins.view(view) for view in window.views],
            window.shapes,
            may_wait=False,
        )
        first = chain(steps, self.next)
        following = launch + 1
        if queue.head is self:
            queue.head = first
            queue.number = following


class _CompareResults(_CheckStep):
    __slots__ = ()

    def _work(self) -> None:
        run = self._run
        run.comparable &= not run.twins.broken
        if not run.comparable:
            return
        found = {
            root: difference
            for root in run.compared
            if (
                difference := _compare(
                    run.window, root, run.twins.root(root), run.tolerances
                )
            )
        }
        if found:
            _fail("\n".join(_report(run.plan, run.window, run.names, found)))

    def count(self) -> None:
        """Count what was compared."""
        if self._run.comparable:
            self._run.submitter.counters.launches_checked += sum(
                launch.fused and bool(launch.nests)
                for launch in self._run.plan.launches
            )


def _compare(
    window: ClosedWindow, root: Root, twin: Root, tolerances: Tolerances
) -> str:
    """Return how the twin differs from a root where the window wrote it, or ''."""
    if not root.volume:
        return ""
    if twin.undefined and twin.initial is None and not root.undefined:
        return "the fused run does not write it"
    original, fused = read(root), read(twin)
    allowed = tolerances.of(root)
    written = np.zeros(root.shape, bool)
    for view in targets(window.operations):
        if view.root is root:
            written[box(view) if view.affine else ...] = True
    right = same_bits(original, fused) | np.isinf(allowed) | ~written
    if root.dtype in ALL:
        with np.errstate(all="ignore"):
            right |= np.abs(_wide(fused) - _wide(original)) <= allowed
    wrong = np.argwhere(~right)
    if not len(wrong):
        return ""
    place = tuple(int(index) for index in wrong[0])
    where = f" at {list(place)}" if place else ""
    return (
        f"{len(wrong):,} of {root.volume:,} elements differ, first{where}: "
        f"fused {fused[place]}, original {original[place]}, "
        f"tolerance {allowed[place]:.3g}"
    )


def _wide(array: Array) -> Array:
    return array.astype("complex128" if array.dtype.kind == "c" else "float64")


def _report(
    plan: Plan, window: ClosedWindow, names: Names, found: dict[Root, str]
) -> Iterator[str]:
    """Yield what to tell the user: the first launch with a wrong result."""
    number, root = min(
        ((_last_launch(plan, window, root), root) for root in found),
        key=lambda pair: pair[0],
    )
    fused = [n for n, one in enumerate(plan.launches) if one.nests and n <= number]
    last = fused[-1] if fused else number
    launch = plan.launches[last] if plan.launches else PlannedLaunch(())
    yield "LEGATE_DIFFUSE_CHECK found a wrong result, please report it"
    yield f"  {names.root(root)} ({root.dtype}): {found[root]}"
    for other in found:
        if other is not root:
            yield f"  also {names.root(other)} ({other.dtype}): {found[other]}"
    if launch.tasks:
        yield f"  The fused task runs {positions(launch.tasks)} of the window:"
    else:
        yield "  No operation of the window was run."
    for position in launch.tasks:
        operation = window.operations[position]
        yield (
            f"    {position + 1:3}  {operation.provenance_}  "
            f"{names.operation(operation)}"
        )
    kernels = list(_kernels(launch, window, root))
    yield "  Kernels that write the array:" if kernels else "  No kernel writes it."
    for kernel in kernels:
        yield from (f"    {line}" for line in kernel.splitlines())


def _last_launch(plan: Plan, window: ClosedWindow, root: Root) -> int:
    """Return the number of the last launch that changes a root.

    The first one, if none does: the plan took what changes it for dead.
    """
    numbers = (
        number
        for number, launch in enumerate(plan.launches)
        for view in targets([window.operations[n] for n in launch.tasks])
        if view.root is root
    )
    return max(numbers, default=0)


def _kernels(launch: PlannedLaunch, window: ClosedWindow, root: Root) -> Iterator[str]:
    views = window.views
    for nest in launch.nests:
        for access in nest.nest.accesses:
            if access.changes and views[access.view.recorded].root is root:
                yield print_kernel(nest.code)
                break


def _fail(message: str) -> NoReturn:
    """End the process: exceptions may be swallowed where a flush comes from."""
    sys.stdout.flush()
    say(message)
    sys.stderr.flush()
    os._exit(FAILED)
