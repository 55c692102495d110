# SPDX-License-Identifier: Apache-2.0
"""What one window leaves to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from legate_diffuse.launch.policy import WindowPolicy
from legate_diffuse.launch.queue import LaunchQueue, Step
from legate_diffuse.launch.state import WindowState, record
from legate_diffuse.launch.steps import Waiting


class Window(Protocol):
    """A window that has ended."""

    state: WindowState

    def restore(self, state: WindowState) -> None:
        """Forget an operation whose recording was broken off, or begin it again."""

    def single_below(self, *, begins: bool = False) -> int:
        """Return how many elements an array has that Legate does not partition."""


class Carry(Step):
    """Lets the next window begin with operations that go on waiting.

    Attributes:
        waiting: scalar operations that need not be submitted yet.
        rest: operations that come after the window that was submitted.
    """

    __slots__ = ("_policy", "_window", "rest", "waiting")

    def __init__(
        self,
        window: Window,
        policy: WindowPolicy,
        waiting: Waiting,
        rest: Sequence[Any],
    ) -> None:
        super().__init__()
        self._window = window
        self._policy = policy
        self.waiting = waiting
        self.rest = rest

    def run(self, queue: LaunchQueue, launch: int) -> None:
        """Put the operations before those that were recorded meanwhile."""
        window = self._window
        while queue.head is self:
            state = window.state
            if state.recording:
                window.restore(state)
                continue
            count = state.count
            rest = [*self.rest, *state.operations[:count], *state.rest]
            waiting = self.waiting.operations
            begun = record(waiting, window.single_below(begins=True), len(waiting))
            self._extend(begun, rest)
            following = launch + 1
            if window.state is state and state.count == count and queue.head is self:
                window.state = begun
                queue.head = self.next
                queue.number = following

    def _extend(self, state: WindowState, operations: Sequence[Any]) -> None:
        """Record operations in a state, up to where its window ends."""
        for position, operation in enumerate(operations, 1):
            state.add(operation)
            state.count += 1
            if self._policy.ends_at(state.operations):
                state.end_before(operations[position:])
                break
