# SPDX-License-Identifier: Apache-2.0
"""Runs operations on small arrays as they come, while nothing waits before them.

To record an operation takes longer than to compute a few thousand elements. So where
all elements lie in this process, or nothing was written to them yet, the operation's
kernel runs at once (``mappers/process/at_once.h``). How it is to run, the planner of
windows says, the first time that the views look as they do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.ir.nest import ConstantSource
from legate_diffuse.ir.privilege import READ, REDUCE
from legate_diffuse.launch.few_points import has_few_points
from legate_diffuse.launch.planner import Planner
from legate_diffuse.launch.recognition import recognize
from legate_diffuse.launch.scalars import constant_bytes, scalar_bytes
from legate_diffuse.launch.small import SmallArrays
from legate_diffuse.launch.state import ALL_SINGLE, WindowState, close
from legate_diffuse.libraries.kind import Recognizer
from legate_diffuse.observe.wording import verb
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.form import form
from legate_diffuse.stores.layout import Layout, whole
from legate_diffuse.stores.legate import Legate
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View


class AtOnce:
    """Knows how operations run on small arrays.

    Args:
        legate: the real Legate.
        small: says which arrays are small.
        planner: plans an operation as a window of its own.
        has_kernels: finds or compiles a launch's kernels; False if there are none.

    Attributes:
        filled: what ran last, if it was a fill.
    """

    # native code reads this
    __slots__ = ("__dict__", "filled")

    def __init__(
        self,
        legate: Legate,
        small: SmallArrays,
        planner: Planner,
        has_kernels: Callable[[PlannedLaunch, list[Any], bool], bool],
    ) -> None:
        self._native = native = legate.native
        self._small = small
        self._planner = planner
        self._has_kernels = has_kernels
        self.filled: Filled | None = None
        # by the numbers of their kinds
        self._operations: dict[tuple[int, ...], Any] = {}
        if small.limit:
            native.know_stores(Root, View, Layout, small.limit)
            self._done = native.Answer.DONE
            self._unknown = native.Answer.UNKNOWN

    def take(self, operations: Sequence[Any], recognizer: Recognizer) -> bool:
        """Run operations, if they are on small arrays that nothing waits for."""
        if (
            not all(map(has_few_points, operations))
            or not all([recognize(each, recognizer) for each in operations])
            or not all([each.kind.covered for each in operations])
            or not self.run(operations)
        ):
            return False
        if len(operations) == 1 and type(operations[0]) is Fill:
            self.filled = Filled(operations[0])
        return True

    def run(self, operations: Sequence[Any]) -> bool:
        """Run operations, one after the other; False if they have to be recorded.

        Their kinds are known, and a kernel can express each of them.
        """
        if any([_reduces_constant(operation) for operation in operations]):
            return False
        native = self.native(operations)
        views = [view for operation in operations for view in operation.views]
        scalars = self.scalars(operations)
        answer = native.run(views, scalars)
        if answer is self._unknown:
            if not self._prepare(operations):
                return False
            answer = native.run(views, scalars)
        if answer is self._unknown:
            native.add(views, self.plan(operations, views))
            answer = native.run(views, scalars)
        return answer is self._done

    def run_known(self, native: Any, views: list[View], scalars: bytes) -> bool:
        """Run what native code knows; False if it cannot, or has not seen such views.

        The operations ran at once before, and a kernel expresses each of them.
        """
        return native.run(views, scalars) is self._done

    def native(self, operations: Sequence[Any]) -> Any:
        """Return what native code knows of operations of these kinds."""
        key = tuple([operation.kind.id for operation in operations])
        found = self._operations.get(key)
        if found is None:
            changes = [p != READ for each in operations for p in each.privileges]
            fills = sum([type(each) is Fill for each in operations])
            found = self._native.Operation(
                verb(operations[-1]), changes, len(operations), fills
            )
            self._operations[key] = found
        return found

    def _prepare(self, operations: Sequence[Any]) -> bool:
        """Let native code see what it needs of the views.

        False if a constant changes that may not be here.
        """
        for operation in operations:
            for view, privilege in zip(
                operation.views, operation.privileges, strict=True
            ):
                root = view.root
                if root.constant is not None:
                    value = constant_bytes(root)
                    if privilege == READ:
                        continue
                    if not self._small.may_be_here(root):
                        return False
                    root.small_array().put(value[: root.nbytes])
                    root.constant = None
                form(view.layout, root.shape)
        return True

    def plan(self, operations: Sequence[Any], views: list[View]) -> Any:
        """Return the loop nests of operations, none if they cannot run at once."""
        alone = WindowState()
        alone.single_below = ALL_SINGLE
        apart = _apart(views)
        alone.kept = frozenset([view.root for view in apart])
        left = iter(apart)
        for operation in operations:
            views_apart = [next(left) for _ in operation.views]
            kind, privileges = operation.kind, operation.privileges
            alone.add(_Apart(kind, privileges, operation.scalars, views_apart))
        window = close(alone, "")
        launch = self._planner.plan_nests(window)
        if launch is None:
            return ()
        if not self._has_kernels(launch, window.shapes, True):
            return ()
        counts = [_num_scalars(operation) for operation in operations]
        places = [apart.index(view) for view in window.views]
        return [
            (
                nest.kernel,
                _first_of_shape(apart, window.shapes[nest.nest.shape]),
                [places[number] for number in nest.nest.arguments],
                [argument.whole for argument in nest.nest.kernel.arguments],
                [
                    places[source.view]
                    if isinstance(source, ConstantSource)
                    else source.position - sum(counts[source.task + 1 :])
                    for source in nest.nest.scalars
                ],
            )
            for nest in launch.nests
        ]

    def scalars(self, operations: Sequence[Any]) -> bytes:
        """Return the scalars that are values of the operations' own."""
        return b"".join(
            [
                scalar_bytes(self._native, value)
                for operation in operations
                if (count := _num_scalars(operation))
                for value, _ in operation.scalars[-count:]
            ]
        )


class _Apart(NamedTuple):
    """An operation on other views."""

    kind: Any
    privileges: Sequence[int]
    scalars: Sequence[Any]
    views: list[View]


def _reduces_constant(operation: Any) -> bool:
    """Whether the extents of an operation's loops may be those of a constant.

    Native code does not look at what a constant repeats over.
    """
    privileges = operation.privileges
    return max(privileges) >= REDUCE and any(
        [
            privilege == READ and view.root.constant is not None
            for privilege, view in zip(privileges, operation.views, strict=True)
        ]
    )


def _apart(views: list[View]) -> list[View]:
    """Return views of which two have one root only if they have one layout, too.

    What is planned for them is right for views of different roots. Views that share a
    part of the elements of a root that changes do not run at once.
    """
    known: dict[tuple[Root, Layout], View] = {}
    roots: set[Root] = set()
    found = []
    for view in views:
        root = view.root
        key = root, view.layout
        if key not in known:
            known[key] = view
            if root in roots:
                known[key] = View(_twin(root), view.layout)
            roots.add(root)
        found.append(known[key])
    return found


def _twin(root: Root) -> Root:
    """Return a root of which the same is known."""
    layout = whole(root.shape)
    made = Root(
        root.legate, root.type, root.dtype, layout, root.scalar_storage, root.initial
    )
    made.constant, made.real, made.small = root.constant, root.real, root.small
    return made


def _first_of_shape(views: list[View], shape: Any) -> int:
    """Return the number of the view that tells a nest's shape."""
    numbers = [number for number, view in enumerate(views) if view.shape == shape]
    return min(numbers, key=lambda number: views[number].root.scalar_storage)


def _num_scalars(operation: Any) -> int:
    """Return how many of an operation's scalars are values of its own."""
    kind = operation.kind.operation
    reads = sum(privilege == READ for privilege in operation.privileges)
    return len(kind.inputs) + len(kind.scalars) - int(reads)


class Filled:
    """A fill that ran at once, and the state of its target after it."""

    __slots__ = ("fill", "version")

    def __init__(self, fill: Fill) -> None:
        self.fill = fill
        self.version = fill.views[0].root.version

    def is_reduced_by(self, operation: Any) -> bool:
        """Whether an operation reduces to the target, which is as it was filled."""
        root = self.fill.views[0].root
        return root.version == self.version and any(
            view.root is root and privilege >= REDUCE
            for view, privilege in zip(
                operation.views, operation.privileges, strict=False
            )
        )
