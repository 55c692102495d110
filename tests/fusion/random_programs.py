# SPDX-License-Identifier: Apache-2.0
"""Random programs whose tasks touch the same elements in many ways.

They are recorded as an application's are, so the regions of their views, and what the
analyses make of them, are compared with the elements themselves.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any, Final

from concrete_programs import (
    DOMAINS,
    IDENTITY,
    OPERATIONS,
    POISON,
    Memory,
    Operation,
    Program,
)
from recorder import Machine, Recorder, elements_of

from legate_diffuse.ir import Window
from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.stores.layout import Layout, whole
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View

Extents = tuple[int, ...]

_DOMAIN_WEIGHTS: Final = (0, 8, 8, 8, 1, 1, 1)
ARRAYS: Final[tuple[Extents, ...]] = (
    (8,),
    (4, 4),
    (6,),
    (4,),
    (1,),
    (3, 3),
    (15,),
    (50,),
    (12, 12),
)
_ARRAY_WEIGHTS: Final = (6, 6, 4, 4, 1, 3, 3, 2, 3)
MAX_TASKS: Final = 12
_NAMES: Final = tuple(OPERATIONS)
_WEIGHTS: Final = tuple(operation.weight for operation in OPERATIONS.values())
# the places in long dimensions at which views begin
_STARTS: Final = (0, 1, 2, 5, 6, 7, 9, 26, 27, 28, 44, 46)


@cache
def layouts(array: Extents, domain: Extents) -> tuple[Layout, ...]:
    """Return the layouts of an array in a shape."""
    found = {
        (layout.shape, layout.dims, layout.low, layout.extents): layout
        for layout in _layouts(whole(array), domain)
    }
    return tuple(found.values())


def _layouts(layout: Layout, domain: Extents) -> Iterator[Layout]:
    """Yield a layout shifted, transposed, or repeated, and its rows and columns."""
    size, dim = len(layout.shape), len(domain)
    if size == dim:
        yield from _parts(layout, domain)
        if size == 2:
            yield from _parts(_then(layout, "transpose", (1, 0)), domain)
    elif size < dim:
        for missing, extent in enumerate(domain):
            rest = (*domain[:missing], *domain[missing + 1 :])
            for part in _layouts(layout, rest):
                yield _then(part, "promote", missing, extent)
    if size:
        for along in range(size):
            # of single elements only the first two
            for start in _starts(layout.shape[along])[: 2 if dim == size else None]:
                yield from _layouts(_then(layout, "project", along, start), domain)


def _parts(layout: Layout, domain: Extents) -> Iterator[Layout]:
    choices = [
        [start for start in _starts(size) if start + extent <= size] if extent else []
        for size, extent in zip(layout.shape, domain, strict=True)
    ]
    for starts in itertools.product(*choices):
        part = layout
        for dim, (start, extent) in enumerate(zip(starts, domain, strict=True)):
            part = _then(part, "slice", dim, start, start + extent)
        yield part


def _starts(size: int) -> list[int]:
    return [start for start in _STARTS if start < size] if size > 8 else [*range(size)]


def _then(layout: Layout, *step: Any) -> Layout:
    found = layout.derive(step)
    assert found is not None
    return found


@dataclass
class Pool:
    """The views that tasks of one launch domain use."""

    shape: Extents
    readable: list[View]
    writable: list[View]
    reducible: list[View]


class Generator:
    """Draws a program from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        # Legate partitions no array, all, or those that are large enough
        self.recorder = Recorder(
            rng.choice(
                (
                    Machine(pieces=1),
                    Machine(pieces=1),
                    Machine(threshold=0),
                    Machine(threshold=rng.choice((2, 7, 9, 17))),
                )
            )
        )
        self.contents: dict[Root, list[int]] = {}
        self.scalars: list[tuple[int, ...]] = []
        arrays = self._arrays()
        self.futures = self._futures()
        self.of_futures = Pool((), [], [], [])
        for future in self.futures:
            self._add_future(self.of_futures, future)
        self.pools = [self._pool(shape, arrays) for shape in self._shapes()]

    def program(self, seed: int) -> Program:
        """Return the program."""
        rng = self.rng
        while len(self.scalars) < MAX_TASKS:
            self._add_tasks()
        state = self.recorder.window.state
        _, window = self.recorder.finish(carried=rng.choice((0, 0, 0, 1, 3)))
        elements = {
            number: elements_of(view.layout, view.root.shape)
            for view, number in state.views.items()
        }
        memory: Memory = {
            number: self.contents[root] for root, number in state.roots.items()
        }
        window = _renumber(window, [DOMAINS.index(tuple(s)) for s in state.shapes])
        extents = {number: tuple(root.shape) for root, number in state.roots.items()}
        return Program(window, elements, tuple(self.scalars), memory, seed, extents)

    def _shapes(self) -> Sequence[Extents]:
        """Choose two launch domains."""
        return self.rng.choices(DOMAINS[: len(_DOMAIN_WEIGHTS)], _DOMAIN_WEIGHTS, k=2)

    def _add_tasks(self) -> None:
        rng = self.rng
        pool = rng.choices((*self.pools, self.of_futures), (8, 5, 4))[0]
        self._add_task(rng.choices(_NAMES, _WEIGHTS)[0], pool)

    def _array(self, number: int, shape: Extents, kind: str, scalar: bool) -> View:
        rng = self.rng
        size = prod(shape)
        made = kind != "undefined"
        view = self.recorder.array(
            *shape,
            dtype="int64",
            live=kind == "live" or (not made and rng.random() < 0.5),
            made=made,
            constant=object() if kind == "constant" else None,
            scalar=scalar,
        )
        self.contents[view.root] = [
            100 * number + 7 * i if made else POISON for i in range(size)
        ]
        return view

    def _arrays(self) -> list[View]:
        rng = self.rng
        kinds = ("live", "live", "dead", "dead", "undefined")
        return [
            self._array(
                number,
                rng.choices(ARRAYS, _ARRAY_WEIGHTS)[0],
                rng.choice(kinds),
                scalar=False,
            )
            for number in range(rng.randint(2, 4))
        ]

    def _futures(self) -> list[View]:
        kinds = ("live", "live", "dead", "dead", "constant")
        return [
            self._array(number, (), self.rng.choice(kinds), scalar=True)
            for number in range(10, 10 + self.rng.randint(2, 4))
        ]

    def _add_future(self, pool: Pool, future: View) -> None:
        """A future repeats over the launch domain."""
        view = future
        for dim, extent in enumerate(pool.shape):
            view = view.promote(dim, extent)
        pool.readable.append(view)
        if future.root.constant is None:
            pool.reducible.append(view)
            if view.volume == 1:
                pool.writable.append(view)

    def _pool(self, shape: Extents, arrays: Sequence[View]) -> Pool:
        """Choose one or two views of each array in the shape of a launch domain."""
        rng = self.rng
        pool = Pool(shape, [], [], [])
        for array in arrays:
            choice = layouts(array.root.shape, shape)
            for _ in range(rng.randint(1, 2) if choice else 0):
                layout = rng.choice(choice)
                if rng.random() < 0.02:
                    layout = Layout(
                        shape, layout.dims, layout.low, layout.extents, affine=False
                    )
                view = array.through(layout)
                pool.readable.append(view)
                pool.reducible.append(view)
                elements = elements_of(layout, array.root.shape)
                pool.writable += [view] * (len(set(elements)) == len(elements))
        for future in self.futures:
            self._add_future(pool, future)
        return pool

    def _add_task(self, name: str, pool: Pool) -> None:
        rng = self.rng
        operation = OPERATIONS[name]
        operands = [rng.choice(pool.readable) for _ in range(operation.reads)]
        targets = self._targets(name, pool)
        if len(targets) < operation.writes:
            return
        if name == "FILL" and rng.random() < 0.3:
            operands = [rng.choice(pool.readable[-len(self.futures) :])]
            operation = replace(operation, reads=1, scalars=0)
        elif operation.operator and rng.random() < 0.7:
            self._initialise(targets[0], operation.operator)
        self._append(name, operation, targets, operands)
        # the result is probably used
        root = targets[0].root
        if operation.operator and rng.random() < 0.5 and root.scalar_storage:
            user = rng.choice((pool, self.of_futures))
            (result,) = (v for v in user.readable if v.root is root)
            if user.writable:
                target = [rng.choice(user.writable)]
                other = rng.choice(user.readable)
                add = "BINARY_OP.ADD"
                self._append(add, OPERATIONS[add], target, [result, other])

    def _targets(self, name: str, pool: Pool) -> list[View]:
        rng = self.rng
        if not OPERATIONS[name].operator:
            count = OPERATIONS[name].writes if pool.writable else 0
            return [rng.choice(pool.writable) for _ in range(count)]
        to_futures = self.of_futures if rng.random() < 0.9 else pool
        choice = [
            view
            for view in (to_futures if name[0] in "SD" else pool).reducible
            if view.root.scalar_storage or name[0] not in "SD"
        ]
        return [rng.choice(choice)] if choice else []

    def _initialise(self, view: View, operator: str) -> None:
        """Fill what is reduced to, in the shape of its own."""
        root = view.root
        pool = self.of_futures.readable
        if root.scalar_storage:
            (view,) = (v for v in pool if v.root is root)
        elif root.shape in DOMAINS:
            view = view.through(whole(root.shape))
        else:
            return
        values = (IDENTITY[operator], self.rng.randint(-9, 9))
        value = self.rng.choice(values)
        self._append("FILL", OPERATIONS["FILL"], [view], [], (value,))

    def _append(
        self,
        name: str,
        operation: Operation,
        targets: Sequence[View],
        operands: Sequence[View],
        scalars: tuple[int, ...] | None = None,
    ) -> None:
        rng = self.rng
        if len(self.scalars) >= MAX_TASKS:
            return
        if scalars is None:
            scalars = tuple(rng.randint(-9, 9) for _ in range(operation.scalars))
        if rng.random() < 0.02:
            # has an argument that no kernel can express
            task, dot, code = name.partition(".")
            name = f"{task}_TASK{dot}{code}"
        changes = REDUCE if operation.operator else WRITE
        self.recorder.task(
            name,
            [*targets, *operands],
            [changes] * len(targets) + [READ] * len(operands),
            ("int64",) * len(scalars),
        )
        self.scalars.append(scalars)


class _SweepGenerator(Generator):
    """Arrays of one shape that are copied, filled and overwritten part by part."""

    def __init__(self, seed: int) -> None:
        # shapes of an array and of its parts; of a matrix these are its two views
        shapes = (((3, 3), (3, 3)), ((8,), (4,)), ((6,), (4,)))
        self.whole, self.part = shapes[min(seed % 5, 2)]
        super().__init__(seed)
        self.source = self.rng.choice(self.pools[0].writable)

    def _shapes(self) -> Sequence[Extents]:
        return (self.whole, self.part)

    def _arrays(self) -> list[View]:
        rng = self.rng
        kinds = ("live", "live", "dead", "dead", "undefined", "undefined")
        return [
            self._array(number, self.whole, rng.choice(kinds), scalar=False)
            for number in range(rng.randint(3, 4))
        ]

    def _pool(self, shape: Extents, arrays: Sequence[View]) -> Pool:
        """Have few views, so that what covers an array is often there."""
        pool = super()._pool(shape, ())
        for array in arrays:
            for layout in layouts(array.root.shape, shape):
                elements = elements_of(layout, array.root.shape)
                if len(set(elements)) == len(elements):
                    view = array.through(layout)
                    pool.readable.append(view)
                    pool.writable.append(view)
        return pool

    def _add_tasks(self) -> None:
        rng = self.rng
        wholes, parts = self.pools
        if rng.random() < 0.15:
            super()._add_tasks()
            return
        # several sweeps over one array
        source = self.source = rng.choice([self.source] * 6 + wholes.writable)
        copy = rng.choice([v for v in wholes.writable if v is not source])
        if rng.random() < 0.2:
            self._append("FILL", OPERATIONS["FILL"], [source], [])
        elif source.root is not copy.root:
            self._append("COPY", OPERATIONS["COPY"], [copy], [source])
        of_source = [v for v in parts.writable if v.root is source.root]
        # a task that reads what it writes through another view runs by itself
        others = [v for v in parts.readable if v.root is not source.root]
        of_copy = [v for v in others if v.root is copy.root] or others
        for part in rng.sample((of_source[0], of_source[-1]), k=rng.choice((1, 2, 2))):
            operands = [rng.choice(of_copy), rng.choice([part, *of_copy, *others])]
            free = [v for v in parts.writable if v in others and v not in of_copy]
            if free and rng.random() < 0.6:
                # as NumPy does: the new values are computed, and then copied
                value = rng.choice(free)
                self._add(value, operands)
                operands = [value, value]
            self._add(part, operands)
            if free and rng.random() < 0.2:
                other = rng.choice(rng.choice((of_copy, free)))
                self._add(rng.choice(free), [other, part])

    def _add(self, target: View, operands: list[View]) -> None:
        name = self.rng.choices(("BINARY_OP.ADD", "UNARY_RED.SUM"), (9, 1))[0]
        operation = OPERATIONS[name]
        self._append(name, operation, [target], operands[: operation.reads])


def _renumber(window: Window, shapes: Sequence[int]) -> Window:
    """Return a window with other numbers of shapes."""
    return replace(
        window,
        tasks=tuple(
            replace(
                task,
                shape=shapes[task.shape],
                accesses=tuple(
                    replace(
                        access,
                        view=replace(access.view, shape=shapes[access.view.shape]),
                    )
                    for access in task.accesses
                ),
            )
            for task in window.tasks
        ),
    )


def random_program(seed: int) -> Program:
    """Return a program whose tasks touch the same elements in many ways."""
    return (Generator if seed % 3 else _SweepGenerator)(seed).program(seed)
