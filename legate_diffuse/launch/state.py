# SPDX-License-Identifier: Apache-2.0
"""What is known of the operations that wait in a window.

While operations are recorded, the window's key grows: what the plan depends on, with
views, roots and shapes renumbered in the order of first appearance, and never an
extent or a scalar's value. What may change about a root is taken down when it first
appears, and the plan sees that only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from legate_diffuse.launch.relations import find_covers
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import Shape, View

# What was taken down of a root: bits of its facts, and of a view's flags in the key.
_SCALAR: Final = 1 << 3
_CONSTANT: Final = 1 << 4
_SINGLE: Final = 1 << 7
_UNDEFINED: Final = 1 << 8

# What follows in the key: a new view, the liveness of the roots, disjoint views, the
# parts that contain a view.
_VIEW: Final = -1
_LIVENESS: Final = -2
_DISJOINT: Final = -3
_WITHIN: Final = -4


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
        rest: operations that were recorded after the window, which was cut.
        key: what their plan depends on, but for the roots' liveness.
        views: number of each view, in the order of first appearance.
        roots: number of each root.
        shapes: number of each shape.
        facts: what was true of each root when it first appeared.
        single_below: tasks over roots of fewer elements run on one processor.
        carried: operations at the start that an earlier window has let wait.
        kept: roots that operations after the window use.
        parts: views of parts of roots that are changed.
        disjoint: for some of them, numbers of views with which they have nothing in
            common.
    """

    __slots__ = (
        "carried",
        "count",
        "disjoint",
        "ended",
        "facts",
        "kept",
        "key",
        "operations",
        "parts",
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
        self.rest: tuple[Any, ...] = ()
        self.key: list[int] = []
        self.views: dict[View, int] = {}
        self.roots: dict[Root, int] = {}
        self.shapes: dict[Shape, int] = {}
        self.facts: list[int] = []
        self.single_below = 0
        self.carried = 0
        self.kept: frozenset[Root] = frozenset()
        self.parts: list[View] = []
        self.disjoint: dict[View, list[int]] = {}

    def add(self, operation: Any) -> None:
        """Take an operation in; it is not recorded before ``count`` has grown."""
        views, key = self.views, self.key
        kind = operation.kind
        key.append(kind.id)
        for view in operation.views:
            slot = views.get(view)
            if slot is None:
                slot = self._describe(view)
            key.append(slot)
        for position in kind.changed:
            view = operation.views[position]
            if view.layout.extents != view.root.shape and view not in self.parts:
                self._describe_part(view)
        self.operations.append(operation)

    def is_constant(self, root: Root) -> bool:
        """Whether recorded operations read a root as a constant."""
        number = self.roots.get(root)
        return number is not None and bool(self.facts[number] & _CONSTANT)

    def _describe(self, view: View) -> int:
        """Number a view, and add to the key what the plan depends on in it."""
        views, roots = self.views, self.roots
        slot = views[view] = len(views)
        root, layout = view.root, view.layout
        number = roots.get(root)
        if number is None:
            number = roots[root] = len(roots)
            scalar = root.scalar_storage
            facts = (
                scalar * _SCALAR
                | (root.constant is not None) * _CONSTANT
                | (root.volume < self.single_below) * _SINGLE
                # nothing was written yet; a single element is written as a whole
                | (not scalar and root.real is None) * _UNDEFINED
            )
            self.facts.append(facts)
        else:
            facts = self.facts[number]
        self.key += (
            _VIEW,
            number,
            self.shapes.setdefault(view.shape, len(self.shapes)),
            facts
            | min(layout.volume, 2)
            | layout.inner_broadcast << 2
            | layout.affine << 5
            | (layout.extents == root.shape) << 6
            | layout.untransformed << 9,
        )
        for part in self.parts:
            if part.root is root:
                self._compare(part, view)
        return slot

    def _describe_part(self, part: View) -> None:
        """Add to the key which views a part of a root overlaps that is changed."""
        for view in self.views:
            if view.root is part.root and view is not part and view not in self.parts:
                self._compare(part, view)
        self.parts.append(part)

    def _compare(self, part: View, view: View) -> None:
        if part.layout.is_disjoint_from(view.layout):
            self.disjoint.setdefault(part, []).append(self.views[view])
            self.key += (_DISJOINT, self.views[part], self.views[view])


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
        disjoint: for some views, numbers of views with which they have nothing in
            common.
        within: for some views, numbers of the parts that together contain them.
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
    disjoint: dict[View, list[int]]
    within: dict[View, tuple[int, ...]]
    cause: str

    def is_constant(self, root_number: int) -> bool:
        """Whether a root is a constant that nothing has changed."""
        return bool(self.facts[root_number] & _CONSTANT)

    def is_single(self, root_number: int) -> bool:
        """Whether tasks over a root run on one processor."""
        return bool(self.facts[root_number] & _SINGLE)

    def is_undefined(self, root_number: int) -> bool:
        """Whether nothing was written to a root before the window."""
        return bool(self.facts[root_number] & _UNDEFINED)

    def spells_operations(self) -> bool:
        """Whether the key was computed from the operations, and no others."""
        numbers = {view: number for number, view in enumerate(self.views)}
        expected: list[int] = []
        for operation in self.operations:
            expected.append(operation.kind.id)
            expected += [numbers.get(view, -1) for view in operation.views]
        return expected == list(_numbers_in(self.key))


def close(state: WindowState, cause: str) -> ClosedWindow:
    """Take down what the plan of a window depends on that has ended."""
    kept = state.kept
    roots = list(state.roots)
    alive = [root.alive or root.escaped or root in kept for root in roots]
    within = find_covers(state)
    covers = [
        entry
        for view, parts in within.items()
        for entry in (_WITHIN, state.views[view], *parts)
    ]
    return ClosedWindow(
        state.operations,
        (*state.key, _LIVENESS, state.carried, *alive, *covers),
        list(state.views),
        roots,
        list(state.shapes),
        state.facts,
        alive,
        state.carried,
        state.disjoint,
        within,
        cause,
    )


def _numbers_in(key: Iterable[int]) -> Iterable[int]:
    """Yield what a key says of the operations, without what it says of the views."""
    numbers = iter(key)
    skipped = {_VIEW: 3, _DISJOINT: 2}
    for number in numbers:
        if number == _LIVENESS:
            return
        if number < 0:
            for _ in range(skipped[number]):
                next(numbers)
        else:
            yield number
