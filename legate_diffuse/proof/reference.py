# SPDX-License-Identifier: Apache-2.0
"""Runs the tasks of a window as they were recorded, on symbols."""

from __future__ import annotations

from dataclasses import dataclass
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
    tag,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from legate_diffuse.ir.kind import OperationKind
    from legate_diffuse.ir.task import Access, IndexTask
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
        known: which of them have been written, or follow from such ones; only the
            reference has it.
    """

    elements: dict[int, Symbols]
    known: dict[int, NDArray[np.bool_]] | None = None


KERNELS: WeakKeyDictionary[Meanings, dict[object, Body | None]] = WeakKeyDictionary()
"""The kernels of operations, by what they depend on."""


class Reference:
    """The tasks of a window over some extents.

    Args:
        instance: the window.
        meanings: of its operations.
    """

    def __init__(self, instance: Instance, meanings: Meanings) -> None:
        self.instance = instance
        self.tasks = instance.window.tasks
        self.numbers = Numbers()
        self._meanings = meanings
        self._kernels = KERNELS.setdefault(meanings, {})
        self._first = self._initial()

    def memory(self, poison: Poison, *, knows: bool = False) -> Memory:
        """Return what stores hold before the window."""
        found = Memory({}, {} if knows else None)
        undefined = {s.id for s in self.instance.window.stores if s.undefined}
        for store, elements in self._first.items():
            fresh = store in undefined
            found.elements[store] = (
                poison.fresh(elements.shape) if fresh else elements.copy()
            )
            if found.known is not None:
                found.known[store] = np.full(elements.shape, not fresh)
        return found

    def run(self, memory: Memory, number: int) -> None:
        """Run a task."""
        task = self.tasks[number]
        shape = tuple(self.instance.shapes[task.shape])
        kernel = self._kernel(number)
        if kernel is None:
            self._run_unknown(memory, number)
            return
        if 0 in shape:
            return
        count = len(task.accesses)
        order = self._order(task)
        views = [self._view(memory.elements, order[n], shape) for n in range(count)]
        scalars = [
            np.asarray(scalar_symbol("task", number, n - kernel.num_scalars))
            for n in range(kernel.num_scalars)
        ]
        results = kernel.run(
            lambda n: views[n], scalars, (0,) * len(shape), shape, self.numbers
        )
        known = self._is_known(memory, order, kernel, shape)
        for place, values in results.written.items():
            views[place][...] = np.broadcast_to(values, shape).reshape(
                views[place].shape
            )
            self._note(memory, order[place], shape, known, combines=False)
        for place, values in results.reduced.items():
            self._add(views[place], np.broadcast_to(values, shape))
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
    def _kernel(self, number: int) -> Body | None:
        """Return the kernel of a task; its arguments come as in ``_order``."""
        task = self.tasks[number]
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

    def _order(self, task: IndexTask) -> list[Access]:
        changed = [a for a in task.accesses if a.privilege is WRITE]
        changed += [a for a in task.accesses if a.privilege is REDUCE]
        return [*changed, *(a for a in task.accesses if a.privilege is READ)]

    def _lowered(self, task: IndexTask) -> Body | None:
        affine = all(access.view.affine for access in task.accesses)
        if not affine or not self._meanings.covers(task.kind):
            return None
        order = self._order(task)
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
        memory: Memory,
        order: Sequence[Access],
        kernel: Body,
        shape: Sequence[int],
    ) -> NDArray[np.bool_]:
        found = np.full(tuple(shape), True)
        if memory.known is None:
            return found
        for access, argument in zip(order, kernel.arguments, strict=True):
            if argument.reads:
                known = self._view(memory.known, access, shape)
                found &= known.all() if access.whole else known
        return found

    def _note(
        self,
        memory: Memory,
        access: Access,
        shape: Sequence[int],
        known: NDArray[np.bool_],
        *,
        combines: bool,
    ) -> None:
        if memory.known is None:
            return
        view = self._view(memory.known, access, shape)
        if combines:
            repeated = tuple(n for n, extent in enumerate(view.shape) if extent == 1)
            view &= known.all(axis=repeated, keepdims=True)
        else:
            view[...] = known.reshape(view.shape)

    # -- tasks whose meaning is not known --------------------------------------------
    def _run_unknown(self, memory: Memory, number: int) -> None:
        """Run a task of which only the arguments are known: all depends on all."""
        task = self.tasks[number]
        inputs = [np.asarray(tag("task", number))]
        is_known: np.bool_ = np.bool_(True)
        for access in task.accesses:
            if access.privilege is READ:
                inputs.append(digest(self._read(memory.elements, access)))
                if memory.known is not None:
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
            if memory.known is not None:
                known = self._read(memory.known, access)
                self._write(
                    memory.known, access, known & is_known if reduces else is_known
                )

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
    dims = layout.dims
    box = elements[
        tuple(
            slice(first, first + (count if dim in dims else 1))
            for dim, (first, count) in enumerate(
                zip(layout.low, layout.extents, strict=True)
            )
        )
    ]
    moving: list[int] = [dim for dim in dims if dim >= 0]
    still: list[int] = [dim for dim in range(elements.ndim) if dim not in moving]
    box = box.transpose((*moving, *still))
    index: list[Any] = [slice(None) if dim >= 0 else None for dim in dims]
    index += [0] * len(still)
    # with the ellipsis it is an array, also without dimensions
    return box[(*index, ...)]
