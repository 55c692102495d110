# SPDX-License-Identifier: Apache-2.0
"""What several ranks agree on, so that they submit the same tasks.

All ranks run one program and decide alike on what it does. Some facts belong to one
rank: which arrays it can still reach, whether it could compile a kernel. They count
only where all ranks have them. Ranks take part in the same agreements in the same
order, as their windows end in the same places.

What one rank's program cannot reach any more, no rank's program uses again, as all do
the same. So a window that was seen before needs no answer: an array dies in it that
died then, unless this rank can reach it. Such a rank waits for the answer, which counts
for all: the others know it, as they cannot reach the array.

Legate does so with the fields that its ranks free, and looks at the answers later, too
(``ConsensusMatchingFieldManager``).
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from legate_diffuse.launch.state import WindowState, liveness
from legate_diffuse.messages import say_once
from legate_diffuse.observe.counters import Counters

# Where ranks agree on something, the first number says on what. Of others it is less.
_WINDOW: Final = 1 << 63
_KERNELS: Final = _WINDOW - 1
_BUFFER: Final = _WINDOW - 2
_NOTHING: Final = _WINDOW - 3
# A fact that a rank has.
_TRUE: Final = 0
# Added to the numbers of roots whose memory a rank's application has given back.
_RETURNED: Final = 1 << 32

# An answer counts for windows that are seen again when so many others were asked for.
_LAG: Final = 8
# So many windows are remembered at most.
_MAX_WINDOWS: Final = 4096


def are_several(runtime: Any) -> bool:
    """Whether the program runs on several ranks."""
    return int(runtime.node_count) > 1


class Match:
    """Numbers of this rank, until it is known which of them all ranks have sent.

    Args:
        numbers: at least one, none of them twice, each below 2^64.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        self._sent = (ctypes.c_uint64 * len(numbers))(*numbers)
        self._common = (ctypes.c_uint64 * len(numbers))()
        context = _legion("legion_runtime_get_context")
        self._future = _legion(
            "legion_context_consensus_match",
            _legion("legion_runtime_get_runtime"),
            context,
            self._sent,
            self._common,
            ctypes.c_size_t(len(numbers)),
            ctypes.c_size_t(ctypes.sizeof(ctypes.c_uint64)),
        )
        _legion("legion_context_destroy", context)

    def wait(self) -> set[int]:
        """Return what all ranks have sent; called once."""
        result = _legion("legion_future_get_untyped_pointer", self._future)
        count = ctypes.cast(result, ctypes.POINTER(ctypes.c_size_t))[0]
        common = self._common[:count]
        _legion("legion_future_destroy", self._future)
        return set(common)


def _legion(name: str, *arguments: Any) -> ctypes.c_void_p:
    """Call a function of Legion's C interface, whose handles are pointers."""
    return ctypes.c_void_p(_function(name)(*arguments))


@cache
def _function(name: str) -> Any:
    found = getattr(ctypes.CDLL("liblegion-legate.so.1"), name)
    found.restype = ctypes.c_void_p
    return found


@dataclass(slots=True)
class _Question:
    """Something that is agreed on.

    Attributes:
        mark: says on what.
        number: how many were asked before.
        windows: how many windows have ended when it was asked.
        match: the answer, once it is there.
    """

    mark: int
    number: int
    windows: int
    match: Match
    _answer: set[int] | None = None

    def wait(self) -> set[int]:
        """Return the numbers of all ranks, the mark among them."""
        if self._answer is None:
            self._answer = self.match.wait()
        return self._answer


class Agreement:
    """Lets what one rank knows count where all ranks know it.

    Attributes:
        broken: the ranks' windows have differed. From then on nothing is fused, and
            nothing agreed on: unfused ranks need only submit the same operations.
    """

    def __init__(self, counters: Counters) -> None:
        self.broken = False
        self._counters = counters
        # how many windows have been agreed on
        self._windows = 0
        # the roots that could be read after a window, by its mark
        self._alive: dict[int, set[int]] = {}
        # what was asked last, at most ``_LAG``, the oldest first
        self._asked: deque[_Question] = deque()

    def liveness(self, state: WindowState) -> list[bool]:
        """Return whether each root of a window can be read after it, on all ranks.

        The window has ended, or is about to be cut. Memory that no rank's application
        holds any more is not shared from then on.
        """
        found = state.agreed
        if found is None:
            found = state.agreed = self._decide(state, liveness(state))
        return found

    def _decide(self, state: WindowState, alive: list[bool]) -> list[bool]:
        if self.broken:
            return [True] * len(alive)
        self._windows += 1
        roots = list(state.roots)
        kept = [number for number, root in enumerate(roots) if root in state.kept]
        mark = hash((*state.key, state.carried, state.count, *kept))
        mark = _WINDOW | mark & (_WINDOW - 1)
        reachable = {number for number, lives in enumerate(alive) if lives}
        # these are the same on all ranks
        lent = {n: root for n, root in enumerate(roots) if root.shared and root.lent}
        returned = [_RETURNED + n for n, root in lent.items() if not root.is_held()]
        expected = self._alive.get(mark)
        self._ask(mark, [*reachable, *returned])
        if expected is None or lent or not reachable <= expected:
            answer = self._wait()
            for number, root in lent.items():
                if _RETURNED + number in answer:
                    root.is_shared()
            # it tells nothing new to a rank that has not waited
            expected = (answer & reachable) | (expected or set())
            self._remember(mark, expected)
        if self.broken:
            return [True] * len(alive)
        for number in reachable - expected:
            roots[number].forsaken = True
        return [number in expected for number in range(len(alive))]

    def on_kernels(self, ready: bool) -> bool:
        """Whether all ranks have the kernels of a launch."""
        if self.broken:
            return False
        self._ask(_KERNELS, [_TRUE] * ready)
        return _TRUE in self._wait()

    def on_buffer(self, sole: bool) -> bool:
        """Whether no rank's program uses the buffer of a new array.

        A rank whose program alone can reach it waits; the others know.
        """
        if self.broken:
            return False
        self._ask(_BUFFER, [_TRUE] * (not sole))
        if sole:
            return True
        answer = self._wait()
        return _BUFFER in answer and _TRUE not in answer

    def finish(self) -> None:
        """Wait for all answers, whose memory must last until then."""
        while self._asked and not self.broken:
            self._check(self._asked.popleft())

    def _ask(self, mark: int, numbers: Iterable[int]) -> None:
        """Ask all ranks, and look at an answer that nobody need wait for any more."""
        asked, count = self._asked, self._counters.matches
        match = Match([mark, *numbers])
        asked.append(_Question(mark, count, self._windows, match))
        self._counters.matches = count + 1
        if len(asked) > _LAG:
            oldest = asked.popleft()
            answer = self._check(oldest)
            if oldest.mark >= _WINDOW:
                self._remember(oldest.mark, answer)

    def _remember(self, mark: int, alive: set[int]) -> None:
        if len(self._alive) >= _MAX_WINDOWS and mark not in self._alive:
            self._alive.clear()
        self._alive[mark] = alive

    def _wait(self) -> set[int]:
        """Return the answer to what was asked last; none if the ranks differ."""
        self._counters.matches_awaited += 1
        answer: set[int] = set()
        for question in list(self._asked):
            answer = self._check(question)
        return answer

    def _check(self, question: _Question) -> set[int]:
        """Return an answer; none if the ranks have not asked the same."""
        answer = set() if self.broken else question.wait()
        if question.mark not in answer and not self.broken:
            self.broken = True
            self._pair(question.number + _LAG)
            say_once(
                f"the ranks' windows differ in window {question.windows}, so "
                "operations run unfused from there on; LEGATE_DIFFUSE_DUMP=decisions "
                "prints what each rank has decided"
            )
        return answer

    def _pair(self, last: int) -> None:
        """Ask as often as a rank may have done before it found a difference.

        Nobody waits for the answers, but Legion does for all ranks' questions.
        """
        for number in range(self._counters.matches, last + 1):
            match = Match([_NOTHING])
            self._asked.append(_Question(_NOTHING, number, self._windows, match))
