# SPDX-License-Identifier: Apache-2.0
"""Lets points compute again what they gather, where a nest before has made it.

A point gathers elements that others make, ``p = r + b * p; q = A @ p``:

    nest 0: read write %0[:], read %1[:]
    nest 1: write %2[:], read rows, columns, values, read(all) %0[:]

So each point computes all that its rows use once more, in scratch memory, from what was
there before the task. What is read so must not change in the task. An array that is
changed moves to a fresh store, which takes its place when the task was submitted:

    nest 0: write %3[:], read %1[:], read %0[:]
    nest 1 told by columns, rows: write %4[:], read %1[:], read %0[:]
    nest 2: write %2[:], read rows, columns, values, read(all) %4[:]

Which nests may share a launch so is said in ``tile_nests.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from legate_diffuse.fusion.localized import Localized
from legate_diffuse.fusion.lowering import LoweredNest
from legate_diffuse.fusion.nest_rewriter import NestRewriter
from legate_diffuse.fusion.passed import Passed, passed_by
from legate_diffuse.ir import Store, View
from legate_diffuse.ir.privilege import READ, WRITE
from legate_diffuse.kernel.part import part_for, without_overwriting


def compute_gathered(
    nests: Sequence[LoweredNest], views: Mapping[int, View], numbers: Iterator[int]
) -> Localized | None:
    """Return nests that gather nothing that nests on other points make.

    None if what they gather is made from no array: nothing says which elements are
    made. ``numbers`` gives numbers to new stores and views.
    """
    found = _Gathered(nests, views, numbers)
    for place, nest in enumerate(nests):
        for number, passed in enumerate(passed_by(nest, views, tiled=True)):
            if nest.kernel.arguments[number].whole:
                maker = found.maker_of(passed.store)
                if maker is not None and not found.compute(
                    passed, maker, place, number
                ):
                    return None
    return found.run()


class _Gathered(NestRewriter):
    """Nests on their way to such that compute again what they gather."""

    def __init__(
        self,
        nests: Sequence[LoweredNest],
        views: Mapping[int, View],
        numbers: Iterator[int],
    ) -> None:
        super().__init__(nests, views, numbers)
        self._origins: dict[int, int] = {}
        # the buffer of each array that is gathered, for what tells what is needed
        self._buffers: dict[tuple[int, tuple[int, ...]], Store] = {}
        # stores that must move, and the nests that change them
        self._moving: dict[int, int] = {}

    def maker_of(self, store: int) -> int | None:
        """Return the place of the nest that changes a store, if there is one."""
        return next(
            (
                place
                for place, nest in enumerate(self._nests)
                for view, privilege in nest.accesses
                if privilege & WRITE and self._views[view].store.id == store
            ),
            None,
        )

    def compute(self, passed: Passed, maker: int, place: int, argument: int) -> bool:
        """Let a nest gather what points compute again; False if that cannot be."""
        told = _told(passed)
        key = passed.store, told
        if key not in self._buffers:
            again = self._again(passed.store, maker, told)
            if again is None:
                return False
            self._insert(place, [again])
        self._read_from(place, argument, self._buffers[key])
        return True

    def _again(
        self, store: int, maker: int, told: tuple[int, ...]
    ) -> LoweredNest | None:
        """Return a nest that makes of a store what is told, in a buffer of its own."""
        nest = self._nests[maker]
        result, view = self._result(nest, store)
        kernel, read = part_for(nest.kernel, result)
        used = [self._views[nest.arguments[number]].store for number in read]
        if all(each.replicated for each in used):
            return None
        if any(each.id == store for each in used):
            self._moving[store] = maker
        buffer = self._buffers[store, told] = self._store(view.store)
        return LoweredNest(
            nest.tasks,
            kernel,
            nest.shape,
            (self._view(view.id, buffer), *(nest.arguments[each] for each in read)),
            bytes((WRITE, *(READ for _ in read))),
            nest.scalars,
            told=told,
        )

    def run(self) -> Localized:
        """Return the nests, with what changes in fresh stores."""
        for store, maker in self._moving.items():
            self._move(store, maker)
        return Localized(
            self._all_nests(),
            self._views,
            self._shown,
            self._origins,
            frozenset(buffer.id for buffer in self._buffers.values()),
        )

    def _move(self, store: int, maker: int) -> None:
        nest = self._nests[maker]
        result, view = self._result(nest, store)
        target = self._store(view.store)
        for place, later in enumerate(self._nests[maker:], maker):
            arguments = tuple(
                self._view(number, target)
                if self._views[number].store.id == store
                else number
                for number in later.arguments
            )
            self._nests[place] = replace(later, arguments=arguments)
        if nest.privileges[result] & READ:
            privileges = bytearray(nest.privileges)
            privileges[result] = WRITE
            self._nests[maker] = replace(
                self._nests[maker],
                kernel=without_overwriting(nest.kernel, result),
                arguments=(*self._nests[maker].arguments, view.id),
                privileges=bytes((*privileges, READ)),
            )

    def _result(self, nest: LoweredNest, store: int) -> tuple[int, View]:
        return next(
            (number, self._views[view])
            for number, (view, privilege) in enumerate(nest.accesses)
            if privilege & WRITE and self._views[view].store.id == store
        )

    def _store(self, like: Store) -> Store:
        new = replace(like, id=next(self._numbers), live=False, undefined=True)
        self._origins[new.id] = like.id
        return new


def _told(passed: Passed) -> tuple[int, ...]:
    """Return the indices that tell what is gathered, and the rows that tell these."""
    indices = passed.teller
    assert indices is not None, "points have an image of what they gather"
    assert indices.teller is not None, "points have an image of the indices"
    return indices.store, indices.teller.store
