# SPDX-License-Identifier: Apache-2.0
"""What Legate is still to be given: steps that are done once each, in order.

A step leaves the queue only when it is done. Whatever breaks off the work on it, an
exception or the nested work of a finalizer or a signal handler, the next ``drain``
goes on with it. The native part takes down at once that Legate has a launch, and
makes none twice.

CPython interrupts no sequence of attribute reads, comparisons and attribute stores:
exceptions arrive, and handlers and other threads run, after calls, at the start of
functions and where loops jump back; finalizers run where something is allocated or
dropped. What is changed together is changed by such a sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from legate_diffuse.launch.failure import TRANSIENT, Place, place_of

# Failures after which a step is given up even if each was in another place.
_MAX_FAILURES: Final = 4


@dataclass(slots=True, eq=False)
class Step:
    """Something to be done once.

    ``run`` may be broken off anywhere and is then called again, unless the native
    part has taken down the number of the launch; ``finish`` may be called several
    times.

    Attributes:
        next: the step after it.
        error: how it failed.
        place: where.
        failures: how often.
    """

    next: Step | None = field(default=None, init=False, repr=False)
    error: Exception | None = field(default=None, init=False)
    place: Place = field(default=(), init=False)
    failures: int = field(default=0, init=False)

    def run(self, queue: LaunchQueue, launch: int) -> None:
        """Do it; the native part is given the number of the launch."""
        raise NotImplementedError

    def finish(self, queue: LaunchQueue) -> None:
        """Note what follows from it, as long as it is the queue's head."""

    def count(self) -> None:
        """Count it; called once."""

    def give_up(self, queue: LaunchQueue, error: Exception) -> None:
        """Leave the queue without being done; the program is told of the error."""
        queue.drop(self, error)


@dataclass(slots=True, eq=False)
class Once(Step):
    """Something is done once when all before it was, and cannot fail."""

    do: Callable[[], object]

    def run(self, queue: LaunchQueue, launch: int) -> None:
        """Do nothing that could be done twice."""

    def count(self) -> None:
        """Do it."""
        self.do()


class LaunchQueue:
    """Steps that wait.

    Attributes:
        head: the first step.
        depth: how many calls of ``drain`` are under way, each within the one before.
        number: of the launch that the first step may make.
        native: the native part.
    """

    __slots__ = ("_error", "depth", "head", "native", "number")

    def __init__(self, native: Any) -> None:
        self.head: Step | None = None
        self.number = 1
        self.native = native
        self.depth = 0
        # the first exception of a step, until it is raised
        self._error: BaseException | None = None

    def drain(self) -> None:
        """Do all that waits.

        Raises:
            BaseException: that of the first step that failed, after the others were
                done; or what came from outside, and the rest goes on waiting.
        """
        if self.head is None and self._error is None:
            return
        depth = self.depth
        self.depth = depth + 1
        try:
            # an exception that came as a condition ends the loop would be past the try
            while True:
                step = self.head
                if step is None:
                    break
                self._do(step, self.number)
        finally:
            self.depth = depth
        if depth == 0 and self._error is not None:
            error, self._error = self._error, None
            try:
                raise error
            finally:
                # a traceback keeps arrays of the program alive
                del error

    def drop(self, step: Step, error: Exception) -> None:
        """Take the first step out, which cannot be done."""
        number = self.number
        following = number + 1
        if self.head is step:
            self.head = step.next
            self.number = following
            if self._error is None:
                self._error = error
            self.native.give_up_launch(number)
            step.error = None

    def _do(self, step: Step, number: int) -> None:
        """Do the first step, whose launch has this number."""
        last_launch = self.native.last_launch
        if last_launch() < number:
            try:
                step.run(self, number)
            except TRANSIENT:
                raise
            except Exception as error:
                if last_launch() < number:
                    self._try_again(step, error)
                    return
                self._note(error)
        # else nested work has done it, or it has put others in its place
        if self.head is step:
            step.finish(self)
            following = number + 1
            if self.head is step:
                self.head = step.next
                self.number = following
                step.count()
        if step.error is not None:
            # it came from outside
            self._note(step.error)
            step.error = None

    def _try_again(self, step: Step, error: Exception) -> None:
        """Let a step that failed be tried again, or give it up."""
        place = place_of(error)
        if self.head is not step:
            # nested work has done it
            self._note(error)
        elif place == step.place or step.failures == _MAX_FAILURES:
            step.give_up(self, error)
        else:
            step.error, step.place = error, place
            step.failures += 1

    def _note(self, error: BaseException) -> None:
        if self._error is None:
            self._error = error


def chain(steps: Iterable[Step], end: Step | None = None) -> Step | None:
    """Link steps, and return the first one."""
    for step in reversed(list(steps)):
        step.next = end
        end = step
    return end
