# SPDX-License-Identifier: Apache-2.0
"""The window of operations that wait to be fused (Diffuse, section 4.1).

Operations are recorded as they are submitted. A window whose key was seen before is
submitted without analysis.

A finalizer, a signal handler or an exception may come between any two calls, and the
first two may submit and read as well. So an operation is recorded aside, and then
published, unless somebody has used the window meanwhile; a window is planned as a
whole, and then handed over to the queue of launches, unless somebody has done so
meanwhile. What was broken off is done again. See ``launch.queue`` for what can come
between.

Follows: Legate (src/cpp/legate/runtime/detail)
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from threading import get_ident
from typing import Any, Final

from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.ir.privilege import READ
from legate_diffuse.launch.failure import insist
from legate_diffuse.launch.pending import Pending
from legate_diffuse.launch.recognition import recognize
from legate_diffuse.launch.state import ALL_SINGLE, WindowState
from legate_diffuse.launch.submission import Checker
from legate_diffuse.libraries.kind import Recognizer
from legate_diffuse.observe.counters import Counters
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.legate import Legate
from legate_diffuse.stores.root import Root

_NO_CONTEXT: Final = nullcontext()


class LaunchWindow(Pending):
    """Records operations, and submits them fused.

    ``recognizer`` tells which operation a task is; see ``Pending`` for the others.
    """

    __slots__ = ()

    def __init__(
        self,
        legate: Legate,
        recognizer: Recognizer,
        meanings: Meanings,
        checker: Checker | None = None,
    ) -> None:
        super().__init__(legate, meanings, checker)
        self.recognizer = recognizer
        self._scope = legate.Scope
        self._ledger = self.submitter.ledger
        if self._ledger is not None:
            self._ledger.clock(self, "_submit", "submission")
            self._ledger.clock(self, "_run", "submission")
        if self.runs_at_once and self.submitter.explanation is not None:
            legate.native.watch_runs(self.submitter.place_of_run)

    @property
    def counters(self) -> Counters:
        """Counts since the start of the program."""
        if self.runs_at_once:
            self._counters.add_runs(*self._native.take_runs())
        return self._counters

    def submit(self, *operations: Any) -> None:
        """Hold operations back, or run them after all that is pending."""
        if get_ident() != self._thread:
            for operation in operations:
                self.submit_now(operation)
            return
        if self.runs_at_once:
            at_once = self.submitter.at_once
            filled, at_once.filled = at_once.filled, None
            if self._runs_at_once(*operations):
                return
            if filled is not None and filled.is_reduced_by(operations[0]):
                # one task fills and reduces
                self._counters.add_runs(-1, -1, -1)
                operations = (filled.fill, *operations)
        for operation in operations:
            self._record(operation)

    def _runs_at_once(self, *operations: Any) -> bool:
        """Run operations that nothing has to wait for, if they are on small arrays."""
        at_once = self.submitter.at_once
        return self.runs_at_once and at_once.take(operations, self.recognizer)

    def _record(self, operation: Any) -> None:
        is_fill = type(operation) is Fill
        while True:
            state = self.state
            awaits = state.awaits
            if (
                state.recording
                or (state.ended and not awaits)
                or self.queue.head is not None
            ):
                self._make_ready(state)
                if not self._is_pending() and self._runs_at_once(operation):
                    return
                continue
            # whoever needs the window before it is false again replaces the state
            state.recording = True
            shared = self._examine(operation)
            if shared is None:
                # nothing was changed
                state.recording = False
                self._counters.fills_seen += is_fill
                self.submit_now(operation)
                return
            if awaits:
                kept = frozenset([view.root for view in operation.views])
                if self.state is state and state.awaits:
                    state.rest, state.kept = (operation,), kept
                    state.recording = state.awaits = False
                    break
                continue
            if not state.count:
                self.begin(state)
            state.add(operation)
            count = state.count + 1
            if self.state is state:
                state.count = count
                state.recording = False
                break
        self._counters.tasks_seen += 1
        self._counters.fills_seen += is_fill
        if not awaits:
            self._policy.end_where_full(state, count)
        if shared:
            # as soon as the application could have expected it without a window
            insist(lambda: self.flush("read of shared memory"))

    def begin(self, state: WindowState) -> None:
        """Let a window begin with the operation that is being recorded."""
        state.single_below = self.single_below(begins=True)
        self._native.set_pending(True)

    def submit_now(self, operation: Any) -> None:
        """Run an operation after all that is pending."""
        self.submitter.logs.passed(operation)
        self._let_pass("task that cannot be fused")
        self._run(operation)

    def let_pass(self, function: str) -> None:
        """Submit what is pending, and count the function of Legate's that follows."""
        self.submitter.logs.called(function)
        self._let_pass(function)
        if self._ledger is not None:
            self._ledger.note_passed(function)

    def waiting(self) -> AbstractContextManager[None]:
        """Return a context in which the program waits for tasks."""
        return _NO_CONTEXT if self._ledger is None else self._ledger.waiting()

    def place(self) -> str:
        """Return the program's current line, '' if nobody looks on."""
        return self.submitter.provenance() if self.submitter.track_provenance else ""

    def scope(self, place: str) -> AbstractContextManager[object]:
        """Return a scope in which all that is submitted comes from a place, if any."""
        return self._scope(provenance=place) if place else _NO_CONTEXT

    def _run(self, operation: Any) -> None:
        self.submitter.note_task(operation)
        with self.scope(self.place()):
            operation.run()

    def _let_pass(self, cause: str) -> None:
        if self.is_in_program():
            self.flush(cause)
            self.submitter.unseen += 1
            self._counters.tasks_seen += 1
            self._counters.tasks_submitted += 1

    def _examine(self, operation: Any) -> bool | None:
        """Return whether an operation reads shared memory, None if it cannot wait."""
        if not recognize(operation, self.recognizer):
            return None
        shared = False
        for privilege, view in zip(operation.privileges, operation.views, strict=True):
            root = view.root
            if root.shared and self._is_shared(root):
                if privilege != READ and not self._keeps_memory(root):
                    return None
                shared = True
            if privilege != READ:
                root.version += 1
                if root.initial is not None:
                    self._change_constant(root)
        if self.submitter.track_provenance:
            operation.provenance_ = self.submitter.provenance(operation.kind.id)
        return shared

    def _keeps_memory(self, root: Root) -> bool:
        """Whether a root has the same memory after an operation that is recorded now.

        It may move where several nests on tiles write it.
        """
        state = self.state
        is_whole = not state.count or state.single_below == ALL_SINGLE
        return is_whole and root.is_here

    def _is_shared(self, root: Root) -> bool:
        """Whether a rank's application may hold the memory of a root that was lent.

        Several ranks agree on that when a window ends.
        """
        return self._agreement is not None or root.is_shared()

    def _change_constant(self, root: Root) -> None:
        """Let what reads a root as a constant come before what changes it."""
        root.constant = None
        if self.state.is_constant(root):
            self.flush("write to a constant")
            # the operation that comes next is noted already
            self.submitter.unseen += 1
