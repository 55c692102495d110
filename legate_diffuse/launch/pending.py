# SPDX-License-Identifier: Apache-2.0
"""What waits to be submitted, and its submission.

A window is planned as a whole, and then handed over to the queue of launches, unless
somebody has done so meanwhile: see ``launch.window`` for who may come between, and
``launch.queue`` for what can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import current_thread, get_ident
from typing import Any, Final

from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.translate import NEW_VIEW, SINGLE, UNDEFINED
from legate_diffuse.launch import ranks
from legate_diffuse.launch.policy import MANY_SHORT, WindowPolicy, kinds_of, sums_up
from legate_diffuse.launch.queue import LaunchQueue, Step, chain
from legate_diffuse.launch.ranks import Agreement
from legate_diffuse.launch.state import (
    ALL_SINGLE,
    DTYPE,
    WindowState,
    close,
    liveness,
    record,
)
from legate_diffuse.launch.steps import Waiting
from legate_diffuse.launch.submission import Checker, Submitter
from legate_diffuse.observe.counters import Counters
from legate_diffuse.settings import DiffuseError
from legate_diffuse.stores.legate import Legate
from legate_diffuse.stores.outline import place
from legate_diffuse.stores.root import Root

# What ends a window after which the program goes on: see ``observe.wording``.
FULL: Final = "full window"


class Pending:
    """The window that is recorded now, and the launches of those before it.

    Legate's runtime and the native part must be up. It is made in Legate's thread.
    ``meanings`` tells what operations compute, and ``checker``, if any, compares the
    results.

    Attributes:
        state: what the window holds.
        queue: the launches.
        runs_at_once: whether operations on small arrays run as they come.
        submitter: submits windows.
    """

    # native code reads these
    __slots__ = ("__dict__", "runs_at_once", "state")

    def __init__(
        self, legate: Legate, meanings: Meanings, checker: Checker | None = None
    ) -> None:
        self._counters = Counters()
        self.state = WindowState()
        self.queue = LaunchQueue(legate.native)
        self._agreement: Agreement | None = None
        self._liveness = liveness
        if ranks.are_several(legate.runtime):
            self._agreement = Agreement(self._counters)
            self._liveness = self._agreement.liveness
        self.submitter = Submitter(
            legate,
            meanings,
            self._counters,
            checker,
            self._agreement,
            self._release,
        )
        self._thread = get_ident()
        small = self.submitter.small
        # who asks Legate for provenance wants to see every operation
        self.runs_at_once = small.limit > 0 and not legate.runtime.config().provenance
        self._policy = WindowPolicy(small.is_short if self.runs_at_once else None)
        if self.runs_at_once:
            legate.native.know_window(
                self, self.queue, self._policy, WindowState, LaunchQueue
            )
            legate.native.know_keys(
                WindowState, place, DTYPE, NEW_VIEW, SINGLE, UNDEFINED
            )
        # launches, when the last window ended
        self._split = 0
        self._repeats = self.submitter.repeats if self.runs_at_once else None
        # a state that nobody has used, if any
        self._empty: WindowState | None = None
        self._native = legate.native
        self._native.set_flush_callback(lambda: self.flush("native call"))

    def is_in_program(self) -> bool:
        """Whether the caller is the program, and not a Python task that runs in it.

        What a task submits is Legate's affair.

        Raises:
            DiffuseError: it is another thread of the program.
        """
        if get_ident() == self._thread:
            return True
        if self._native.is_in_task():
            return False
        raise DiffuseError(
            f"Legate was called in thread {current_thread().name!r}, but must be "
            "called in the thread that imported it, and in no other: move what works "
            "on its arrays there"
        )

    def single_below(self, *, begins: bool = False) -> int:
        """Return from how many elements on arrays are partitioned."""
        return self.submitter.single_below(begins=begins)

    def _divides(self) -> bool:
        return self.single_below() != ALL_SINGLE

    def flush(self, cause: str, wanted: Root | None = None) -> None:
        """Submit everything that is pending; ``cause`` is counted.

        The program waits for ``wanted``, if for any.
        """
        if not self.is_in_program():
            return
        while self._is_pending():
            self._submit(cause, may_wait=False, wanted=wanted)
        if cause != FULL:
            # of what was submitted before
            self._native.wait_for_background()

    def flush_for(self, wanted: Root, *, comes: bool = False) -> None:
        """Submit what is pending, before a root is read.

        Scalar operations whose results only the application could read go on
        waiting, unless one of them is about to be read. The program waits for a single
        element, and for an array that ``comes`` into this process next.

        Raises:
            DiffuseError: another rank has let go of it, so it may not be computed.
        """
        if wanted.forsaken:
            raise DiffuseError(
                "an array is read on one rank that another rank has let go of, and so "
                "it was not computed: let all ranks keep it until they read it"
            )
        if not self.is_in_program() or not self._is_pending():
            return
        awaited = wanted if comes or wanted.scalar_storage else None
        while True:
            self._submit("read", may_wait=True, wanted=awaited)
            state = self.state
            if state.count <= state.carried and not state.rest:
                break
        if self.may_change(wanted):
            self.flush("read", awaited)

    def lend(self, root: Root, physical: Any) -> None:
        """Note that the application holds a root's memory through ``physical``.

        What was submitted since the last flush has to run, as if it had not waited.
        """
        root.lend(physical)
        if not self.is_in_program():
            return
        state = self.state
        if state.recording:
            self.restore(state)
        if root in self.state.roots or root in self.state.kept:
            self.flush("read of shared memory")

    def _release(self, most: int) -> None:
        """Submit what is pending if it keeps more than ``most`` bytes.

        That is the memory of arrays that the program has let go of.
        """
        roots = [] if self.state.recording else list(self.state.roots)
        kept = [root.nbytes for root in roots if not (root.undefined or root.alive)]
        if sum(kept) > most:
            self.flush("memory of dead arrays")

    def may_show(self, root: Root) -> bool:
        """Whether the application may get hold of a root's elements in this process.

        Nothing that is pending may use them.
        """
        return (
            self.runs_at_once
            and not self.state.recording
            and not self.is_waited_for(root)
            and self.is_in_program()
            and self.submitter.small.may_show(root)
        )

    def takes_memory(self, type_: Any, elements: Any) -> bool:
        """Whether a NumPy array's memory may be that of an array here."""
        is_here = self.runs_at_once and get_ident() == self._thread
        return is_here and self.submitter.small.may_be_given(type_, elements)

    def finish(self) -> None:
        """Submit what is pending, and end what the ranks agree on."""
        self.flush("shutdown")
        if self._agreement is not None:
            self._agreement.finish()

    def is_waited_for(self, root: Root) -> bool:
        """Whether something that is pending may use a root."""
        state = self.state
        return root in state.roots or root in state.kept or self.queue.head is not None

    def may_change(self, root: Root) -> bool:
        """Whether something that is pending may change a root."""
        state = self.state
        if self.queue.head is not None or root in state.kept:
            return True
        return root in state.roots and state.changes(root)

    def is_sole(self, sole: bool) -> bool:
        """Whether no rank's program can reach the buffer of a new array."""
        return sole if self._agreement is None else self._agreement.on_buffer(sole)

    def _is_pending(self) -> bool:
        return bool(self.state.operations) or self.queue.head is not None

    def _make_ready(self, state: WindowState) -> None:
        """Take a step towards a window to which an operation can be added."""
        if self.queue.head is not None:
            self.queue.drain()
        elif state.recording:
            self.restore(state)
        elif not state.rest and self._must_cut(state):
            self._cut(state)
        else:
            self._submit_full()

    def _submit_full(self) -> None:
        """Submit a full window; all that waits, if that lets operations run at once."""
        small, state = self.submitter.small, self.state
        small.all_ran_here = self.runs_at_once
        roots: set[Root] = set()
        if state.ended_short:
            small.bring_next()
            for operation in state.operations[-MANY_SHORT:]:
                roots.update([view.root for view in operation.views])
        del state
        self._submit(FULL, may_wait=True)
        if small.all_ran_here or roots:
            self.flush(FULL)
        # what was only read, and what others have computed
        while roots and not self._is_pending():
            root = roots.pop()
            if root.alive:
                small.bring(root)

    def _submit(
        self, cause: str, *, may_wait: bool, wanted: Root | None = None
    ) -> None:
        """Submit the window; some operations may wait, if they can."""
        queue = self.queue
        while True:
            queue.drain()
            if self._repeat(cause):
                break
            state = self.state
            if state.recording:
                self.restore(state)
                continue
            if not state.count:
                break
            state.ended, state.awaits = True, False
            closed = close(state, cause, self._liveness)
            steps, waiting = self.submitter.prepare(closed, may_wait, wanted)
            if waiting.operations or state.rest:
                steps.append(_Carry(self, waiting, state.rest))
            first = chain(steps)
            empty = WindowState()
            if self.state is state and queue.head is None:
                self.state = empty
                queue.head = first
                self._counters.flushes[cause] += 1
                self._note_end(state)
                # from here on only steps keep arrays
                state.forget()
                del state, closed, steps, first
                queue.drain()
                break
        if not self.state.count and queue.head is None and cause != FULL:
            self._native.set_pending(False)

    def _repeat(self, cause: str) -> bool:
        """Run the window as one that came before, if it is such a window."""
        repeats = self._repeats
        if repeats is None:
            return False
        state = self.state
        rest = state.rest
        if rest:
            if not self._native.knows_window():
                return False
            following = self.begin_with((), rest)
        else:
            following, self._empty = self._empty or WindowState(), None
        # a finalizer may have submitted the state, and carried the rest on
        # the program goes on, and asks for no result yet
        window = self._native.repeat_window(state, following, cause == FULL)
        if window is None:
            if not rest:
                self._empty = following
            return False
        self._counters.flushes[cause] += 1
        self.submitter.note_use(window.plan)
        repeats.count(window)
        # what runs here is not partitioned
        self._policy.ended(window.kinds)
        return True

    def begin_with(self, waiting: Sequence[Any], rest: Sequence[Any]) -> WindowState:
        """Return the state of the next window, which operations begin that have come.

        Some were ``waiting`` in the last window, and the ``rest`` came behind it. They
        are recorded up to where a window ends.
        """
        begun = record(waiting, self.single_below(begins=True), len(waiting))
        for position, operation in enumerate(rest, 1):
            begun.add(operation)
            begun.count += 1
            if self._policy.ends_at(begun.operations):
                begun.end_before(rest[position:])
                break
        return begun

    def _note_end(self, state: WindowState) -> None:
        before, self._split = self._split, self._counters.launches_split
        split = self._split > before
        operations = state.operations
        sums = state.single_below != ALL_SINGLE and any(map(sums_up, operations))
        self._policy.ended(kinds_of(operations), sums, split=split)

    def restore(self, state: WindowState) -> None:
        """Forget an operation whose recording was broken off, or begin it again."""
        operations = state.operations[: state.count]
        restored = record(operations, state.single_below, state.carried)
        if self.state is state:
            self.state = restored

    def _must_cut(self, state: WindowState) -> bool:
        operations, policy = state.operations, self._policy
        return policy.is_full(operations) and not policy.ends_at(operations)

    def _cut(self, state: WindowState) -> None:
        """End a full window at a good place, before some of its operations."""
        alive = None
        if self._agreement is not None:
            agreed = self._agreement.liveness(state)
            alive = dict(zip(state.roots, agreed, strict=True))
        divides = self._divides()
        count = self._policy.cut(state.operations, alive, partitioned=divides)
        carried = min(state.carried, count)
        first = record(state.operations[:count], self.single_below(), carried)
        first.end_before(state.operations[count:])
        if self.state is state:
            self.state = first


@dataclass(slots=True, eq=False)
class _Carry(Step):
    """Lets the next window begin with operations that go on waiting.

    Attributes:
        window: the window that was submitted.
        waiting: scalar operations that need not be submitted yet.
        rest: operations that come after the window that was submitted.
    """

    window: Pending
    waiting: Waiting
    rest: Sequence[Any]

    def run(self, queue: LaunchQueue, launch: int) -> None:
        """Put the operations before those that were recorded meanwhile."""
        window = self.window
        while queue.head is self:
            state = window.state
            if state.recording:
                window.restore(state)
                continue
            count = state.count
            rest = [*self.rest, *state.operations[:count], *state.rest]
            begun = window.begin_with(self.waiting.operations, rest)
            following = launch + 1
            if window.state is state and state.count == count and queue.head is self:
                window.state = begun
                queue.head = self.next
                queue.number = following
