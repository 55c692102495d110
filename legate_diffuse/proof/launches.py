# SPDX-License-Identifier: Apache-2.0
"""Runs the launches of a plan by their words, on symbols."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.proof.buffers import Buffer, RefutedError
from legate_diffuse.proof.kernels import Body
from legate_diffuse.proof.nest import Setting
from legate_diffuse.proof.reference import Memory, Reference, scalar_symbol, shown
from legate_diffuse.proof.schedule import PERIOD, ProgramRun, Way
from legate_diffuse.proof.tiles import Argument, TiledRun
from legate_diffuse.proof.words import Program, Tiling, read_words

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from legate_diffuse.proof.instance import Instance
    from legate_diffuse.proof.symbols import Poison, Symbols


class Write(Protocol):
    """Writes the program of a launch, as ``launch.program.write_program`` does."""

    def __call__(
        self,
        launch: Any,
        views: list[Any],
        shapes: list[Any],
        scalars: Callable[[Any], bytes],
    ) -> bytes:
        """Return the words."""


@dataclass(frozen=True)
class Numbered:
    """A launch of a plan whose kernels have numbers for the proof.

    Attributes:
        launch: a copy of it.
        kernels: by number.
    """

    launch: Any
    kernels: Mapping[int, Body]


def numbered_launch(launch: Any) -> Numbered:
    """Return a launch whose kernels have numbers, as after they were compiled."""
    kernels = {n: Body(nest.nest.kernel) for n, nest in enumerate(launch.nests)}
    nests = [
        replace(nest, kernel=number, packed=b"")
        for number, nest in enumerate(launch.nests)
    ]
    runs = tuple(replace(run, kernel=len(nests)) for run in launch.runs)
    return Numbered(replace(launch, nests=nests, runs=runs, written=None), kernels)


class PlanRunner:
    """Runs a plan over an instance of its window.

    Args:
        reference: the window's tasks.
        launches: of the plan.
        write: writes their programs.
        poison: for what nobody has written.
    """

    def __init__(
        self,
        reference: Reference,
        launches: Sequence[Numbered],
        write: Write,
        poison: Poison,
    ) -> None:
        self.reference = reference
        self.instance: Instance = reference.instance
        self.launches = launches
        self.poison = poison
        self._words = [self._read(each, write) for each in launches]
        self.memory = Memory({})
        self._divided = {
            store.id
            for store in self.instance.window.stores
            if not (store.single or store.replicated)
        }

    def essence(self, way: Way) -> Hashable:
        """Return what of a way makes a difference to this plan."""
        found: list[Hashable] = []
        for place, (each, words) in enumerate(
            zip(self.launches, self._words, strict=True)
        ):
            launch, (tiling, program) = each.launch, words
            replays = way.replays >> place % PERIOD & 1
            waits = way.defers and bool(launch.deferrable)
            found.append((launch.fused and replays, waits))
            if replays or not launch.fused:
                continue
            has_band = any(abs(count) > 1 for count in program.bands)
            if has_band:
                found.append((way.block, way.most_nests))
            if has_band or tiling is not None:
                found.append((way.tiles, way.backwards))
        return tuple(found)

    def run(self, way: Way) -> Memory:
        """Return what the stores hold after the plan, in a way to run it."""
        self.memory = self.reference.memory(self.poison)
        waiting: list[int] = []
        for place, each in enumerate(self.launches):
            launch = each.launch
            replays = way.replays >> place % PERIOD & 1
            fused = launch.fused and not replays
            # what runs by itself always can wait
            waits = way.defers and (fused or not launch.fused)
            deferred = launch.deferrable if waits else ()
            waiting += deferred
            originals = launch.hoisted if fused else launch.tasks
            self._run_tasks([n for n in originals if n not in deferred])
            if not fused:
                continue
            for view in launch.temporaries:
                store = self.instance.stores[view]
                self._destroy(self.memory.elements[store])
            if launch.nests:
                self._run_words(each, *self._words[place], way)
            self._run_tasks([n for n in launch.late if n not in deferred])
        self._run_tasks(waiting)
        return self.memory

    def _run_tasks(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self.reference.run(self.memory, number)

    def _destroy(self, elements: Symbols) -> None:
        elements[...] = self.poison.fresh(elements.shape)

    # -- words -------------------------------------------------------------------
    def _read(self, each: Numbered, write: Write) -> tuple[Tiling | None, Program]:
        """Return the words of a launch."""
        launch = each.launch
        if not launch.fused or not launch.nests:
            return None, Program((), (), (), ())
        text = write(
            launch,
            list(self.instance.views),
            list(self.instance.shapes),
            self._scalars,
        )
        tiling, program = read_words(text, len(launch.arguments))
        if (tiling is None) != (launch.tiling is None):
            raise RefutedError("a program has a tiling that its launch has not")
        return tiling, program

    def _scalars(self, nest: Any) -> bytes:
        """Return a scalar block that has a symbol in each place, and zeros."""
        found = b""
        for source in nest.scalars:
            if hasattr(source, "view"):
                name: tuple[object, ...] = "constant", self.instance.stores[source.view]
            else:
                name = "task", source.task, source.position
            found += int(scalar_symbol(*name)).to_bytes(8, "little").ljust(16, b"\0")
        return found

    def _run_words(
        self, each: Numbered, tiling: Tiling | None, program: Program, way: Way
    ) -> None:
        launch = each.launch
        setting = Setting(each.kernels, self.reference.numbers, self.poison)
        if tiling is not None:
            arguments = [
                Argument(
                    self.instance.stores[view],
                    privilege,
                    number in launch.moved,
                    self._is_replicated(view),
                )
                for number, (view, privilege) in enumerate(
                    zip(launch.arguments, launch.privileges, strict=True)
                )
            ]
            TiledRun(
                tiling, program, arguments, self.memory.elements, setting, way
            ).run()
        elif launch.partitioned:
            self._run_partitioned(launch, program, setting, way)
        else:
            self._run_whole(launch, program, setting, way)

    def _is_replicated(self, view: int) -> bool:
        return bool(self.instance.views[view].root.scalar_storage)

    def _run_whole(
        self, launch: Any, program: Program, setting: Setting, way: Way
    ) -> None:
        """Run a program on one processor, over whole stores."""
        stores = [self.instance.stores[view] for view in launch.arguments]
        if len(set(stores)) != len(stores):
            raise RefutedError("a task has one store twice")
        buffers = []
        for store, privilege in zip(stores, launch.privileges, strict=True):
            if privilege >= REDUCE:
                raise RefutedError("a task on one processor reduces to a store")
            if store in self._divided:
                raise RefutedError("a task on one processor has a partitioned array")
            elements = self.memory.elements[store].copy()
            if not privilege & READ:
                self._destroy(elements)
            writes = bool(privilege & WRITE)
            buffers.append(Buffer(elements, f"store %{store}", writes))
        ProgramRun(program, buffers, setting, way).run()
        for store, buffer in zip(stores, buffers, strict=True):
            if buffer.writes:
                self.memory.elements[store] = buffer.elements

    def _run_partitioned(
        self, launch: Any, program: Program, setting: Setting, way: Way
    ) -> None:
        """Run a nest on several points, each of which has a part of all arguments."""
        (nest,) = program.nests
        shape = nest.extents
        buffers = []
        shares = []
        for view, privilege in zip(launch.arguments, launch.privileges, strict=True):
            store = self.instance.stores[view]
            elements = self.memory.elements[store]
            seen = (
                elements.reshape((1,) * len(shape))
                if self._is_replicated(view)
                else shown(elements, self.instance.layout(view))
            )
            if privilege >= REDUCE:
                share = np.zeros(seen.shape, dtype=np.uint64)
                shares.append((seen, share))
                seen = share
            elif not privilege & READ:
                self._destroy(seen)
            whole = np.lib.stride_tricks.as_strided(
                seen,
                shape,
                [
                    stride if extent == over else 0
                    for stride, extent, over in zip(
                        seen.strides, seen.shape, shape, strict=True
                    )
                ],
            )
            writes = privilege >= REDUCE or bool(privilege & WRITE)
            buffers.append((Buffer(whole, f"store %{store}", writes), seen.shape))
        _check_apart([buffer for buffer, _ in buffers])
        self._run_points(program, buffers, setting, way)
        for seen, share in shares:
            seen += share

    def _run_points(
        self,
        program: Program,
        buffers: Sequence[tuple[Buffer, tuple[int, ...]]],
        setting: Setting,
        way: Way,
    ) -> None:
        (nest,) = program.nests
        operands = []
        for operand, (buffer, shape) in zip(nest.operands, buffers, strict=True):
            if operand.low != (0,) * len(nest.extents):
                raise RefutedError(f"a point has a part of {buffer.name} only")
            # a view that repeats has one element for all points
            dims = [
                dim if shape[dim] == extent else -1
                for dim, extent in zip(operand.dims, nest.extents, strict=True)
            ]
            operands.append(replace(operand, dims=tuple(dims)))
        program = replace(program, nests=(replace(nest, operands=tuple(operands)),))
        ProgramRun(program, [buffer for buffer, _ in buffers], setting, way).run()


def _check_apart(buffers: Sequence[Buffer]) -> None:
    """Raise an error if a point may find in an argument what another one changes."""
    for one in buffers:
        for other in buffers:
            if (
                one.writes
                and other is not one
                and one.name == other.name
                and np.shares_memory(one.elements, other.elements)
            ):
                raise RefutedError(f"points use one element of {one.name}")
