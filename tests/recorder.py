# SPDX-License-Identifier: Apache-2.0
"""Records windows of stand-ins without Legate, to look at their keys and their IR."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from types import SimpleNamespace
from typing import Any

from legate_diffuse.fusion.translate import translate
from legate_diffuse.ir import OperationKind, Window
from legate_diffuse.ir.nest import Nest
from legate_diffuse.ir.privilege import READ, WRITE
from legate_diffuse.launch import state as launch_state
from legate_diffuse.launch.state import WindowState, close
from legate_diffuse.launch.window import LaunchWindow
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS
from legate_diffuse.libraries.kind import Kind
from legate_diffuse.stores.layout import Layout, whole
from legate_diffuse.stores.legate import Legate
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View, over

# the windows have no native part that holds small arrays
os.environ.setdefault("LEGATE_DIFFUSE_SMALL_BYTES", "0")
# nor are there arrays that are in one piece, if machines do not have them so
vars(launch_state)["TINY"] = 0

_kinds: dict[tuple[OperationKind, tuple[int, ...]], Kind] = {}


def kind_of(operation: OperationKind, privileges: tuple[int, ...]) -> Kind:
    """Return the kind of an operation, numbered as the recognizer does."""
    changed = tuple(n for n, privilege in enumerate(privileges) if privilege != READ)
    new = Kind(len(_kinds), operation, changed, pointwise=True, covered=True)
    return _kinds.setdefault((operation, privileges), new)


@dataclass
class Operation:
    """What the window needs of a stand-in task."""

    kind: Kind
    views: list[View]
    privileges: tuple[int, ...]
    scalars: list[Any] = field(default_factory=list)


@dataclass
class Machine:
    """Stands in for the native part: how many processors there are."""

    pieces: int = 2
    threshold: int = 0

    def scope_runs_kernels(self) -> bool:
        """Return whether tasks run where kernels do."""
        return True

    def kernels_run_in_process(self) -> bool:
        """Return whether the program's thread can run kernels."""
        return True

    def launch_policy(self) -> tuple[int, int]:
        """Return what Legate's scope says."""
        return self.pieces, self.threshold

    def memory_of_kernels(self) -> int:
        """Return how many bytes Legate has."""
        return 2**30

    def num_threads(self) -> int:
        """Return how many threads share the loops of a task."""
        return 1

    def set_num_threads(self, threads: int) -> None:
        """Leave it at one."""

    def set_cache_bytes(self, size: int) -> None:
        """Block no loops."""

    def set_pending(self, pending: bool) -> None:
        """Nobody asks."""

    def set_flush_callback(self, callback: Callable[[], object]) -> None:
        """Nobody calls."""


class Runtime:
    """Stands in for Legate's runtime, of one process."""

    node_count = 1
    node_id = 0

    @staticmethod
    def config() -> SimpleNamespace:
        """Return a configuration in which nothing is traced."""
        return SimpleNamespace(provenance=False, profile=False)


class Recorder:
    """Records the operations of one window.

    ``finish`` returns the key under which its plan is remembered, and its IR.
    """

    def __init__(self, machine: Machine | None = None) -> None:
        legate = Legate(Runtime(), machine or Machine(), *[object] * 4)
        self.window = LaunchWindow(legate, None, MEANINGS)
        self._owners: list[object] = []
        self._found: tuple[tuple[int, ...], Window] | None = None

    def array(
        self,
        *shape: int,
        dtype: str = "float64",
        live: bool = True,
        made: bool = True,
        constant: Any = None,
        scalar: bool = False,
    ) -> View:
        """Make an array; ``made`` if Legate has it already."""
        root = Root(None, None, dtype, whole(shape), scalar, constant)
        root.real = object() if made else None
        if live:
            self._owners.append(root.owner)
        return View(root, root_layout(root))

    def scalar(self, **how: Any) -> View:
        """Make a future."""
        return self.array(scalar=True, **how)

    def task(
        self,
        name: str,
        views: Sequence[View],
        privileges: Sequence[int] | None = None,
        scalars: Sequence[str] = (),
    ) -> Operation:
        """Record a task that writes its first view and reads the others."""
        task, _, code = name.partition(".")
        privileges = tuple(privileges or (WRITE, *[READ] * (len(views) - 1)))
        typed = list(zip(privileges, (str(v.root.dtype) for v in views), strict=True))
        inputs = tuple(dtype for privilege, dtype in typed if privilege == READ)
        kind = OperationKind(
            task,
            code,
            inputs or tuple(scalars[:1]),
            tuple(dtype for privilege, dtype in typed if privilege != READ),
            tuple(scalars if inputs else scalars[1:]),
        )
        operation = Operation(kind_of(kind, privileges), list(views), privileges)
        state = self.window.state
        if not state.count:
            state.single_below = self.window.single_below()
        state.add(operation)
        state.count += 1
        return operation

    @property
    def roots(self) -> list[Root]:
        """The roots that the operations use, by number."""
        return list(self.window.state.roots)

    def finish(self, carried: int = 0) -> tuple[tuple[int, ...], Window]:
        """End the window."""
        state, self.window.state = self.window.state, WindowState()
        state.carried = carried
        closed = close(state, "test")
        assert closed.spells_operations()
        self._found = closed.key, translate(closed, MEANINGS)
        return self._found


def nests_of(window: Window, stores: Sequence[int]) -> list[Nest]:
    """Return a nest for each task of a window, whose stores get other numbers."""
    renumbered = {s.id: replace(s, id=stores[s.id]) for s in window.stores}
    return [
        Nest(
            number,
            task.shape,
            task.accesses[0].view.points,
            tuple(
                replace(a, view=replace(a.view, store=renumbered[a.view.store.id]))
                for a in task.accesses
            ),
        )
        for number, task in enumerate(window.tasks)
    ]


def root_layout(root: Root) -> Any:
    """Return the layout of a whole root."""
    return whole(root.shape)


def part(view: View, start: int, stop: int, dim: int = 0) -> View:
    """Return a slice of a view, the same object for the same slice."""
    found = view.slice(dim, start, stop)
    assert found is not None
    return found


def spread(view: View, like: View) -> View:
    """Return a one-element view repeated over a shape."""
    return over(view, like.shape)


def elements_of(layout: Layout, extents: tuple[int, ...]) -> tuple[int, ...]:
    """Return the element of the root behind each point of a layout."""
    strides = [prod(extents[dim + 1 :]) for dim in range(len(extents))]
    first = sum(a * b for a, b in zip(layout.low, strides, strict=True))
    steps = [strides[dim] if dim >= 0 else 0 for dim in layout.dims]
    return tuple(
        first + sum(a * b for a, b in zip(point, steps, strict=True))
        for point in itertools.product(*map(range, layout.shape))
    )
