# SPDX-License-Identifier: Apache-2.0
"""Lets points compute again what they gather, where a nest before has made it.

A point gathers elements that others make, ``p = r + b * p; q = A @ p``:

    nest 0: read write %0[:], read %1[:]
    nest 1: write %2[:], read rows, columns, values, read(all) %0[:]

So each point computes all that its rows use once more, in scratch memory, from what was
there before the task. What is read so must not change in the task. An array that is
changed moves to a fresh store, which takes its place when the task was submitted:

    nest 0: write %3[:], read %1[:], read %0[:]
    nest 1 image columns, rows: write %4[:], read %1[:], read %0[:]
    nest 2: write %2[:], read rows, columns, values, read(all) %4[:]

Which nests may share a launch so is said in ``tile_nests.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from legate_diffuse.fusion.nest_rewriter import (
    NestRewriter,
    Rewritten,
    again,
    redirected,
)
from legate_diffuse.fusion.passed import Passed, passed_by
from legate_diffuse.ir import Access, Privilege, Store
from legate_diffuse.ir.nest import Image, Nest
from legate_diffuse.kernel.part import without_overwriting


def compute_gathered(
    nests: Sequence[Nest], scratch: AbstractSet[int], numbers: Iterator[int]
) -> Rewritten | None:
    """Return nests that gather nothing that nests on other points make.

    None if what they gather is made from no array: nothing says which elements are
    made. ``scratch`` are the stores that live in the task, and ``numbers`` gives
    numbers to new stores.
    """
    rewriter = _Gathered(nests, numbers)
    for place, nest in enumerate(nests):
        for number, passed in enumerate(passed_by(nest, tiled=True)):
            if nest.accesses[number].whole:
                maker = rewriter.maker_of(passed.store)
                if maker is not None and not rewriter.compute(
                    passed, maker, place, number
                ):
                    return None
    return rewriter.run(scratch)


class _Gathered(NestRewriter):
    """Nests on their way to such that compute again what they gather."""

    def __init__(self, nests: Sequence[Nest], numbers: Iterator[int]) -> None:
        super().__init__(nests, numbers)
        # the buffer of each array that is gathered, for each image that is needed
        self._buffers: dict[tuple[int, Image], Store] = {}
        # stores that must move, and the nests that change them
        self._moving: dict[int, int] = {}

    def maker_of(self, store: int) -> int | None:
        """Return the place of the nest that changes a store, if there is one."""
        return next(
            (n for n, nest in enumerate(self._nests) if _results(nest, store)), None
        )

    def compute(self, passed: Passed, maker: int, place: int, argument: int) -> bool:
        """Let a nest gather what points compute again; False if that cannot be."""
        image = _image(passed)
        key = passed.store, image
        if key not in self._buffers:
            nest = self._nests[maker]
            (result, *_) = _results(nest, passed.store)
            old = nest.accesses[result].view.store
            buffer = self._store(old)
            made = replace(again(nest, result, buffer), domain=image)
            used = [access.view.store for access in made.accesses[1:]]
            if all(each.replicated for each in used):
                return False
            if old in used:
                self._moving[passed.store] = maker
            self._buffers[key] = buffer
            self._insert(place, [made])
        self._read_from(place, argument, self._buffers[key])
        return True

    def run(self, scratch: AbstractSet[int]) -> Rewritten:
        """Return the nests, with what changes in fresh stores."""
        for store, maker in self._moving.items():
            self._move(store, maker)
        buffers = {buffer.id for buffer in self._buffers.values()}
        return Rewritten(self._all_nests(), frozenset(scratch | buffers))

    def _move(self, store: int, maker: int) -> None:
        nest = self._nests[maker]
        (result, *_) = _results(nest, store)
        access = nest.accesses[result]
        target = self._store(access.view.store)
        for place, later in enumerate(self._nests[maker:], maker):
            self._nests[place] = redirected(later, store, target)
        if access.reads:
            nest = self._nests[maker]
            accesses = list(nest.accesses)
            accesses[result] = replace(accesses[result], privilege=Privilege.WRITE)
            self._nests[maker] = replace(
                nest,
                kernel=without_overwriting(nest.kernel, result),
                accesses=(*accesses, Access(Privilege.READ, access.view)),
            )


def _results(nest: Nest, store: int) -> list[int]:
    """Return the places of a nest's accesses that write a store."""
    return [
        number
        for number, access in enumerate(nest.accesses)
        if access.privilege & Privilege.WRITE and access.view.store.id == store
    ]


def _image(passed: Passed) -> Image:
    """Return the image that points have of what they gather."""
    indices = passed.image_of
    assert indices is not None, "points have an image of what they gather"
    assert indices.image_of is not None, "points have an image of the indices"
    return Image(indices.store, indices.image_of.store)
