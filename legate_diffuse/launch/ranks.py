# SPDX-License-Identifier: Apache-2.0
"""What several ranks agree on, so that they submit the same tasks.

All ranks run one program and decide alike on what it does. Some facts belong to one
rank: which arrays it can still reach, whether it could compile a kernel. They count
only where all ranks have them. Ranks take part in the same agreements in the same
order, as their windows end in the same places.

Legate does so with the fields that its ranks free (``ConsensusMatchingFieldManager``).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

from legate_diffuse.launch.state import WindowState, liveness
from legate_diffuse.messages import say

# Where ranks agree on something, the first number says on what. Of others it is less.
_WINDOW: Final = 1 << 63
_KERNELS: Final = _WINDOW - 1
_BUFFER: Final = _WINDOW - 2
# A fact that a rank has.
_TRUE: Final = 0


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


class Agreement:
    """Lets what one rank knows count where all ranks know it.

    Attributes:
        broken: the ranks' windows have differed. From then on nothing is fused, and
            nothing agreed on: unfused ranks need only submit the same operations.
    """

    def __init__(self) -> None:
        self.broken = False
        # how many windows have been agreed on
        self._windows = 0

    def liveness(self, state: WindowState) -> list[bool]:
        """Return whether each root of a window can be read after it, on any rank.

        The window has ended, or is about to be cut. Memory that no rank's application
        holds any more is not shared from then on.
        """
        found = state.agreed
        if found is None:
            alive = liveness(state)
            self._windows += 1
            mark = _WINDOW | hash((*state.key, state.carried, state.count))
            roots = list(state.roots)
            count = len(roots)
            facts = [number for number, live in enumerate(alive) if not live]
            facts += [
                count + number
                for number, root in enumerate(roots)
                if root.shared and not root.is_held()
            ]
            common = self._match(mark & (2 * _WINDOW - 1), facts)
            for number, root in enumerate(roots):
                if count + number in common:
                    root.is_shared()
            found = state.agreed = [number not in common for number in range(count)]
        return found

    def on_kernels(self, ready: bool) -> bool:
        """Whether all ranks have the kernels of a launch."""
        return _TRUE in self._match(_KERNELS, [_TRUE] * ready)

    def on_buffer(self, sole: bool) -> bool:
        """Whether no rank's program can reach the buffer of a new array."""
        return _TRUE in self._match(_BUFFER, [_TRUE] * sole)

    def _match(self, mark: int, numbers: Iterable[int]) -> set[int]:
        """Return the numbers of all ranks; none if they agree on different things."""
        if self.broken:
            return set()
        common = Match([mark, *numbers]).wait()
        if mark not in common:
            self.broken = True
            say(
                f"the ranks' windows differ in window {self._windows}, so operations "
                "run unfused from there on; LEGATE_DIFFUSE_DUMP=decisions prints "
                "what each rank has decided"
            )
        return common - {mark}
