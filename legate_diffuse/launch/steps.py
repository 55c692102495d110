# SPDX-License-Identifier: Apache-2.0
"""What is done to submit a window: original tasks, and fused ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.ir.nest import ConstantSource, Nest
from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.launch.choice import ThreadsOrPoints
from legate_diffuse.launch.copy_task import CopyTask
from legate_diffuse.launch.program import write_program
from legate_diffuse.launch.queue import LaunchQueue, Step, chain
from legate_diffuse.launch.scalars import constant_bytes, scalar_bytes
from legate_diffuse.launch.small import SmallArrays
from legate_diffuse.launch.splitting import may_take_much, num_parts, parts
from legate_diffuse.launch.tiling import passed_stores
from legate_diffuse.observe.counters import Counters
from legate_diffuse.observe.naming import places
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.legate import Legate
from legate_diffuse.stores.root import Root, Spare
from legate_diffuse.stores.view import View, over


class StepOwner(Protocol):
    """What steps need of the ``Submitter`` that made them."""

    legate: Legate
    native: Any
    counters: Counters
    small: SmallArrays
    choice: ThreadsOrPoints
    track_provenance: bool
    copies: CopyTask

    def note_task(self, operation: Any) -> None:
        """Take note of an operation that runs as it was submitted."""

    def note_move(self, root: Root) -> None:
        """Take note of a root that has moved to its spare store."""

    def name(self, launch: PlannedLaunch, operations: Sequence[Any]) -> int:
        """Return the number of a task that is named as the operations of a launch."""

    def give_up(self, launch: PlannedLaunch, stage: str, failure: Exception) -> None:
        """Let the original tasks of a launch run from now on."""

    def note_failure(
        self, stage: str, failure: Exception, describe: Callable[[], str]
    ) -> None:
        """Tell the user once that original tasks run instead of fused ones."""

    def steps_of_part(
        self, operations: Sequence[Any], kept: frozenset[Root]
    ) -> list[Step]:
        """Return what is to be done to submit operations by themselves."""


@dataclass(slots=True, eq=False)
class OriginalStep(Step):
    """An operation is run as it was submitted."""

    submitter: StepOwner
    operation: Any

    def run(self, queue: LaunchQueue, launch: int) -> None:
        """Submit the original task."""
        operation = self.operation
        self.submitter.note_task(operation)
        task = self.submitter.copies.of(operation)
        submit = queue.native.submit_original
        if operation.provenance_:
            with self.submitter.legate.Scope(provenance=operation.provenance_):
                submit(launch, *task.prepare())
        else:
            submit(launch, *task.prepare())

    def count(self) -> None:
        """Count the task."""
        counters = self.submitter.counters
        counters.tasks_submitted += 1
        counters.fills_submitted += type(self.operation) is Fill


@dataclass(slots=True, eq=False)
class PartStep(Step):
    """Operations of a launch that was split are planned by themselves.

    Attributes:
        submitter: what plans them.
        operations: the operations, in program order.
        kept: the roots that are used later.
    """

    submitter: StepOwner
    operations: Sequence[Any]
    kept: frozenset[Root]

    def run(self, queue: LaunchQueue, launch: int) -> None:
        """Put the steps of a plan in its place."""
        steps = self.submitter.steps_of_part(self.operations, self.kept)
        first = chain(steps, self.next)
        if queue.head is self:
            queue.head = first

    def give_up(self, queue: LaunchQueue, error: Exception) -> None:
        """Let the original tasks run instead."""
        steps = [OriginalStep(self.submitter, one) for one in self.operations]
        first = chain(steps, self.next)
        if queue.head is self:
            queue.head = first
        self.error = None
        self.submitter.note_failure("planning", error, lambda: "")


@dataclass(slots=True, eq=False)
class Waiting:
    """Operations that go on waiting when a window is submitted."""

    operations: list[Any] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class FusedStep(Step):
    """Operations are run as one task, over concrete views.

    Attributes:
        submitter: what it belongs to.
        launch: what to do.
        operations: the window's operations, by position.
        views: the window's views, by number.
        shapes: the window's shapes, by number.
        done: operations of the launch, by position, that run before it.
        late: how many of the steps that follow run other operations of the launch.
        waiting: what goes on waiting, unless the task cannot be submitted.
        wanted: what the program waits for, a single element or an array
            that comes into this process, if any.
        ran_here: is called with the program if it ran here, with no elements that had
            to come first.
    """

    submitter: StepOwner
    launch: PlannedLaunch
    operations: Sequence[Any]
    views: list[View]
    shapes: list[Any]
    done: Sequence[int]
    late: int
    waiting: Waiting
    wanted: Root | None = None
    ran_here: Callable[[bytes], None] | None = None
    # whether it runs in this thread
    _is_here: bool = field(default=False, init=False)
    # roots, and the stores that they are to move to
    _moved: list[tuple[Root, Spare]] = field(default_factory=list, init=False)

    def run(self, queue: LaunchQueue, launch: int) -> None:
        """Submit the task, or run it here, if there is anything left to do."""
        planned = self.launch
        if not planned.nests:
            return
        views, shapes = self.views, self.shapes
        if may_take_much(planned, views) and self._is_split(queue):
            return
        choice = self.submitter.choice
        if choice.is_open:
            roots = [views[n].root for n in planned.arguments]
            choice.note_fused(roots, planned.privileges)
        found = self.submitter.small.find(planned, views, shapes, self.wanted)
        self._is_here = found is not None
        if found is not None:
            program = write_program(planned, views, shapes, self._scalars)
            self.submitter.native.run_program(
                found.arrays, planned.privileges, program, found.first_values, launch
            )
            if self.ran_here is not None and not found.first_values:
                self.ran_here(program)
            return
        provenance = None
        if self.submitter.track_provenance:
            operations = self.operations
            provenance = places(
                tuple([operations[n].provenance_ for n in planned.tasks])
            )
        if planned.task is None:
            planned.task = self.submitter.name(planned, self.operations)
        arguments = [views[n] for n in planned.arguments]
        self._hand_over(arguments)
        stores: Sequence[View | Root | Spare]
        if planned.tiling is not None:
            stores = passed_stores(planned.tiling, arguments, planned.moved)
            if not self._moved:
                roots = [arguments[n].root for n in planned.moved]
                self._moved = [(root, root.find_spare()) for root in roots]
            self._settle(arguments)
        elif planned.partitioned:
            shape = shapes[planned.nests[0].nest.shape]
            stores = [over(view, shape) for view in arguments]
            self._settle(arguments)
        else:
            stores = [view.root for view in arguments]
        self.submitter.native.submit_program(
            tuple([store.handle for store in stores]),
            planned.privileges,
            write_program(planned, views, shapes, self._scalars),
            planned.partitioned,
            provenance,
            launch,
            planned.task,
        )

    def _hand_over(self, arguments: Sequence[View]) -> None:
        """Give Legate what lies in this process."""
        planned, native = self.launch, self.submitter.native
        given = native.num_given_away()
        for view, privilege in zip(arguments, planned.privileges, strict=True):
            root = view.root
            if root.small is not None:
                # a partitioned launch writes what its views show, others all of a root
                reads = planned.partitioned or privilege != WRITE
                root.hand_over(reads=reads, writes=privilege != READ)
        if self.wanted is not None:
            self.submitter.small.note_taken(native.num_given_away() - given)

    def _settle(self, arguments: Sequence[View]) -> None:
        """Give what is reduced to a future of its own."""
        privileges = self.launch.privileges
        for view, privilege in zip(arguments, privileges, strict=True):
            if privilege >= REDUCE:
                view.root.settle()

    def finish(self, queue: LaunchQueue) -> None:
        """Note which single elements lie in one future now."""
        planned, views = self.launch, self.views
        scalars = [
            root
            for n, privilege in zip(planned.arguments, planned.privileges, strict=True)
            if privilege != READ and (root := views[n].root).scalar_storage
        ]
        for root, spare in self._moved:
            if queue.head is self:
                root.move(spare)
                self.submitter.note_move(root)
        shared = object() if len(scalars) > 1 and not self._is_here else None
        for root in scalars:
            # nested work may have done this, and what comes next
            if queue.head is self:
                root.shared_future = shared

    def count(self) -> None:
        """Count the task, and what was not stored."""
        counters = self.submitter.counters
        if self.launch.nests:
            counters.groups += 1
            counters.ran_in_process += self._is_here
            counters.tasks_submitted += not self._is_here
        temporaries = [self.views[n].root for n in self.launch.temporaries]
        counters.count_removed(*temporaries)

    def give_up(self, queue: LaunchQueue, error: Exception) -> None:
        """Let the original tasks run instead, now and from now on."""
        own, waiting, after = self._left()
        first = chain([OriginalStep(self.submitter, one) for one in own], after)
        number = queue.number
        following = number + 1
        if queue.head is self:
            self.waiting.operations = waiting
            queue.head = first
            queue.number = following
            queue.native.give_up_launch(number)
        self.error = None
        self.submitter.give_up(self.launch, "submission", error)

    def _left(self) -> tuple[list[Any], list[Any], Step | None]:
        """Return what is left if this is not done.

        The operations of the launch that have not run, in program order, what waits
        without them, and the step after them.
        """
        own = [self.operations[n] for n in self.launch.tasks if n not in self.done]
        waiting = [
            operation
            for operation in self.waiting.operations
            if not any(operation is each for each in own)
        ]
        after = self.next
        for _ in range(self.late):
            assert after is not None, "what is late was chained behind"
            after = after.next
        return own, waiting, after

    def _is_split(self, queue: LaunchQueue) -> bool:
        """Put parts of the launch in its place if it takes too much memory."""
        planned, views = self.launch, self.views
        program = write_program(planned, views, self.shapes, self._scalars)
        operations, native = self.operations, queue.native
        count = num_parts(planned, operations, views, program, native)
        if count < 2:
            return False
        own, waiting, after = self._left()
        kept = frozenset(views[n].root for n in planned.arguments)
        first = after
        for part in reversed(parts(own, count)):
            first = chain([PartStep(self.submitter, part, kept)], first)
            kept = kept.union(view.root for each in part for view in each.views)
        if queue.head is self:
            self.waiting.operations = waiting
            queue.head = first
            self.submitter.counters.launches_split += 1
        return True

    def _scalars(self, nest: Nest) -> bytes:
        """Return the scalar block of a kernel."""
        views, operations = self.views, self.operations
        native = self.submitter.native
        # a constant has the value with which it was recorded, whatever has changed it
        return b"".join(
            [
                constant_bytes(views[source.view].root)
                if isinstance(source, ConstantSource)
                else scalar_bytes(
                    native, operations[source.task].scalars[source.position][0]
                )
                for source in nest.scalars
            ]
        )
