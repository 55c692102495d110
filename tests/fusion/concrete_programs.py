# SPDX-License-Identifier: Apache-2.0
"""Windows over small concrete arrays.

Each view of the IR comes with what the analyses must not look at: the element of the
store for each point of the launch domain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from legate_diffuse.ir import IndexTask, View, Window

Extents = tuple[int, ...]
Memory = dict[int, list[int]]  # store id -> its elements in row-major order

# By number of the shape: what a task may run over. Futures are of the first.
DOMAINS: Final[tuple[Extents, ...]] = (
    *((), (6,), (3, 3), (4,), (1,), (0,), (8,)),
    # arrays whose rows wrap around, and parts of them
    *((20, 4), (16, 4), (16, 2), (2, 4), (2, 2), (20, 1)),
)
# The contents of memory that nobody has written.
POISON: Final = -999


def wrapped(value: int) -> int:
    """Return the int64 with the same last bits."""
    return (value + 2**63) % 2**64 - 2**63


def _clip(x: int, low: int, high: int) -> int:
    """Clip as cuPyNumeric does, which matters where low > high."""
    return low if x < low else high if x > high else x


@dataclass(frozen=True)
class Operation:
    """What a task computes at a point; ``operator`` combines it with the target."""

    meaning: Callable[..., int]
    reads: int = 1
    scalars: int = 0
    operator: str = ""
    writes: int = 1
    weight: int = 8


OPERATIONS: Final[dict[str, Operation]] = {
    "FILL": Operation(lambda value: value, reads=0, scalars=1),
    "COPY": Operation(lambda x: x),
    "UNARY_OP.NEGATIVE": Operation(lambda x: wrapped(-x)),
    "UNARY_OP.CLIP": Operation(_clip, scalars=2),
    "BINARY_OP.ADD": Operation(lambda x, y: wrapped(x + y), reads=2),
    "BINARY_OP.SUBTRACT": Operation(lambda x, y: wrapped(x - y), reads=2),
    "BINARY_OP.MULTIPLY": Operation(lambda x, y: wrapped(x * y), reads=2),
    "SCALAR_UNARY_RED.SUM": Operation(lambda x: x, operator="add"),
    "SCALAR_UNARY_RED.MAX": Operation(lambda x: x, operator="max"),
    "DOT": Operation(lambda x, y: wrapped(x * y), reads=2, operator="add"),
    "UNARY_RED.SUM": Operation(lambda x: x, operator="add"),
    "UNARY_RED.MAX": Operation(lambda x: x, operator="max"),
    # no kernel is known for these; what they write is in reversed order
    "FLIP": Operation(lambda x: x, weight=2),
    "FLIP_TWICE": Operation(lambda x: x, writes=2, weight=1),
    "HISTOGRAM": Operation(lambda x: wrapped(3 * x), operator="add", weight=1),
}
IDENTITY: Final = {"add": 0, "max": -(2**63)}


@dataclass(frozen=True)
class Program:
    """A window with everything that running it takes.

    ``elements`` has by view the element behind each point, in row-major order.
    ``scalars`` are the scalar arguments of each task, ``memory`` is what the
    stores hold at first, and ``extents`` what they have along each dimension.
    """

    window: Window
    elements: dict[int, tuple[int, ...]]
    scalars: tuple[tuple[int, ...], ...]
    memory: Memory
    seed: int
    extents: dict[int, Extents]

    def behind(self, view: View, shape: int) -> tuple[int, ...]:
        """Return the element behind each point of a domain."""
        if view.store.replicated:
            return (0,) * points(shape)
        assert view.shape == shape, "only one-element stores repeat over a domain"
        return self.elements[view.id]

    def without(self, position: int) -> Program:
        """Return the program without one of its tasks."""
        tasks, scalars = list(self.window.tasks), list(self.scalars)
        del tasks[position], scalars[position]
        carried = self.window.carried - (position < self.window.carried)
        window = Window(tuple(tasks), carried)
        return replace(self, window=window, scalars=tuple(scalars))


@cache
def points(shape: int) -> int:
    """Return the number of points of a launch domain."""
    return int(np.prod(DOMAINS[shape], dtype=int))


def operation_of(task: IndexTask) -> Operation:
    """Return what a task computes."""
    kind = task.kind
    task = kind.task.removesuffix("_TASK")
    return OPERATIONS[f"{task}.{kind.code}" if kind.code else task]


def smallest(program: Program, fails: Callable[[Program], bool]) -> Program:
    """Return a program that still fails, but not without any of its tasks."""
    position = 0
    while position < len(program.window.tasks):
        smaller = program.without(position)
        if fails(smaller):
            program, position = smaller, 0
        else:
            position += 1
    return program


# -- dependences -----------------------------------------------------------------
Element = tuple[int, int]  # store id, position
_SCALAR_POINT: Final = -1  # where scalar work runs, which is at no other point


class Footprint:
    """Which points of a sequence of tasks have touched each element so far.

    The result of scalar work is no element: every point has its own copy.
    """

    def __init__(self) -> None:
        """Start with no task."""
        self._read: dict[Element, set[int]] = {}
        self._written: dict[Element, set[int]] = {}
        self._reduced: dict[str, dict[Element, set[int]]] = {}
        # replicated stores that scalar work computed
        self._copied: set[int] = set()

    def conflicts(self, program: Program, task: IndexTask) -> bool:
        """Whether a point of a task depends on another point, of it or an earlier task.

        Reductions with one operator do not depend on one another.
        """
        own: dict[Element, set[int]] = {}
        for element, point in self._touched(program, task, task.reads):
            own.setdefault(element, set()).add(point)
            if self._changed(element) - {point}:
                return True
        written = task.writes if not task.scalar else ()
        for element, point in self._touched(program, task, written):
            others = self._changed(element) | self._read.get(element, set())
            if (others | own.get(element, set())) - {point}:
                return True
        if task.scalar:
            stores = {view.store.id for view in task.writes}
            if any(self._changed((store, 0)) for store in stores):
                return True
        for access in task.reductions:
            for element, point in self._touched(program, task, (access.view,)):
                others = self._changed(element, access.operator)
                others = others | self._read.get(element, set())
                if (others | own.get(element, set())) - {point}:
                    return True
        return False

    def add(self, program: Program, task: IndexTask) -> None:
        """Take in a task."""
        for element, point in self._touched(program, task, task.reads):
            self._read.setdefault(element, set()).add(point)
        if task.scalar:
            self._copied |= {view.store.id for view in task.writes}
        else:
            for element, point in self._touched(program, task, task.writes):
                self._written.setdefault(element, set()).add(point)
        for access in task.reductions:
            reduced = self._reduced.setdefault(access.operator, {})
            self._copied.discard(access.view.store.id)
            for element, point in self._touched(program, task, (access.view,)):
                reduced.setdefault(element, set()).add(point)

    def _changed(self, element: Element, but_by: str = "") -> set[int]:
        """Return the points that changed an element, other than by one operator."""
        reduced = (
            found.get(element, set())
            for operator, found in self._reduced.items()
            if operator != but_by
        )
        return self._written.get(element, set()).union(*reduced)

    def _touched(
        self, program: Program, task: IndexTask, views: Sequence[View]
    ) -> Iterator[tuple[Element, int]]:
        scalar = task.scalar
        for view in views:
            store = view.store.id
            if store in self._copied:
                continue
            for point, element in enumerate(program.behind(view, task.shape)):
                yield (store, element), _SCALAR_POINT if scalar else point
