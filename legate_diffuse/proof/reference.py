# SPDX-License-Identifier: Apache-2.0
"""Runs the tasks of a window as they were recorded, on symbols."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.kernel.builder import Builder, Value
from legate_diffuse.kernel.ir import Argument
from legate_diffuse.proof.kernels import Body, Numbers
from legate_diffuse.proof.symbols import (
    Poison,
    applied,
    digest,
    mixed,
    numbered,
    spread,
    tag,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from legate_diffuse.ir.kind import OperationKind
    from legate_diffuse.ir.task import Access, IndexTask
    from legate_diffuse.ir.window import Window
    from legate_diffuse.proof.instance import Instance, Layout
    from legate_diffuse.proof.symbols import Symbols


T = TypeVar("T", np.uint64, np.bool_)


class Meanings(Protocol):
    """What operations compute, as ``fusion/meanings.py`` has it."""

    def covers(self, kind: OperationKind) -> bool:
        """Return whether a kernel can express an operation."""

    def lower(
        self, kind: OperationKind, builder: Builder, operands: list[Value]
    ) -> list[Value]:
        """Emit an operation over its inputs, then its scalars; return its outputs."""


@dataclass
class Memory:
    """What the stores of a window hold.

    Attributes:
        elements: by store.
        known: which of them have been written, or follow from such ones, of stores in
            which not all do; only the reference has it.
    """

    elements: dict[int, Symbols]
    known: dict[int, NDArray[np.bool_]] | None = None


KERNELS: WeakKeyDictionary[Meanings, dict[object, Body | None]] = WeakKeyDictionary()
"""The kernels of operations, by what they depend on."""


class Tasks:
    """The tasks of a window, for all extents.

    Args:
        window: the window.
        meanings: of its operations.

    Attributes:
        tasks: as they were recorded.
        orders: of each task its accesses, in the order of its kernel's arguments.
        kernels: of each task, None if its meaning is not known.
    """

    def __init__(self, window: Window, meanings: Meanings) -> None:
        self.tasks = window.tasks
        self._meanings = meanings
        self._kernels = KERNELS.setdefault(meanings, {})
        self.orders = [_in_order(task) for task in self.tasks]
        self.kernels = [self._kernel(task) for task in self.tasks]

    def _kernel(self, task: IndexTask) -> Body | None:
        # what the kernel depends on
        key = (
            task.kind,
            tuple(
                (a.privilege, a.operator, a.view.store.dtype, a.view.affine)
                for a in task.accesses
            ),
        )
        if key not in self._kernels:
            self._kernels[key] = self._lowered(task)
        return self._kernels[key]

    def _lowered(self, task: IndexTask) -> Body | None:
        affine = all(access.view.affine for access in task.accesses)
        if not affine or not self._meanings.covers(task.kind):
            return None
        order = _in_order(task)
        count = len(task.reads)
        dtypes = (*task.kind.inputs, *task.kind.scalars)[count:]
        arguments = tuple(
            Argument(
                access.view.store.dtype,
                reads=access.privilege is READ,
                writes=access.privilege is WRITE,
                reduces=access.operator if access.privilege is REDUCE else None,
                whole=access.whole,
            )
            for access in order
        )
        builder = Builder(arguments, dtypes)
        operands = [builder.load(n) for n in range(len(order) - count, len(order))]
        operands += [builder.scalar(n) for n in range(len(dtypes))]
        results = self._meanings.lower(task.kind, builder, operands)
        for place, result in enumerate(results):
            if order[place].privilege is WRITE:
                builder.store(place, result)
            else:
                builder.reduce(place, result)
        return Body(builder.build())


def _in_order(task: IndexTask) -> list[Access]:
    changed = [a for a in task.accesses if a.privilege is WRITE]
    changed += [a for a in task.accesses if a.privilege is REDUCE]
    return [*changed, *(a for a in task.accesses if a.privilege is READ)]


class Reference:
    """The tasks of a window over some extents.

    Args:
        instance: the window.
        tasks: of the window.
    """

    def __init__(self, instance: Instance, tasks: Tasks) -> None:
        self.instance = instance
        self.tasks = tasks.tasks
        self.numbers = Numbers()
        self._of_all = tasks
        self._first = self._initial()

    def memory(self, poison: Poison, *, knows: bool = False) -> Memory:
        """Return what stores hold before the window."""
        undefined = {s.id for s in self.instance.window.stores if s.undefined}
        found = Memory({}, {} if knows else None)
        for store, elements in self._first.items():
            fresh = store in undefined
            found.elements[store] = (
                poison.fresh(elements.shape) if fresh else elements.copy()
            )
            if fresh and found.known is not None:
                found.known[store] = np.full(elements.shape, False)
        return found

    def run(self, memory: Memory, number: int) -> None:
        """Run a task."""
        task = self.tasks[number]
        shape = tuple(self.instance.shapes[task.shape])
        kernel = self._of_all.kernels[number]
        if kernel is None:
            self._run_unknown(memory, number)
            return
        if 0 in shape:
            return
        order = self._of_all.orders[number]
        views = [self._view(memory.elements, access, shape) for access in order]
        scalars = [
            np.asarray(scalar_symbol("task", number, n - kernel.num_scalars))
            for n in range(kernel.num_scalars)
        ]
        results = kernel.run(
            lambda n: views[n], scalars, (0,) * len(shape), shape, self.numbers
        )
        known = None
        if memory.known and not memory.known.keys().isdisjoint(task.stores):
            known = self._is_known(memory.known, order, kernel, shape)
        for place, values in results.written.items():
            views[place][...] = spread(values, shape).reshape(views[place].shape)
            self._note(memory, order[place], shape, known, combines=False)
        for place, values in results.reduced.items():
            self._add(views[place], spread(values, shape))
            self._note(memory, order[place], shape, known, combines=True)

    # -- what is known before the window -------------------------------------------
    def _initial(self) -> dict[int, Symbols]:
        found = {}
        for store in self.instance.window.stores:
            extents = self.instance.extents[store.id]
            name = tag("store", store.id)
            found[store.id] = (
                np.full(extents, scalar_symbol("constant", store.id))
                if store.constant
                else numbered(name, 0, extents)
            )
        self._number_rows(found)
        return found

    def _number_rows(self, first: dict[int, Symbols]) -> None:
        """Say which elements the rows of sums have, where the window does not."""
        for task in self.tasks:
            whole = [access.view for access in task.accesses if access.whole]
            if len(whole) < 2:
                continue
            rows = first[task.reads[0].store.id].reshape(-1)
            counts = [self.instance.layout(view.id).extents[0] for view in whole]
            for place, symbol in enumerate(rows):
                begin = counts[0] * place // len(rows)
                end = counts[0] * (place + 1) // len(rows)
                self.numbers.of.setdefault(int(symbol), (begin, end - 1))
            if len(whole) < 3 or not counts[-1]:
                continue
            columns = first[whole[0].store.id]
            for place, symbol in enumerate(columns):
                near = place * counts[-1] // len(columns) + (place * 7) % 5 - 2
                column = min(max(near, 0), counts[-1] - 1)
                self.numbers.of.setdefault(int(symbol), (column,))

    # -- tasks whose meaning is known ----------------------------------------------
    def _view(
        self, memory: dict[int, NDArray[T]], access: Access, shape: Sequence[int]
    ) -> NDArray[T]:
        """Return the elements that a task accesses; they are those of the store."""
        elements = memory[access.view.store.id]
        if access.whole:
            # where it ends follows from the rows that are used of it
            return elements[self.instance.layout(access.view.id).low[0] :]
        if access.view.store.replicated:
            return elements.reshape((1,) * len(shape))
        return shown(elements, self.instance.layout(access.view.id))

    def _add(self, view: Symbols, values: Symbols) -> None:
        repeated = tuple(n for n, extent in enumerate(view.shape) if extent == 1)
        view += values.sum(axis=repeated, keepdims=True, dtype=np.uint64)

    def _is_known(
        self,
        memory: dict[int, NDArray[np.bool_]],
        order: Sequence[Access],
        kernel: Body,
        shape: Sequence[int],
    ) -> NDArray[np.bool_]:
        found = np.full(tuple(shape), True)
        for access, argument in zip(order, kernel.arguments, strict=True):
            if argument.reads and access.view.store.id in memory:
                known = self._view(memory, access, shape)
                found &= known.all() if access.whole else known
        return found

    def _note(
        self,
        memory: Memory,
        access: Access,
        shape: Sequence[int],
        known: NDArray[np.bool_] | None,
        *,
        combines: bool,
    ) -> None:
        if memory.known is None or known is None:
            return
        store = access.view.store.id
        if store not in memory.known:
            if known.all():
                return
            memory.known[store] = np.full(memory.elements[store].shape, True)
        view = self._view(memory.known, access, shape)
        if combines:
            repeated = tuple(n for n, extent in enumerate(view.shape) if extent == 1)
            view &= known.all(axis=repeated, keepdims=True)
        else:
            view[...] = known.reshape(view.shape)
        if memory.known[store].all():
            del memory.known[store]

    # -- tasks whose meaning is not known --------------------------------------------
    def _run_unknown(self, memory: Memory, number: int) -> None:
        """Run a task of which only the arguments are known: all depends on all."""
        task = self.tasks[number]
        inputs = [np.asarray(tag("task", number))]
        is_known: np.bool_ = np.bool_(True)
        for access in task.accesses:
            if access.privilege is READ:
                inputs.append(digest(self._read(memory.elements, access)))
                if memory.known and access.view.store.id in memory.known:
                    is_known &= self._read(memory.known, access).all()
        given = applied(tag("unknown"), inputs)
        for place, access in enumerate(task.accesses):
            if access.privilege is READ:
                continue
            old = self._read(memory.elements, access)
            names = numbered(tag("result", place), 0, old.shape)
            values = mixed(names + given)
            reduces = access.privilege is REDUCE
            self._write(memory.elements, access, old + values if reduces else values)
            store = access.view.store.id
            if memory.known is None or (is_known and store not in memory.known):
                continue
            everywhere = np.full(memory.elements[store].shape, True)
            known = self._read({store: memory.known.get(store, everywhere)}, access)
            memory.known.setdefault(store, everywhere)
            self._write(memory.known, access, known & is_known if reduces else is_known)

    def _read(self, memory: dict[int, NDArray[T]], access: Access) -> NDArray[T]:
        elements = memory[access.view.store.id]
        if access.view.store.replicated:
            return elements
        if not access.view.affine:
            return elements.reshape(-1)[_some(access.view.id, elements.size)]
        return shown(elements, self.instance.layout(access.view.id))

    def _write(
        self, memory: dict[int, NDArray[T]], access: Access, values: NDArray[T] | T
    ) -> None:
        elements = memory[access.view.store.id]
        if not access.view.affine:
            elements.reshape(-1)[_some(access.view.id, elements.size)] = values
        else:
            self._read(memory, access)[...] = values


def _some(view: int, count: int) -> NDArray[np.int64]:
    """Return which elements of a store a view shows of which nobody knows that."""
    numbers = np.arange(count)
    return numbers[(numbers + view) % 3 > 0] if count > 1 else numbers


def scalar_symbol(*name: object) -> np.uint64:
    """Return the symbol of a scalar: a constant, or an argument of a task."""
    return tag("scalar", *name)


def shown(elements: NDArray[T], layout: Layout) -> NDArray[T]:
    """Return what a layout shows of a store, with one element where it repeats."""
    box, axes, index = _steps_to(layout.dims, layout.low, layout.extents)
    found: NDArray[T] = elements[box].transpose(axes)[index]
    return found


@lru_cache(1 << 12)
def _steps_to(
    dims: tuple[int, ...], low: tuple[int, ...], extents: tuple[int, ...]
) -> tuple[Any, tuple[int, ...], Any]:
    """Return how to get from a store to a view: a box of it, its axes, an index."""
    box = tuple(
        slice(first, first + (count if dim in dims else 1))
        for dim, (first, count) in enumerate(zip(low, extents, strict=True))
    )
    moving = [dim for dim in dims if dim >= 0]
    still = [dim for dim in range(len(low)) if dim not in moving]
    index: list[Any] = [slice(None) if dim >= 0 else None for dim in dims]
    index += [0] * len(still)
    # with the ellipsis it is an array, also without dimensions
    return (*box, ...), (*moving, *still), (*index, ...)
