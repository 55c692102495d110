# SPDX-License-Identifier: Apache-2.0
"""Whether the CPUs of one process share the loops of a task, or divide its arrays.

Threads that share the loops of a task find whole arrays: nothing is computed twice, and
tasks end where memory says so. But Legate divides the large arrays of tasks that cannot
be fused over the CPUs, as products and sorts of matrices. An array that goes from one
kind of task to the other is copied, and a copy takes longer than most loops. So points
divide arrays for the fused tasks as well where a program alternates.

It is followed where the elements of each large array lie if threads share the loops: in
one piece, in tiles, or both. What is copied then is compared with all that fused tasks
use, whatever is chosen. That depends on neither time nor addresses. A change costs new
plans and kernels, so the next one is the slower, the more often there was one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from legate_diffuse.ir.privilege import READ, WRITE
from legate_diffuse.launch.state import ALL_SINGLE, partitioned_from
from legate_diffuse.observe.processors import Change, ProcessorFacts, Use
from legate_diffuse.stores.root import Root

# Where elements lie: in one piece, and in tiles. Nobody has used an array that lies
# nowhere.
_WHOLE: Final = 1
_TILES: Final = 2

# Points divide arrays once so many were copied, ...
_PATIENCE: Final = 4
# ... and these are at least one part in so many of what fused tasks use.
_OFTEN: Final = 8
# Threads share loops again once so many fused tasks in a row have used large arrays
# while less than one part in so many was copied.
_PERIOD: Final = 32
_RARELY: Final = 32


class ThreadsOrPoints:
    """Chooses between threads and points for the fused tasks of one process.

    Args:
        native: the native part.
        given: who has chosen already, as a user may; '' if nobody has.

    Attributes:
        is_open: whether there is a choice.
        divides: whether points divide arrays.
    """

    def __init__(self, native: Any, given: str = "") -> None:
        self._native = native
        self._given = given
        self.is_open = not given and native.num_threads() > 1
        self.divides = False
        self._changes: list[Change] = []
        # elements of a large array
        self._least = ALL_SINGLE
        # grows with each change
        self._patience = 1
        # since the last change, but for the current period
        self._past = Use(0, 0)
        # of the current period
        self._launches = self._copies = self._copied = self._used = 0

    def single_below(self) -> int:
        """Return from how many elements on arrays are divided."""
        least = partitioned_from(*self._native.launch_policy())
        is_single = self._native.num_threads() > 1 and not self.divides
        return ALL_SINGLE if is_single else least

    def choose(self, windows: int) -> None:
        """Choose for the next window, after so many were planned."""
        least = partitioned_from(*self._native.launch_policy())
        if not self.is_open or least == ALL_SINGLE:
            return
        self._least = least
        if self._is_to_change():
            self.divides = not self.divides
            self._changes.append(
                Change(self.divides, windows, Use(self._used, self._copied))
            )
            if not self.divides:
                self._patience *= 2
            self._begin_period()
            self._past = Use(0, 0)

    def note_fused(self, roots: Sequence[Root], privileges: Sequence[int]) -> None:
        """Take note of a fused task, and what it does to each of its arrays."""
        least, used = self._least, 0
        for root, privilege in zip(roots, privileges, strict=True):
            if root.volume >= least:
                used += root.nbytes
                self._use(root, privilege, _WHOLE)
        self.note_again(used)

    def used_by(self, roots: Sequence[Root]) -> int:
        """Return the bytes of large arrays that count where a fused task uses them."""
        if not self.is_open:
            return 0
        return sum([root.nbytes for root in roots if root.volume >= self._least])

    def note_again(self, used: int) -> None:
        """Take note of a fused task that copies nothing: see ``used_by``."""
        if used:
            self._used += used
            self._launches += 1

    def note_task(self, arguments: Iterable[tuple[Root, int, bool]]) -> None:
        """Take note of another task: its arrays, privileges, and whether it has tiles.

        Legate divides all of them that are large, unless each point needs the whole.
        """
        for root, privilege, is_divided in arguments:
            if root.volume >= self._least:
                self._use(root, privilege, _TILES if is_divided else _WHOLE)

    def facts(self) -> ProcessorFacts:
        """Return how fused tasks use the processors, and why."""
        count, _ = self._native.launch_policy()
        divides = self.divides or self._native.num_threads() == 1
        return ProcessorFacts(count, divides, self._given, self._changes, self._since())

    def _since(self) -> Use:
        """Return what was used since the last change."""
        past = self._past
        return Use(past.used + self._used, past.exchanged + self._copied)

    def _use(self, root: Root, privilege: int, place: int) -> None:
        if privilege != WRITE and root.places not in (0, place, _WHOLE | _TILES):
            self._copies += 1
            self._copied += root.nbytes
        root.places = root.places | place if privilege == READ else place

    def _is_to_change(self) -> bool:
        """Whether the other choice is better, as far as is known."""
        if not self.divides:
            if (
                self._copies >= _PATIENCE * self._patience
                and self._copied * _OFTEN >= self._used
            ):
                return True
            if self._launches >= _PERIOD * self._patience:
                self._begin_period()
            return False
        if self._launches < _PERIOD * self._patience:
            return False
        if self._copied * _RARELY < self._used:
            return True
        self._begin_period()
        return False

    def _begin_period(self) -> None:
        self._past = self._since()
        self._launches = self._copies = self._copied = self._used = 0
