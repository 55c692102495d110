# SPDX-License-Identifier: Apache-2.0
"""What one window leaves to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


def begin_with(
    window: Window, policy: WindowPolicy, waiting: Sequence[Any], rest: Sequence[Any]
) -> WindowState:
    """Return the state of the next window, which operations begin that have come.

    Some were ``waiting`` in the last window, and the ``rest`` came behind it. They are
    recorded up to where a window ends.
    """
    begun = record(waiting, window.single_below(begins=True), len(waiting))
    for position, operation in enumerate(rest, 1):
        begun.add(operation)
        begun.count += 1
        if policy.ends_at(begun.operations):
            begun.end_before(rest[position:])
            break
    return begun


@dataclass(slots=True, eq=False)
class Carry(Step):
    """Lets the next window begin with operations that go on waiting.

    Attributes:
        window: the window that was submitted.
        policy: says where the next one ends.
        waiting: scalar operations that need not be submitted yet.
        rest: operations that come after the window that was submitted.
    """

    window: Window
    policy: WindowPolicy
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
            waiting = self.waiting.operations
            begun = begin_with(window, self.policy, waiting, rest)
            following = launch + 1
            if window.state is state and state.count == count and queue.head is self:
                window.state = begun
                queue.head = self.next
                queue.number = following
