# SPDX-License-Identifier: Apache-2.0
"""Random programs whose tasks touch the same elements in many ways."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np
from concrete_programs import (
    DOMAINS,
    IDENTITY,
    OPERATIONS,
    POISON,
    Memory,
    Operation,
    Program,
    points,
)

from legate_diffuse.ir import (
    Access,
    IndexTask,
    OperationKind,
    Points,
    Privilege,
    Store,
    View,
    Window,
)

Array = np.ndarray[Any, np.dtype[np.int64]]
Extents = tuple[int, ...]

_DOMAIN_WEIGHTS: Final = (0, 8, 8, 8, 1, 1)
ARRAYS: Final[tuple[Extents, ...]] = ((8,), (4, 4), (6,), (4,), (1,), (3, 3))
_ARRAY_WEIGHTS: Final = (6, 6, 4, 4, 1, 3)
MAX_TASKS: Final = 12
_NAMES: Final = tuple(OPERATIONS)
_WEIGHTS: Final = tuple(operation.weight for operation in OPERATIONS.values())


@dataclass(frozen=True)
class Pattern:
    """The elements that a view may show; what repeats cannot be written."""

    elements: tuple[int, ...]
    unique: bool
    broadcast: bool
    whole: bool
    plain: bool = False


@cache
def patterns(array: Extents, domain: Extents) -> tuple[Pattern, ...]:
    """Return the strided boxes of an array in a shape."""
    index = np.arange(np.prod(array)).reshape(array)
    rows_and_columns = [*index, *index.T] if index.ndim == 2 else []
    views = [v for part in (index, *rows_and_columns) for v in _boxes(part, domain)]
    views += [np.broadcast_to(element, domain) for element in index.flat[:2]]
    found: dict[bytes, Pattern] = {}
    for view in views:
        distinct = len(np.unique(view))
        pattern = Pattern(
            tuple(int(element) for element in view.flat),
            unique=distinct == view.size,
            broadcast=view.size > 1 and bool((np.diff(view) == 0).all()),
            whole=distinct == index.size,
            plain=view.shape == array and bool((view == index).all()),
        )
        found.setdefault(view.tobytes(), pattern)
    return tuple(found.values())


def _boxes(array: Array, domain: Extents) -> Iterator[Array]:
    """Yield slices of an array in a shape: shifted, strided, transposed, repeated."""
    if array.ndim < len(domain):
        for extent in set(domain):
            for row in _boxes(array, (extent,)):
                if domain[1] == extent:
                    yield np.broadcast_to(row, domain)
                if domain[0] == extent:
                    yield np.broadcast_to(row[:, None], domain)
        return
    if array.ndim > len(domain):
        return
    choices = [
        [
            slice(start, start + step * extent, step)
            for step in (1, 2)
            for start in range(size)
            if start + step * (extent - 1) < size
        ]
        for size, extent in zip(array.shape, domain, strict=True)
    ]
    for slices in itertools.product(*choices):
        yield array[slices]
        if array.ndim == 2:
            yield array[slices].T


@dataclass
class _Pool:
    """The views that tasks of one launch domain use."""

    shape: int
    readable: list[View]
    writable: list[View]
    reducible: list[View]


class Generator:
    """Draws a program from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.memory: Memory = {}
        self.elements: dict[int, tuple[int, ...]] = {}
        self.views: dict[tuple[int, int, tuple[int, ...]], View] = {}
        self.tasks: list[IndexTask] = []
        self.scalars: list[tuple[int, ...]] = []
        self.single = self.rng.choice(("all", "all", "none", "mixed"))
        arrays = self._arrays()
        self.futures = self._futures()
        self.of_futures = _Pool(0, [], [], [])
        for store in self.futures:
            self._add_future(self.of_futures, store)
        self.pools = [self._pool(shape, arrays) for shape in self._shapes()]

    def program(self, seed: int) -> Program:
        """Return the program."""
        rng = self.rng
        while len(self.tasks) < MAX_TASKS:
            self._add_tasks()
        window = Window(self._with_relations(), carried=rng.choice((0, 0, 0, 1, 3)))
        scalars = tuple(self.scalars[:MAX_TASKS])
        return Program(window, self.elements, scalars, self.memory, seed)

    def _shapes(self) -> Sequence[int]:
        """Choose two launch domains."""
        return self.rng.choices(range(len(DOMAINS)), _DOMAIN_WEIGHTS, k=2)

    def _add_tasks(self) -> None:
        rng = self.rng
        pool = rng.choices((*self.pools, self.of_futures), (8, 5, 4))[0]
        self._add_task(rng.choices(_NAMES, _WEIGHTS)[0], pool)

    def _store(self, number: int, size: int, kind: str, **flags: bool) -> Store:
        rng = self.rng
        undefined = kind == "undefined"
        self.memory[number] = (
            [POISON] * size
            if undefined
            else [100 * number + 7 * i for i in range(size)]
        )
        return Store(
            number,
            "int64",
            live=kind == "live" or (undefined and rng.random() < 0.5),
            single=self.single == "all"
            or (self.single == "mixed" and rng.random() < 0.7),
            undefined=undefined,
            constant=kind == "constant",
            **flags,
        )

    def _arrays(self) -> dict[Store, Extents]:
        rng = self.rng
        arrays: dict[Store, Extents] = {}
        for number in range(rng.randint(2, 4)):
            shape = rng.choices(ARRAYS, _ARRAY_WEIGHTS)[0]
            kind = rng.choice(("live", "live", "dead", "dead", "undefined"))
            arrays[self._store(number, int(np.prod(shape)), kind)] = shape
        return arrays

    def _futures(self) -> list[Store]:
        kinds = ("live", "live", "dead", "dead", "constant", "undefined")
        return [
            self._store(number, 1, self.rng.choice(kinds), replicated=True)
            for number in range(10, 10 + self.rng.randint(2, 4))
        ]

    def _add_future(self, pool: _Pool, store: Store) -> None:
        """A future repeats over the launch domain."""
        zeros = (0,) * points(pool.shape)
        view = self._view(
            store, pool.shape, Pattern(zeros, len(zeros) == 1, len(zeros) > 1, True)
        )
        pool.readable.append(view)
        if not store.constant:
            pool.reducible.append(view)
            if len(zeros) == 1:
                pool.writable.append(view)

    def _pool(self, shape: int, arrays: dict[Store, Extents]) -> _Pool:
        """Choose one or two views of each array in the shape of a launch domain."""
        rng = self.rng
        pool = _Pool(shape, [], [], [])
        for store, extents in arrays.items():
            choice = patterns(extents, DOMAINS[shape])
            for _ in range(rng.randint(1, 2) if choice else 0):
                pattern = rng.choice(choice)
                view = self._view(store, shape, pattern, affine=rng.random() < 0.98)
                pool.readable.append(view)
                pool.reducible.append(view)
                pool.writable += [view] * pattern.unique
        for future in self.futures:
            self._add_future(pool, future)
        return pool

    def _view(
        self, store: Store, shape: int, pattern: Pattern, affine: bool = True
    ) -> View:
        """Return a view; equal views have one number."""
        key = (store.id, shape, pattern.elements)
        view = self.views.get(key)
        if view is None:
            view = self.views[key] = View(
                len(self.views),
                store,
                shape,
                (Points.NONE, Points.ONE, Points.MANY)[min(points(shape), 2)],
                broadcast=pattern.broadcast,
                affine=affine,
                whole=pattern.whole,
                plain=pattern.plain,
            )
            self.elements[view.id] = pattern.elements
        return view

    def _add_task(self, name: str, pool: _Pool) -> None:
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
        self._append(name, operation, pool.shape, targets, operands)
        # the result is probably used
        if operation.operator and rng.random() < 0.5 and targets[0].store.replicated:
            user = rng.choice((pool, self.of_futures))
            (result,) = (v for v in user.readable if v.store is targets[0].store)
            if user.writable:
                target = [rng.choice(user.writable)]
                other = rng.choice(user.readable)
                add = "BINARY_OP.ADD"
                self._append(add, OPERATIONS[add], user.shape, target, [result, other])

    def _targets(self, name: str, pool: _Pool) -> list[View]:
        rng = self.rng
        if not OPERATIONS[name].operator:
            count = OPERATIONS[name].writes if pool.writable else 0
            return [rng.choice(pool.writable) for _ in range(count)]
        to_futures = self.of_futures if rng.random() < 0.9 else pool
        choice = [
            view
            for view in (to_futures if name[0] in "SD" else pool).reducible
            if view.store.replicated or name[0] not in "SD"
        ]
        return [rng.choice(choice)] if choice else []

    def _initialise(self, view: View, operator: str) -> None:
        """Fill what is reduced to, in the shape of its own."""
        store = view.store
        if store.replicated:
            (view,) = (v for v in self.of_futures.readable if v.store is store)
        else:
            size = len(self.memory[store.id])
            everything = Pattern(tuple(range(size)), True, False, True)
            if (size,) not in DOMAINS:
                return
            view = self._view(store, DOMAINS.index((size,)), everything)
        values = (IDENTITY[operator], self.rng.randint(-9, 9))
        value = self.rng.choice(values)
        self._append("FILL", OPERATIONS["FILL"], view.shape, [view], [], (value,))

    def _append(
        self,
        name: str,
        operation: Operation,
        shape: int,
        targets: Sequence[View],
        operands: Sequence[View],
        scalars: tuple[int, ...] | None = None,
    ) -> None:
        rng = self.rng
        if scalars is None:
            scalars = tuple(rng.randint(-9, 9) for _ in range(operation.scalars))
        accesses = [
            Access(
                Privilege.REDUCE if operation.operator else Privilege.WRITE,
                view,
                operation.operator,
            )
            for view in targets
        ]
        accesses += [Access(Privilege.READ, view) for view in operands]
        kind = _kind(name, len(operands), len(targets))
        if rng.random() < 0.02:
            # has an argument that no kernel can express
            kind = replace(kind, task=f"{kind.task}_TASK")
        self.tasks.append(IndexTask(kind, shape, tuple(accesses)))
        self.scalars.append(scalars)

    def _with_relations(self) -> tuple[IndexTask, ...]:
        """Say of some views which they are disjoint from, and which contain them."""
        window = Window(tuple(self.tasks[:MAX_TASKS]))
        changed = {view.id: view for task in window.tasks for view in task.changes}
        views: dict[int, View] = {}
        for view in window.views:
            others = [v for v in window.views if v.store.id == view.store.id]
            disjoint = tuple(
                other.id
                for other in others
                if changed.keys() & {view.id, other.id}
                and other.id < view.id
                and self.rng.random() < 0.8
                and set(self.elements[view.id]).isdisjoint(self.elements[other.id])
            )
            parts = [v for v in changed.values() if v.store.id == view.store.id]
            within = self._cover(view, parts) if self.rng.random() < 0.9 else ()
            views[view.id] = replace(view, disjoint=disjoint, within=within)
        return tuple(
            replace(
                task,
                accesses=tuple(
                    replace(access, view=views[access.view.id])
                    for access in task.accesses
                ),
            )
            for task in window.tasks
        )

    def _cover(self, view: View, parts: Sequence[View]) -> tuple[int, ...]:
        """Return the first parts that together contain a view."""
        missing = set(self.elements[view.id])
        used = []
        for part in parts:
            elements = self.elements[part.id]
            if part.affine and part.id != view.id and not missing.isdisjoint(elements):
                missing.difference_update(elements)
                used.append(part.id)
        return () if missing or not view.affine else tuple(used)


class _SweepGenerator(Generator):
    """Arrays of one shape that are copied, filled and overwritten part by part."""

    def __init__(self, seed: int) -> None:
        # shapes of an array and of its parts; of a matrix these are its two views
        whole, part = ((6,), (4,)) if seed % 5 else ((3, 3), (3, 3))
        self.whole, self.part = DOMAINS.index(whole), DOMAINS.index(part)
        super().__init__(seed)
        self.source = self.rng.choice(self.pools[0].writable)

    def _shapes(self) -> Sequence[int]:
        return (self.whole, self.part)

    def _arrays(self) -> dict[Store, Extents]:
        rng = self.rng
        kinds = ("live", "live", "dead", "dead", "undefined", "undefined")
        extents = DOMAINS[self.whole]
        size = points(self.whole)
        return {
            self._store(number, size, rng.choice(kinds)): extents
            for number in range(rng.randint(3, 4))
        }

    def _pool(self, shape: int, arrays: dict[Store, Extents]) -> _Pool:
        """Have few views, so that what covers an array is often there."""
        pool = super()._pool(shape, {})
        for store, extents in arrays.items():
            for pattern in patterns(extents, DOMAINS[shape]):
                steps = set(np.diff(pattern.elements))
                if pattern.unique and (steps == {1} or pattern.whole):
                    view = self._view(store, shape, pattern)
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
            self._append("FILL", OPERATIONS["FILL"], self.whole, [source], [])
        elif source.store is not copy.store:
            self._append("COPY", OPERATIONS["COPY"], self.whole, [copy], [source])
        of_source = [v for v in parts.writable if v.store is source.store]
        # a task that reads what it writes through another view runs by itself
        others = [v for v in parts.readable if v.store is not source.store]
        of_copy = [v for v in others if v.store is copy.store] or others
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
        shape = self.part
        self._append(name, operation, shape, [target], operands[: operation.reads])


@cache
def _kind(name: str, reads: int, writes: int) -> OperationKind:
    task, _, code = name.partition(".")
    scalars = OPERATIONS[name].scalars * ("int64",) if name != "FILL" else ()
    # the value that FILL writes is its input
    inputs = ("int64",) * max(reads, 1)
    return OperationKind(task, code, inputs, ("int64",) * writes, scalars)


def random_program(seed: int) -> Program:
    """Return a program whose tasks touch the same elements in many ways."""
    return (Generator if seed % 3 else _SweepGenerator)(seed).program(seed)
