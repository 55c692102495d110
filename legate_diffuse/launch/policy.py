# SPDX-License-Identifier: Apache-2.0
"""Where a window ends if nothing else ends it.

Windows must end at the same places of the program's loop in every iteration, or no
window would come twice. A full window is cut where the fewest arrays are in use:
between two statements, or even between two iterations. Where arrays are partitioned, a
sum of all elements ends a task in any case; a cut elsewhere makes two tasks of one,
which costs as much as two arrays that cross it. Among equal places, one where a window
was cut before wins. The operations before the cut are remembered, and a window that
begins with them ends there at once. (Apophenia, arXiv 2406.18111, has this aim.)

A window is full as soon as it holds a loop's body a few times. So one that does not
repeat itself goes on, until a step of a long loop is in it. Where such a step has loops
of its own, it falls into windows that come again and again, in the same order. From
then on a window may hold the whole step, too.

Operations on few elements run faster as they come than in a window. So a window ends
after many of them in a row, where what runs as it comes can: the more, the larger the
arrays are that they use and that others in the window have made.

Nothing here depends on time, addresses or hashes: all ranks cut alike.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

from legate_diffuse.ir.privilege import REDUCE
from legate_diffuse.launch.state import WindowState

# At least so many operations wait, unless the window is known to end before.
CAPACITY: Final = 192
# Without a long loop a full window is cut after about this many operations: more than
# most loop bodies have (Black-Scholes has 67), and few enough to keep kernels small.
_PREFERRED: Final = CAPACITY // 2
# No window is cut to fewer.
_LEAST: Final = CAPACITY // 3
# Steps of loops have at most so many operations (shallow_water's have 487, those of
# multigrid 896) in at most so many windows. To plan a thousand takes 0.2 s.
_MAX_STEP: Final = 1024
_MAX_WINDOWS: Final = 32
# How many arrays more may cross a cut that makes two tasks of one.
_SPLIT: Final = 2
# At most so many windows are remembered.
_MAX_KNOWN: Final = 4096
# How often is looked, in operations, whether a window repeats itself.
_INTERVAL: Final = 64
# After so many operations in a row that could run as they come a window ends. To end it
# takes as long as to run that many more.
MANY_SHORT: Final = 32
# An operation that waits takes up to 10 us more than one that runs as it comes, while
# so many bytes are written, and read again.
_WORTH_AN_OPERATION: Final = 131072
# So many operations identify a place in the program.
_CONTEXT: Final = 16


class WindowPolicy:
    """Decides where windows end.

    Windows of fewer operations than ``capacity`` are not full.

    Args:
        is_short: whether an operation would run as it comes if it had not to wait;
            None if no operation does.
    """

    def __init__(self, is_short: Callable[[Any], bool] | None = None) -> None:
        self._is_short = is_short
        self.capacity = CAPACITY
        self._preferred = _PREFERRED
        # what windows were cut to, as kinds of operations: by the last kind and length
        self._known: dict[tuple[int, int], set[tuple[int, ...]]] = {}
        # windows of other lengths need not be asked about
        self.lengths: set[int] = set()
        self._count = 0
        # the kinds of the last operations before a cut
        self._places: set[tuple[int, ...]] = set()
        # the last windows, as kinds of operations
        self._last: deque[tuple[int, ...]] = deque(maxlen=2 * _MAX_WINDOWS)
        # how many of them, up to the last one, have sums of partitioned arrays
        self._summing = 0
        # whether launches of those before them were split
        self._split: deque[bool] = deque(maxlen=2 * _MAX_WINDOWS)

    def end_where_full(self, state: WindowState, count: int) -> None:
        """End a window that is full, or known to end after its last operation."""
        if count in self.lengths and self.ends_at(state.operations):
            state.ended = state.awaits = True
        elif count >= self.capacity and self.is_full(state.operations):
            state.ended = True
        elif count % MANY_SHORT == 0 and self._ends_short(state):
            state.ended = state.ended_short = True

    def _ends_short(self, state: WindowState) -> bool:
        is_short, operations = self._is_short, state.operations
        last = operations[-MANY_SHORT:]
        if is_short is None or not all(map(is_short, reversed(last))):
            return False
        # what others have made of them must be in memory then, and is read again
        used = {view.root for operation in last for view in operation.views}
        made = sum([root.nbytes for root in used if state.makes(root)])
        many = max(made // _WORTH_AN_OPERATION, MANY_SHORT)
        if many > len(operations):
            return False
        return all(map(is_short, operations[-many:-MANY_SHORT]))

    def ends_at(self, operations: list[Any]) -> bool:
        """Whether a window ends after the operations that were recorded."""
        if not operations:
            return False
        known = self._known.get((operations[-1].kind.id, len(operations)))
        return known is not None and kinds_of(operations) in known

    def is_full(self, operations: list[Any]) -> bool:
        """Whether a window is to be cut."""
        more = len(operations) - self.capacity
        if more < 0:
            return False
        if self._preferred > _PREFERRED or more >= _MAX_STEP:
            return True
        return more % _INTERVAL == 0 and length_of_body(operations) > 0

    def cut(
        self,
        operations: list[Any],
        alive: Mapping[Any, bool] | None = None,
        *,
        partitioned: bool = False,
    ) -> int:
        """Return how many operations of a full window to submit.

        The rest starts the next window. ``alive`` says of each root whether it is;
        without it, the roots do.
        """
        length = len(operations)
        temporaries, arrays = _in_use(operations, alive)
        if partitioned:
            for count, operation in enumerate(operations, 1):
                temporaries[count] += 0 if sums_up(operation) else _SPLIT
        # at the window's end it is not known yet what is in use
        places = range(_LEAST, 3 * length // 4 + 1)
        kinds = kinds_of(operations)
        preferred = max(self._preferred, _body(kinds))
        best = min(
            places,
            key=lambda cut: (
                temporaries[cut],
                arrays[cut],
                kinds[cut - _CONTEXT : cut] not in self._places,
                # the preferred length or less, as near to it as possible
                cut > preferred,
                abs(cut - preferred),
            ),
        )
        if self._count >= _MAX_KNOWN:
            self._forget()
        place = operations[best - 1].kind.id, best
        self._known.setdefault(place, set()).add(kinds[:best])
        self.lengths.add(best)
        self._places.add(kinds[best - _CONTEXT : best])
        self._count += 1
        return best

    def ended(
        self, kinds: tuple[int, ...], sums: bool = False, *, split: bool = False
    ) -> None:
        """Take note of a window of operations of these kinds, whatever has ended it.

        If it ends a step of a long loop, windows are cut anew, in steps; not where
        all of them have ``sums`` of partitioned arrays, which end tasks anyway: a step
        would have at most one task less for each, and takes far longer to plan. Nor
        where a launch was ``split`` since the window before.
        """
        last = self._last
        alike = bool(last) and last[-1] == kinds
        last.append(kinds)
        self._split.append(split)
        if alike:
            # as in ``_step``: nothing would be gained
            self._summing += self._summing > 0
            return
        self._summing = self._summing + 1 if sums else 0
        # the step's end must be a place where a full window may be cut
        step = _step(last, self._summing, self._split)
        capacity = 4 * step // 3 + _CONTEXT
        if capacity > self.capacity:
            self.capacity = capacity
            self._preferred = step
            self._forget()

    def _forget(self) -> None:
        self._known.clear()
        self.lengths.clear()
        self._places.clear()
        self._count = 0


def length_of_body(operations: Sequence[Any]) -> int:
    """Return how many of the last operations a loop repeats, 0 if none does."""
    return _body(kinds_of(operations))


def _body(kinds: tuple[int, ...]) -> int:
    """Return the length of the body of the loop at a window's end, 0 without one.

    The window's last operations have come twice before then, at equal distances.
    """
    length = len(kinds)
    last = kinds[-_CONTEXT:]
    for body in range(1, (length - _CONTEXT) // 2 + 1):
        once, twice = length - body, length - 2 * body
        if kinds[once - _CONTEXT : once] == last == kinds[twice - _CONTEXT : twice]:
            return body
    return 0


def _step(last: Sequence[tuple[int, ...]], summing: int, split: Sequence[bool]) -> int:
    """Return how many operations a step of the loop has to which windows belong.

    0 if they have come for the first time, or most of them are alike, as those of short
    loops are, or all are among the last ``summing`` ones, or launches were ``split``:
    nothing is gained if these are longer.
    """
    for count in range(1, len(last) // 2 + 1):
        if last[-1 - count] != last[-1]:
            continue
        windows = list(last)[-2 * count :]
        step = windows[count:]
        if step == windows[:count]:
            length = sum(map(len, step))
            if any(list(split)[-2 * count :]):
                return 0
            differ = max(1, summing) < count <= 2 * len(set(step))
            return length if differ and length <= _MAX_STEP else 0
    return 0


def kinds_of(operations: Sequence[Any]) -> tuple[int, ...]:
    """Return the numbers of the kinds of operations."""
    return tuple([operation.kind.id for operation in operations])


def sums_up(operation: Any) -> bool:
    """Whether an operation reduces to a single element, as sums do."""
    if max(operation.privileges, default=0) < REDUCE:
        return False
    reduced = [
        view.root.scalar_storage
        for privilege, view in zip(operation.privileges, operation.views, strict=True)
        if privilege >= REDUCE
    ]
    return any(reduced)


def _in_use(
    operations: list[Any], alive: Mapping[Any, bool] | None
) -> tuple[list[int], list[int]]:
    """Return for each cut how many arrays are used on both sides of it.

    Those that are dead come first, then all of them.
    """
    first: dict[Any, int] = {}
    last: dict[Any, int] = {}
    for position, operation in enumerate(operations):
        for view in operation.views:
            if not view.root.scalar_storage:
                first.setdefault(view.root, position)
                last[view.root] = position
    dead = [0] * (len(operations) + 1)
    every = [0] * (len(operations) + 1)
    for root, start in first.items():
        lives = root.alive if alive is None else alive[root]
        for change in (every,) if lives else (every, dead):
            change[start + 1] += 1
            change[last[root] + 1] -= 1
    return list(accumulate(dead)), list(accumulate(every))
