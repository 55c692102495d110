# SPDX-License-Identifier: Apache-2.0
"""Computes a few rows again that lie far away, so that nothing waits for them.

Rows wrap around, ``p[2:-2] = q + r; p[:2] = p[-4:-2]; s = p[:-1] + p[1:]``:

    nest 0: write %1[2:-2], read %0[:], read %2[:]
    nest 1: write %1[:2], read %1[a:-2]
    nest 2: write %3[:], read %1[:-1], read %1[1:]

Nest 1 needs what nest 0 makes last, and nest 2 begins with what nest 1 makes. So all of
the store would go to memory and come back. A reader of few rows reads them from a short
store, where they are computed before all others, from what was there before:

    nest 0 part: write %4[:], read %0[:], read %2[:]
    nest 1: write %1[2:-2], read %0[:], read %2[:]
    nest 2: write %1[:2], read %4[:]
    nest 3: write %3[:], read %1[:-1], read %1[1:]

The nests that have made these rows, their makers, are run again one after the other,
for these rows only. That gives what the reader would have found, if

- each maker writes all of these rows, or none, and reads of their store the same rows;
- one of them writes them over, or the first finds what was there before;
- nothing that makers read has changed between where they run and where they run again.

That costs a few rows and may end a band, so it is done where less goes to memory then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, NamedTuple

from legate_diffuse.fusion.draft import LaunchDraft
from legate_diffuse.fusion.few_rows import is_short, is_short_loop, rows_of
from legate_diffuse.fusion.nest_rewriter import again, copying, moved, new_store
from legate_diffuse.fusion.schedule import schedule
from legate_diffuse.ir import Points, Privilege, Store, View
from legate_diffuse.ir.nest import Nest, Program, RowsOf, numbered
from legate_diffuse.ir.region import WHOLE
from legate_diffuse.ir.relations import (
    may_overlap,
    rows_are_apart,
    shows_rows_of,
)
from legate_diffuse.kernel.part import part_for

# Nests that are run again for one reader, and places for them that are tried, at most.
_MOST_MAKERS: Final = 8
_MOST_PLACES: Final = 8


def compute_far_rows(draft: LaunchDraft, numbers: Iterator[int]) -> LaunchDraft:
    """Return a task that runs in one piece, with nests that do not wait for far rows.

    Args:
        draft: the task, with its nests.
        numbers: gives numbers to new stores and shapes.
    """
    nests, scratch = draft.nests, draft.scratch
    reads = list(_FarReads(nests, scratch | draft.liveness.undefined).all())
    if not reads:
        return draft
    reads.sort(key=lambda read: read.place)
    best = _scheduled(draft)
    least = _cost(best)
    chosen: list[_FarRead] = []
    places = [list(own) for _, own in groupby(reads, key=lambda read: read.place)]
    for group in places[:_MOST_PLACES]:
        written, new = _Writer(nests, numbers).run([*chosen, *group])
        tried = _scheduled(draft._replace(nests=written, scratch=scratch | new))
        if (cost := _cost(tried)) < least:
            best, least = tried, cost
            chosen += group
    return best


def _cost(draft: LaunchDraft) -> int:
    return passes_over_memory(draft.program)


def passes_over_memory(program: Program) -> int:
    """Return how many stores all bands of a program read from memory or write to it.

    What a band changes it reads as well. Few rows do not count, nor do circular
    buffers.
    """
    total = 0
    for band in program.bands:
        kept = {store for store, _ in band.circular}
        touched: dict[int, bool] = {}
        for nest in band.nests:
            for access in nest.accesses:
                store, rows = access.view.store.id, rows_of(access.view)
                if rows and not (is_short(rows) or store in kept or nest.rows):
                    touched[store] = touched.get(store, False) or access.changes
        total += sum(2 if changes else 1 for changes in touched.values())
    return total


def _scheduled(draft: LaunchDraft) -> LaunchDraft:
    return draft._replace(program=schedule(draft.nests, draft.scratch))


class _Maker(NamedTuple):
    """A nest that makes rows, by its place, and the number of its result."""

    nest: int
    result: int


@dataclass(frozen=True, slots=True)
class _FarRead:
    """A nest that reads few rows that are far away from those it changes.

    Attributes:
        reader: the place of the nest.
        argument: the number of what it reads.
        makers: what has made these rows, in program order.
        copies: whether they were partly there before.
        place: where they can be made again: before the nest that has this place.
    """

    reader: int
    argument: int
    makers: tuple[_Maker, ...]
    copies: bool
    place: int


class _FarReads:
    """Finds what can be computed again for whom.

    Args:
        nests: the nests.
        fresh: the stores that hold nothing before them.
    """

    def __init__(self, nests: Sequence[Nest], fresh: AbstractSet[int]) -> None:
        self._nests = nests
        self._fresh = fresh

    def all(self) -> Iterator[_FarRead]:
        """Yield them in the order of the nests."""
        changed: set[int] = set()
        for reader, nest in enumerate(self._nests):
            for argument, access in enumerate(nest.accesses):
                if (
                    not access.changes
                    and access.view.store.id in changed
                    and not access.whole
                    and _is_far(nest, access.view)
                ):
                    read = self._computed_again(reader, argument, access.view)
                    if read is not None:
                        yield read
            changed |= {view.store.id for _, view in _changes(nest)}

    def _computed_again(
        self, reader: int, argument: int, view: View
    ) -> _FarRead | None:
        """Return how what a nest reads can be made again, if that can be."""
        makers: list[_Maker] = []
        inputs: list[tuple[int, View]] = []
        copies = view.store.id not in self._fresh
        pays = False
        for place in range(reader - 1, -1, -1):
            nest = self._nests[place]
            results = [
                (number, changed)
                for number, changed in _changes(nest)
                if changed.store.id == view.store.id
                and not rows_are_apart(changed, view)
            ]
            if not results:
                continue
            (number, result), *others = results
            read = None if others else _read_by(nest, number, view)
            if read is None or len(makers) == _MOST_MAKERS:
                return None
            makers.insert(0, _Maker(place, number))
            foreign = [each for each in read if each.store.id != view.store.id]
            inputs += [(place, each) for each in foreign]
            pays |= not _has_few_rows(nest, result)
            if len(foreign) == len(read) and _has_all_columns(result):
                copies = False
                break
        where = self._place(inputs) if pays else None
        if where is None or (copies and where > makers[0].nest):
            return None
        return _FarRead(reader, argument, tuple(makers), copies, where)

    def _place(self, inputs: Sequence[tuple[int, View]]) -> int | None:
        """Return before which nest what nests read can be read as well, if anywhere.

        That is the first place where nothing of it changes any more. ``inputs`` are
        what nests read, each with the place of the nest.
        """
        where = 0
        for place, view in inputs:
            changing = (n for n in range(place - 1, -1, -1) if self._alters(n, view))
            where = max(where, 1 + next(changing, -1))
        for place, view in inputs:
            if any(self._alters(n, view) for n in range(place, where)):
                return None
        return where

    def _alters(self, place: int, view: View) -> bool:
        return any(
            changed.store.id == view.store.id and may_overlap(changed, view)
            for _, changed in _changes(self._nests[place])
        )


class _Writer:
    """Writes the nests that compute rows again.

    Args:
        nests: the nests.
        numbers: gives numbers to new stores and shapes.
    """

    def __init__(self, nests: Sequence[Nest], numbers: Iterator[int]) -> None:
        self._nests = list(nests)
        self._numbers = numbers
        # nests that come before another one
        self._before: dict[int, list[Nest]] = {}
        # by what is computed again
        self._stores: dict[object, Store] = {}

    def run(self, reads: Sequence[_FarRead]) -> tuple[tuple[Nest, ...], frozenset[int]]:
        """Return nests that read what is far away from short stores, and these."""
        for read in reads:
            store = self._made(read)
            nest = self._nests[read.reader]
            accesses = list(nest.accesses)
            accesses[read.argument] = moved(accesses[read.argument], store)
            self._nests[read.reader] = replace(nest, accesses=tuple(accesses))
        nests = numbered(
            [
                each
                for place, nest in enumerate(self._nests)
                for each in (*self._before.get(place, ()), nest)
            ]
        )
        return nests, frozenset(store.id for store in self._stores.values())

    def _made(self, read: _FarRead) -> Store:
        """Return the short store with the rows that are made for a reader."""
        reader = self._nests[read.reader]
        rows = reader.accesses[read.argument].view
        key = rows_of(rows), read.makers
        if key not in self._stores:
            store = new_store(rows.store, next(self._numbers), rows)
            self._stores[key] = store
            if read.copies:
                copied = RowsOf(0, None, rows.recorded)
                shape = next(self._numbers)
                copy = copying(store, rows, shape, reader.tasks, copied)
                self._insert(read.place, [copy])
            made = [self._again(maker, store, rows) for maker in read.makers]
            self._insert(read.place, made)
        return self._stores[key]

    def _insert(self, place: int, nests: Sequence[Nest]) -> None:
        """Let nests come before another one, after those that do so already."""
        self._before.setdefault(place, []).extend(nests)

    def _again(self, maker: _Maker, store: Store, rows: View) -> Nest:
        """Return a nest that makes some rows of a result in a short store."""
        nest = self._nests[maker.nest]
        result = nest.accesses[maker.result].view
        made = RowsOf(_loop_of(result), result.recorded, rows.recorded)
        return replace(again(nest, maker.result, store), rows=made)


def _is_far(nest: Nest, view: View) -> bool:
    """Whether a nest reads few rows, at other landmarks than those it changes."""
    rows = rows_of(view)
    if rows is None or view.points is Points.NONE:
        return False
    others = [
        other
        for _, changed in _changes(nest)
        if (other := rows_of(changed)) is not None
        and _loop_of(changed) == _loop_of(view)
    ]
    return (
        bool(others)
        and all(
            other.low.landmark != rows.low.landmark
            and other.high.landmark != rows.high.landmark
            for other in others
        )
        and _has_few_rows(nest, view)
    )


def _has_few_rows(nest: Nest, view: View) -> bool:
    """Whether a view of a nest shows few rows, as some view of it tells."""
    return is_short_loop(_loop_of(view), nest.views)


def _changes(nest: Nest) -> Iterator[tuple[int, View]]:
    """Yield the views through which a nest changes something, with their numbers."""
    for number, access in enumerate(nest.accesses):
        if access.changes:
            yield number, access.view


def _read_by(nest: Nest, result: int, view: View) -> list[View] | None:
    """Return what a nest reads to make the rows of a view, None if it cannot."""
    access = nest.accesses[result]
    if (
        access.privilege is Privilege.REDUCE
        or access.view.points is Points.NONE
        or not shows_rows_of(access.view, view)
    ):
        return None
    kernel, numbers = part_for(nest.kernel, result)
    read = [nest.accesses[number].view for number in numbers]
    if any(argument.whole for argument in kernel.arguments) or any(
        each.region is None
        or (each.store.id == view.store.id and not _same_rows(each, access.view))
        for each in read
    ):
        return None
    return [*read, access.view] if kernel.arguments[0].reads else read


def _loop_of(view: View) -> int | None:
    """Return the loop along the rows of a view, None if it shows a single one."""
    return view.dims.index(0) if 0 in view.dims else None


def _same_rows(one: View, other: View) -> bool:
    """Whether two views show the same row of their store at every point."""
    return rows_of(one) == rows_of(other) and _loop_of(one) == _loop_of(other)


def _has_all_columns(view: View) -> bool:
    return all(interval == WHOLE for interval in (view.region or ())[1:])
