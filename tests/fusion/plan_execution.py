# SPDX-License-Identifier: Apache-2.0
"""Runs plans over concrete programs, as carelessly as their privileges allow.

Before a task runs, what it may not read is destroyed, and scratch memory is filled with
garbage. The points of a loop nest run in random order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np
from concrete_programs import (
    COMBINE,
    DOMAINS,
    IDENTITY,
    POISON,
    Memory,
    Program,
    copy_of,
    run_task,
    wrapped,
)
from tile_execution import Piece, TiledRun

from legate_diffuse.fusion.lowering import (
    ConstantSource,
    LoweredNest,
)
from legate_diffuse.fusion.plan import Plan, PlannedLaunch
from legate_diffuse.ir import View
from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.kernel import (
    Constant,
    Index,
    Kernel,
    Load,
    Op,
    Reduce,
    Scalar,
    Store,
)

_OPERATORS: Final[dict[str, Callable[..., int]]] = {
    "add": lambda x, y: wrapped(x + y),
    "sub": lambda x, y: wrapped(x - y),
    "mul": lambda x, y: wrapped(x * y),
    "neg": lambda x: wrapped(-x),
    "lt": lambda x, y: x < y,
    "gt": lambda x, y: x > y,
    "select": lambda condition, x, y: x if condition else y,
}


def run_plan(
    program: Program, plan: Plan, *, defer: bool = False, replay: float = 0.0
) -> Memory:
    """Return what the stores hold after a plan.

    Args:
        program: what is planned.
        plan: the plan of its window.
        defer: what may wait is run at the very end.
        replay: share of the fused launches whose kernels are not ready, so that
            their original tasks run.
    """
    rng = random.Random(program.seed)
    runner = _Runner(program, copy_of(program.memory), rng)
    deferred: list[int] = []
    for launch in plan.launches:
        if launch.nests and rng.random() < replay:
            runner.run_tasks(launch.tasks)
            continue
        waiting = launch.deferrable if defer else ()
        runner.run(launch, waiting)
        deferred += waiting
    runner.run_tasks(deferred)
    return runner.memory


@dataclass
class _Operand:
    """An argument of a kernel: the element of some memory behind each point."""

    memory: list[int]
    elements: Sequence[int]

    def get(self, point: int) -> int:
        """Return the element at a point."""
        return self.memory[self._element(point)]

    def set(self, point: int, value: int) -> None:
        """Change the element at a point."""
        self.memory[self._element(point)] = value

    def _element(self, point: int) -> int:
        element = self.elements[point]
        assert 0 <= element < len(self.memory), "a buffer has all that is used"
        return element


@dataclass
class _Runner:
    program: Program
    memory: Memory
    rng: random.Random

    def __post_init__(self) -> None:
        self.views = {view.id: view for view in self.program.window.views}

    def run(self, launch: PlannedLaunch, waiting: Sequence[int]) -> None:
        """Run a launch, but for what waits."""
        now = launch.hoisted if launch.fused else launch.tasks
        self.run_tasks([position for position in now if position not in waiting])
        for view in launch.temporaries:
            self._destroy(self.memory[self.views[view].store.id])
        if launch.tiling is not None:
            tiled = TiledRun(self.program, self.views, self.memory, launch, self.rng)
            tiled.run(self._run_points)
        elif launch.partitioned:
            for nest in launch.nests:
                self._run_partitioned(nest.lowered)
        elif launch.fused:
            self._run_program(launch)
        late = launch.late if launch.fused else ()
        self.run_tasks([position for position in late if position not in waiting])

    def run_tasks(self, positions: Sequence[int]) -> None:
        """Run tasks as they were submitted."""
        for position in positions:
            run_task(self.program, position, self.memory)

    def _destroy(self, memory: list[int]) -> None:
        memory[:] = [POISON] * len(memory)

    def _operand(self, view: View, shape: int, memory: list[int]) -> _Operand:
        assert view.affine, "no kernel can walk through this view"
        return _Operand(memory, self.program.behind(view, shape))

    # -- one nest on many processors ---------------------------------------------
    def _run_partitioned(self, lowered: LoweredNest) -> None:
        """Reductions go to instances of their own, which are combined at the end."""
        operands = []
        instances: list[tuple[_Operand, list[int], str]] = []
        for number, privilege, argument in zip(
            lowered.arguments, lowered.privileges, lowered.kernel.arguments, strict=True
        ):
            view = self.views[number]
            memory = self.memory[view.store.id]
            operand = self._operand(view, lowered.shape, memory)
            if privilege == WRITE:
                for element in operand.elements:
                    memory[element] = POISON
            if privilege == REDUCE:
                assert argument.reduces is not None
                instance = [IDENTITY[argument.reduces]] * len(memory)
                instances.append((operand, instance, argument.reduces))
                operand = _Operand(instance, operand.elements)
            operands.append(operand)
        self._run_kernel(lowered, operands)
        for operand, instance, operator in instances:
            for element in set(operand.elements):
                operand.memory[element] = COMBINE[operator](
                    operand.memory[element], instance[element]
                )

    # -- nests on one processor --------------------------------------------------
    def _run_program(self, launch: PlannedLaunch) -> None:
        stores = [self.views[view].store.id for view in launch.arguments]
        assert len(stores) == len(set(stores)), "a root is one argument"
        arguments = []
        for store, privilege in zip(stores, launch.privileges, strict=True):
            assert privilege in (READ, WRITE, READ | WRITE)
            arguments.append(list(self.memory[store]))
            if not privilege & READ:
                self._destroy(arguments[-1])
        scratch = []
        for place, (number, _, _) in enumerate(launch.scratch):
            view = self.views[number]
            count = len(self.memory[view.store.id])
            if place in launch.short:
                count = len(self._rows(view)) * self._row_size(view)
            scratch.append([POISON] * count)
        for number, nest in enumerate(launch.nests):
            lowered = nest.lowered
            operands = []
            extents = nest.extents or (None,) * len(nest.operands)
            for base, argument, extent in zip(
                nest.operands, lowered.arguments, extents, strict=True
            ):
                view = self.views[argument]
                memory = arguments[base] if base >= 0 else scratch[~base]
                if lowered.whole:
                    every = range(len(self.memory[view.store.id]))
                    operand = _Operand(memory, every)
                else:
                    operand = self._operand(view, lowered.shape, memory)
                if base < 0:
                    _, first, last = launch.scratch[~base]
                    assert first <= number <= last, "scratch memory has been given back"
                    if extent is not None:
                        operand = self._in_short(operand, self.views[extent])
                operands.append(operand)
            self._run_kernel(lowered, operands)
        for store, privilege, argument in zip(
            stores, launch.privileges, arguments, strict=True
        ):
            if privilege & WRITE:
                self.memory[store] = argument
            else:
                assert self.memory[store] == argument, "what is only read has changed"

    def _row_size(self, view: View) -> int:
        return prod(self.program.extents[view.store.id][1:])

    def _rows(self, view: View) -> range:
        """Return the rows of its store that a view shows."""
        elements = self.program.elements[view.id]
        size = self._row_size(view)
        return range(min(elements) // size, max(elements) // size + 1)

    def _in_short(self, operand: _Operand, view: View) -> _Operand:
        """Return an operand in a buffer that only has the rows of a view."""
        begin = self._rows(view).start * self._row_size(view)
        return _Operand(operand.memory, [each - begin for each in operand.elements])

    # -- kernels -----------------------------------------------------------------
    def _run_kernel(self, lowered: LoweredNest, operands: Sequence[_Operand]) -> None:
        order = self._points(lowered)
        self.rng.shuffle(order)
        self._run_points(lowered, operands, order)

    def _points(self, lowered: LoweredNest) -> list[int]:
        """Return the points over which a nest runs."""
        domain = DOMAINS[lowered.shape] if lowered.shape < len(DOMAINS) else ()
        if lowered.whole:
            domain = self.program.extents[self.views[lowered.arguments[0]].store.id]
        part = lowered.part
        if part is None or part.loop is None:
            return list(range(prod(domain)))
        rows = self._rows(self.views[part.rows])
        begin = 0 if part.beside is None else self._rows(self.views[part.beside]).start
        assert begin <= rows.start, "a nest has the rows that it computes again"
        assert rows.stop - begin <= domain[part.loop], "and no more than it has"
        along = np.indices(domain)[part.loop].reshape(-1)
        return np.flatnonzero(
            (along >= rows.start - begin) & (along < rows.stop - begin)
        ).tolist()

    def _run_points(
        self,
        lowered: LoweredNest,
        operands: Sequence[_Operand | Piece],
        order: Sequence[int],
    ) -> None:
        block = [
            self.memory[self.views[source.view].store.id][0]
            if isinstance(source, ConstantSource)
            else self.program.scalars[source.task][source.position]
            for source in lowered.scalars
        ]
        for point in order:
            _run_point(lowered.kernel, operands, block, point)


def _run_point(
    kernel: Kernel,
    operands: Sequence[_Operand | Piece],
    block: Sequence[int],
    point: int,
) -> None:
    values: list[int] = []
    for instruction in kernel.body:
        match instruction:
            case Load(argument):
                values.append(operands[argument].get(point))
            case Scalar(index):
                values.append(block[index])
            case Op(name, _, inputs):
                values.append(_OPERATORS[name](*[values[n] for n in inputs]))
            case Store(argument, value):
                operands[argument].set(point, values[value])
            case Reduce(argument, value):
                operand = operands[argument]
                operator = kernel.arguments[argument].reduces
                assert operator is not None
                combine = COMBINE[operator]
                operand.set(point, combine(operand.get(point), values[value]))
            case Constant() | Index():
                raise AssertionError("no operation here has a literal or an index")
