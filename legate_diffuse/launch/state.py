# SPDX-License-Identifier: Apache-2.0
"""What is known of the operations that wait in a window.

While operations are recorded, the window's key grows: all that its plan depends on, as
a sequence of numbers. It is the canonical form of the window, off which the IR is read
(``fusion/translate.py``). What is numbered is numbered in the order of first
appearance, and what a number stands for is told where it first appears::

    operation: KIND view...
    view:      number   or, the first time, NEW_VIEW root shape OUTLINE places...
    root:      number   or, the first time, number DTYPE FACTS
    shape:     number   or, the first time, number POINTS

``OUTLINE`` and the places are those of ``stores/outline.py`` and ``ir/landmarks.py``.
No extent is in a key, nor a position that is far from others, nor a scalar's value.
What may change about a root is taken down when it first appears, and the plan sees that
only.

Follows: Legate (src/cpp/legate/runtime/detail)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from legate_diffuse.fusion.translate import (
    CONSTANT,
    DTYPES,
    FIXED,
    NEW_VIEW,
    REPLICATED,
    SINGLE,
    UNDEFINED,
    spells,
)
from legate_diffuse.ir.landmarks import Landmarks
from legate_diffuse.launch.few_points import MOST_LOOPED
from legate_diffuse.stores.outline import Placed, place
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import Shape, View

# The numbers of types, by their names.
DTYPE: Final[dict[str | None, int]] = {
    name: number for number, name in enumerate(DTYPES)
}
# What follows in the key of a window that has ended: the liveness of the roots.
_LIVENESS: Final = -2
ALL_SINGLE: Final = 1 << 62  # elements; no array has as many
# Our tasks over arrays of fewer elements run on one processor, whatever Legate does:
# of these points would share as much as each has of its own.
TINY: Final = 16


def partitioned_from(pieces: int, threshold: int) -> int:
    """Return from how many elements on arrays are partitioned.

    Legate partitions them into so many ``pieces``, from a ``threshold`` on. Source:
    ``PartitionManager::compute_launch_shape``
    (``src/cpp/legate/runtime/detail/partition_manager.cc``).
    """
    return ALL_SINGLE if pieces == 1 else max(threshold, TINY)


class WindowState:
    """What has been recorded since the last window ended.

    Recording changes the lists and dictionaries in many steps. It is under way while
    ``recording`` is true, and has happened when ``count`` has grown: see
    ``LaunchWindow``. Nothing changes any more once the window has ended.

    Attributes:
        operations: the operations, in program order.
        count: how many of them are recorded.
        recording: an operation is being recorded, or its recording was broken off.
        ended: the window must be submitted before the next operation is recorded.
        ended_short: it has ended because its last operations are on few elements.
        awaits: it has ended where such windows do, and takes one operation more into
            ``rest``: what that one's result replaces in the program is dead then.
        rest: operations that were recorded after the window, which was cut.
        key: what their plan depends on, but for the roots' liveness.
        views: number of each view, in the order of first appearance.
        roots: number of each root.
        shapes: number of each shape.
        facts: what was true of each root when it first appeared.
        single_below: tasks over roots of fewer elements run on one processor.
        carried: operations at the start that an earlier window has let wait.
        kept: roots that operations after the window use.
        agreed: whether each root can be read after the window, once several ranks have
            agreed on it.
    """

    __slots__ = (
        "_changed",
        "_landmarks",
        "_made",
        "_num_looked_at",
        "_ranged",
        "agreed",
        "awaits",
        "carried",
        "count",
        "ended",
        "ended_short",
        "facts",
        "kept",
        "key",
        "operations",
        "recording",
        "rest",
        "roots",
        "shapes",
        "single_below",
        "views",
    )

    def __init__(self) -> None:
        self.operations: list[Any] = []
        self.count = 0
        self.recording = False
        self.ended = False
        self.ended_short = False
        self.awaits = False
        self.rest: tuple[Any, ...] = ()
        self.key: list[int] = []
        self.views: dict[View, int] = {}
        self.roots: dict[Root, int] = {}
        self.shapes: dict[Shape, int] = {}
        self.facts: list[int] = []
        self.single_below = 0
        self.carried = 0
        self.kept: frozenset[Root] = frozenset()
        self.agreed: list[bool] | None = None
        # by root and dimension
        self._landmarks: dict[tuple[Root, int], Landmarks] = {}
        # roots and their dimensions that are seen through ranges
        self._ranged: set[tuple[Root, int]] = set()
        # what the first operations change, and how many have been looked at
        self._changed: set[Root] = set()
        self._made: set[Root] = set()
        self._num_looked_at = 0

    def forget(self) -> None:
        """Drop all arrays, once the steps of the window are known."""
        self.operations = []
        self.views, self.roots = {}, {}
        self.kept = frozenset()
        self._landmarks, self._ranged = {}, set()
        self._changed, self._made = set(), set()

    def end_before(self, rest: Sequence[Any]) -> None:
        """Let the window end before operations that were recorded already."""
        self.ended = True
        self.rest = tuple(rest)
        self.kept = frozenset(view.root for each in rest for view in each.views)

    def add(self, operation: Any) -> None:
        """Take an operation in; it is not recorded before ``count`` has grown.

        Native code does the same (``mappers/process/record.cc``).
        """
        views, key = self.views, self.key
        key.append(operation.kind.id)
        for view in operation.views:
            number = views.get(view)
            if number is None:
                self._describe(view)
            else:
                key.append(number)
        self.operations.append(operation)

    def changes(self, root: Root) -> bool:
        """Whether an operation may change a root."""
        end = len(self.operations)
        for operation in self.operations[self._num_looked_at : end]:
            for position in operation.kind.changed:
                view = operation.views[position]
                self._changed.add(view.root)
                if view.layout.volume > MOST_LOOPED:
                    self._made.add(view.root)
        # a finalizer may have asked meanwhile
        self._num_looked_at = max(self._num_looked_at, end)
        return root in self._changed

    def makes(self, root: Root) -> bool:
        """Whether an operation may change many elements of a root."""
        return self.changes(root) and root in self._made

    def is_constant(self, root: Root) -> bool:
        """Whether recorded operations read a root as a constant."""
        number = self.roots.get(root)
        return number is not None and bool(self.facts[number] & CONSTANT)

    def _facts_of(self, root: Root) -> int:
        """Return what the plan depends on in a root."""
        facts = SINGLE if root.volume < self.single_below else 0
        if root.constant is not None:
            facts |= CONSTANT
        if root.scalar_storage:
            # it is written as a whole, and moves with its future
            return facts | REPLICATED
        # whether shared memory is still held was looked at when the operation came;
        # nobody asks where lent memory lies that is not partitioned
        if root.escaped or (root.shared and not facts & SINGLE):
            facts |= FIXED
        if root.undefined:
            facts |= UNDEFINED
        return facts

    def _describe(self, view: View) -> None:
        """Number a view, and add to the key what the plan depends on in it."""
        key, roots, shapes = self.key, self.roots, self.shapes
        root, layout = view.root, view.layout
        placed = layout.placed or place(layout, root.shape)
        self.views[view] = len(self.views)
        number = roots.get(root)
        if number is None:
            number = roots[root] = len(roots)
            facts = self._facts_of(root)
            self.facts.append(facts)
            key += (NEW_VIEW, number, DTYPE[root.dtype], facts)
        else:
            key += (NEW_VIEW, number)
        number = shapes.get(view.shape)
        if number is None:
            number = shapes[view.shape] = len(shapes)
            key += (number, layout.points, placed.outline)
        else:
            key += (number, placed.outline)
        if placed.ranged or placed.free:
            self._locate(root, placed)

    def _locate(self, root: Root, placed: Placed) -> None:
        """Add to the key where a new view lies between landmarks of its root."""
        key = self.key
        for dim in placed.ranged:
            self._ranged.add((root, dim))
        for dim, value, point in placed.free:
            landmarks = self._landmarks.get((root, dim))
            if landmarks is None:
                landmarks = self._landmarks[root, dim] = Landmarks()
            if point:
                ranged = dim > 0 and (root, dim) in self._ranged
                key += landmarks.encode_point(value, root.shape[dim], ranged)
            else:
                key += landmarks.encode_range(value)


class ClosedWindow(NamedTuple):
    """A window that has ended, with all that its plan depends on, taken down at once.

    Attributes:
        operations: the operations, in program order.
        key: what their plan depends on.
        views: the views, by number.
        roots: the roots, by number.
        shapes: the shapes, by number.
        facts: what was true of each root when it first appeared.
        alive: whether each root can be read after the window.
        carried: operations at the start that an earlier window has let wait.
        cause: what ended the window.
    """

    operations: list[Any]
    key: tuple[int, ...]
    views: list[View]
    roots: list[Root]
    shapes: list[Shape]
    facts: list[int]
    alive: list[bool]
    carried: int
    cause: str

    def is_constant(self, root_number: int) -> bool:
        """Whether a root is a constant that nothing has changed."""
        return bool(self.facts[root_number] & CONSTANT)

    def spells_operations(self) -> bool:
        """Whether the key was computed from the operations, and no others."""
        return spells(self.key, self.operations, self.views)


def liveness(state: WindowState) -> list[bool]:
    """Return whether each root of a window can be read after it."""
    kept = state.kept
    return [root.alive or root.escaped or root in kept for root in state.roots]


def record(operations: Sequence[Any], single_below: int, carried: int) -> WindowState:
    """Return the state of a window in which these operations are recorded."""
    state = WindowState()
    state.single_below = single_below
    state.carried = carried
    for operation in operations:
        state.add(operation)
    state.count = len(operations)
    return state


def close(
    state: WindowState,
    cause: str,
    decide: Callable[[WindowState], list[bool]] = liveness,
) -> ClosedWindow:
    """Take down what the plan of a window depends on that has ended.

    ``decide`` says which roots can be read after it.
    """
    alive = decide(state)
    return ClosedWindow(
        state.operations,
        (*state.key, _LIVENESS, state.carried, *alive),
        list(state.views),
        list(state.roots),
        list(state.shapes),
        state.facts,
        alive,
        state.carried,
        cause,
    )
