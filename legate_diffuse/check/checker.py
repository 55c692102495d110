# SPDX-License-Identifier: Apache-2.0
"""Check mode: every window runs fused and unfused, and the results are compared.

The original operations run in program order, and the program goes on with their
results. The fused run works on twins: copies, made before, of the arrays that the
window changes. So the comparison tests the whole plan: the order of the groups, what
they store, and their kernels.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

import numpy as np

from legate_diffuse.check.elements import Array, box, read, same_bits, write
from legate_diffuse.check.tolerance import Tolerances
from legate_diffuse.fusion.launches import Form
from legate_diffuse.fusion.plan import Plan, PlannedLaunch
from legate_diffuse.ir.privilege import REDUCE, WRITE
from legate_diffuse.kernel.text import print_kernel
from legate_diffuse.messages import say
from legate_diffuse.observe.counters import Counters
from legate_diffuse.observe.wording import Names, positions
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.layout import whole
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View

# The exit status of a program that was fused wrongly.
FAILED: Final = 1


# Runs the launches of a plan over operations, views and shapes. What may wait goes
# into the last argument, if that is a list.
CarryOut = Callable[[Plan, list[Any], list[View], list[Any], list[Any] | None], None]


class Checker:
    """Submits windows both ways; ``carry_out`` is how launches run."""

    def __init__(self, carry_out: CarryOut, counters: Counters) -> None:
        self._carry_out = carry_out
        self._counters = counters

    def submit(self, plan: Plan, state: Any) -> None:
        """Submit the operations of a ``WindowState``, and compare the results.

        A difference ends the program.

        Raises:
            Exception: what Legate raises for an original task, after all
                operations were submitted.
        """
        if all(launch.form is Form.ORIGINAL for launch in plan.launches):
            self._carry_out(
                plan, state.operations, list(state.views), list(state.shapes), None
            )
            return
        names = Names(state)
        compared = [root for root in _changed(state) if state.lives(root)]
        twins = _Twins(state)
        tolerances = _run_originals(state.operations, twins)
        self._carry_out(
            plan,
            [twins.operation(operation) for operation in state.operations],
            [twins.view(view) for view in state.views],
            list(state.shapes),
            None,
        )
        found = {
            root: difference
            for root in compared
            if (difference := _compare(state, root, twins.root(root), tolerances))
        }
        self._counters.launches_checked += sum(
            launch.form is not Form.ORIGINAL and bool(launch.nests)
            for launch in plan.launches
        )
        if found:
            _fail("\n".join(_report(plan, state, names, found)))


class _Twins:
    """Copies of the arrays that a window changes, made when they are needed."""

    def __init__(self, state: Any) -> None:
        first = _first_accesses(state.operations)
        self._roots = {
            root: _twin(root, used=first[root] != WRITE) for root in _changed(state)
        }
        self._views: dict[View, View] = {}
        # by the identity of the operation
        self._results: dict[int, list[Array]] = {}

    def keep_results(self, operation: Any) -> None:
        """Let the fused run use what an original operation has computed.

        A task without inputs may have other results each time, as one that makes
        random numbers.
        """
        if _is_source(operation):
            results = [read(view.root) for view in _targets([operation])]
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
            roots = [self.root(view.root) for view in _targets([operation])]
            return _Results(operation, roots, results)
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

    def __init__(self, operation: Any, roots: list[Root], results: list[Array]) -> None:
        self.provenance_ = operation.provenance_
        self.kind = operation.kind
        self.scalars = operation.scalars
        self._results = list(zip(roots, results, strict=True))

    def run(self) -> None:
        """Write the results."""
        for root, result in self._results:
            write(root, result)


def _is_source(operation: Any) -> bool:
    """Whether fusion does not know an operation, which has no inputs."""
    kind = operation.kind.operation
    return kind.task.endswith("_TASK") and not kind.inputs


def _twin(root: Root, *, used: bool) -> Root:
    """Return a new root with the elements that a root has now.

    ``used`` says that the window's first access to the root does not write it. A
    future that nobody has written cannot be copied.
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
    if root.real is not None and root.volume:
        twin.real = legate.runtime.create_store(
            root.type, root.shape, root.scalar_storage
        )
        if not root.scalar_storage:
            # Legion refuses to copy elements that nobody has written
            write(twin, read(root))
        elif used:
            legate.runtime.issue_fill(twin.real, root.real)
    return twin


def _first_accesses(operations: list[Any]) -> dict[Root, int]:
    """Return what a window does first with each root; reading before writing."""
    first: dict[Root, int] = {}
    for operation in operations:
        accesses = zip(operation.privileges, operation.views, strict=True)
        for privilege, view in sorted(accesses, key=lambda pair: pair[0]):
            first.setdefault(view.root, privilege)
    return first


def _through(twin: Root, view: View) -> View:
    """Return a view of a twin, transformed like one of the original."""
    found = View(twin, whole(twin.shape))
    return found if view.layout is found.layout else View(twin, view.layout)


def _changed(state: Any) -> list[Root]:
    """Return the roots that a window changes."""
    return list(dict.fromkeys(view.root for view in _targets(state.operations)))


def _targets(operations: list[Any]) -> Iterator[View]:
    for operation in operations:
        for position in operation.kind.changed:
            yield operation.views[position]


def _run_originals(operations: list[Any], twins: _Twins) -> Tolerances:
    """Run operations as they were submitted; all of them, even if one fails."""
    tolerances = Tolerances()
    failure: BaseException | None = None
    for operation in operations:
        try:
            tolerances.run(operation, operation.run)
            twins.keep_results(operation)
        except BaseException as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return tolerances


def _compare(state: Any, root: Root, twin: Root, tolerances: Tolerances) -> str:
    """Return how the twin differs from a root where the window wrote it, or ''."""
    if not root.volume:
        return ""
    original, fused = read(root), read(twin)
    allowed = tolerances.of(root)
    written = np.zeros(root.shape, bool)
    for view in _targets(state.operations):
        if view.root is root:
            written[box(view) if view.affine else ...] = True
    with np.errstate(all="ignore"):
        near = np.abs(_wide(fused) - _wide(original)) <= allowed
    right = same_bits(original, fused) | near | np.isinf(allowed) | ~written
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
    plan: Plan, state: Any, names: Names, found: dict[Root, str]
) -> Iterator[str]:
    """Yield what to tell the user: the first launch with a wrong result."""
    number, root = min(
        ((_last_launch(plan, state, root), root) for root in found),
        key=lambda pair: pair[0],
    )
    fused = [n for n, one in enumerate(plan.launches) if one.nests and n <= number]
    launch = plan.launches[fused[-1] if fused else number]
    yield "LEGATE_DIFFUSE_CHECK found a wrong result, please report it"
    yield f"  {names.root(root)} ({root.dtype}): {found[root]}"
    for other in found:
        if other is not root:
            yield f"  also {names.root(other)} ({other.dtype}): {found[other]}"
    yield f"  The fused task runs {positions(launch.tasks)} of the window:"
    for position in launch.tasks:
        operation = state.operations[position]
        yield (
            f"    {position + 1:3}  {operation.provenance_}  "
            f"{names.operation(operation)}"
        )
    kernels = list(_kernels(launch, state, root))
    yield "  Kernels that write the array:" if kernels else "  No kernel writes it."
    for kernel in kernels:
        yield from (f"    {line}" for line in kernel.splitlines())


def _last_launch(plan: Plan, state: Any, root: Root) -> int:
    """Return the number of the last launch that changes a root."""
    return max(
        number
        for number, launch in enumerate(plan.launches)
        for view in _targets([state.operations[n] for n in launch.tasks])
        if view.root is root
    )


def _kernels(launch: PlannedLaunch, state: Any, root: Root) -> Iterator[str]:
    views = list(state.views)
    for nest in launch.nests:
        lowered = nest.lowered
        for view, privilege in zip(lowered.arguments, lowered.privileges, strict=True):
            if privilege & (WRITE | REDUCE) and views[view].root is root:
                yield print_kernel(lowered.kernel)
                break


def _fail(message: str) -> NoReturn:
    """End the process: exceptions may be swallowed where a flush comes from."""
    sys.stdout.flush()
    say(message)
    sys.stderr.flush()
    os._exit(FAILED)
