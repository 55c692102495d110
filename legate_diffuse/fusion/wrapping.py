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

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, NamedTuple

from legate_diffuse.fusion.few_rows import is_short_loop, rows_of
from legate_diffuse.fusion.localized import Localized
from legate_diffuse.fusion.lowering import LoweredNest, Part
from legate_diffuse.fusion.nest_rewriter import NestRewriter
from legate_diffuse.fusion.nests import nests_of
from legate_diffuse.fusion.schedule import schedule
from legate_diffuse.fusion.traffic import passes_over_memory
from legate_diffuse.ir import Points, Store, View
from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.ir.region import WHOLE, Region
from legate_diffuse.ir.relations import (
    may_overlap,
    rows_are_apart,
    shows_rows_of,
)
from legate_diffuse.kernel.copying import copying
from legate_diffuse.kernel.part import part_for

# Nests that are run again for one reader, and places for them that are tried, at most.
_MOST_MAKERS: Final = 8
_MOST_PLACES: Final = 8


def compute_far_rows(
    nests: Sequence[LoweredNest],
    views: Mapping[int, View],
    scratch: AbstractSet[int],
    undefined: AbstractSet[int],
    numbers: Iterator[int],
) -> Localized:
    """Return nests of a task that runs in one piece, which do not wait for far rows.

    Args:
        nests: the nests.
        views: what they use, by number.
        scratch: the stores that live in the task.
        undefined: the stores that nothing was written to before.
        numbers: gives numbers to new stores and views.
    """
    found = Localized(tuple(nests), views)
    reads = list(_FarReads(nests, views, scratch | undefined).all())
    if not reads:
        return found
    reads.sort(key=lambda read: read.place)
    least = _cost(found, scratch)
    chosen: list[_FarRead] = []
    places = [list(own) for _, own in groupby(reads, key=lambda read: read.place)]
    for group in places[:_MOST_PLACES]:
        tried = _Writer(nests, views, numbers).run([*chosen, *group])
        if (cost := _cost(tried, scratch)) < least:
            found, least = tried, cost
            chosen += group
    return found


def _cost(found: Localized, scratch: AbstractSet[int]) -> int:
    local = scratch | found.scratch
    return passes_over_memory(schedule(nests_of(found.nests, found.views), local))


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
    """Finds what can be computed again for whom."""

    def __init__(
        self,
        nests: Sequence[LoweredNest],
        views: Mapping[int, View],
        fresh: AbstractSet[int],
    ) -> None:
        self._nests = nests
        self._views = views
        # stores that hold nothing before the nests
        self._fresh = fresh

    def all(self) -> Iterator[_FarRead]:
        """Yield them in the order of the nests."""
        changed: set[int] = set()
        for reader, nest in enumerate(self._nests):
            for argument, (number, privilege) in enumerate(nest.accesses):
                view = self._views[number]
                if (
                    privilege == READ
                    and view.store.id in changed
                    and not nest.kernel.arguments[argument].whole
                    and self._is_far(nest, view)
                ):
                    found = self._computed_again(reader, argument, view)
                    if found is not None:
                        yield found
            changed |= {view.store.id for _, view in self._changes(nest)}

    def _is_far(self, nest: LoweredNest, view: View) -> bool:
        """Whether a nest reads few rows, at other landmarks than those it changes."""
        rows = rows_of(view)
        if rows is None or view.points is Points.NONE:
            return False
        others = [
            other
            for _, changed in self._changes(nest)
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
            and self._has_few_rows(nest, view)
        )

    def _has_few_rows(self, nest: LoweredNest, view: View) -> bool:
        """Whether a view of a nest shows few rows, as some view of it tells."""
        own = (self._views[number] for number in nest.arguments)
        return is_short_loop(
            _loop_of(view), (each for each in own if each.shape == nest.shape)
        )

    def _changes(self, nest: LoweredNest) -> Iterator[tuple[int, View]]:
        for argument, (number, privilege) in enumerate(nest.accesses):
            if privilege & (WRITE | REDUCE):
                yield argument, self._views[number]

    def _computed_again(
        self, reader: int, argument: int, view: View
    ) -> _FarRead | None:
        """Return how what a nest reads can be made again, if that can be."""
        makers: list[_Maker] = []
        inputs: list[tuple[int, View]] = []
        copies = view.store.id not in self._fresh
        pays = False
        for place in range(reader - 1, -1, -1):
            results = [
                (number, changed)
                for number, changed in self._changes(self._nests[place])
                if changed.store.id == view.store.id
                and not rows_are_apart(changed, view)
            ]
            if not results:
                continue
            (number, result), *others = results
            maker = _Maker(place, number)
            read = None if others else self._read_by(maker, view)
            if read is None or len(makers) == _MOST_MAKERS:
                return None
            makers.insert(0, maker)
            foreign = [each for each in read if each.store.id != view.store.id]
            inputs += [(place, each) for each in foreign]
            pays |= not self._has_few_rows(self._nests[place], result)
            if len(foreign) == len(read) and _has_all_columns(result):
                copies = False
                break
        where = self._place(inputs) if pays else None
        if where is None or (copies and where > makers[0].nest):
            return None
        return _FarRead(reader, argument, tuple(makers), copies, where)

    def _read_by(self, maker: _Maker, view: View) -> list[View] | None:
        """Return what a nest reads to make the rows of a view, None if it cannot."""
        nest = self._nests[maker.nest]
        result = self._views[nest.arguments[maker.result]]
        if (
            nest.privileges[maker.result] & REDUCE
            or result.points is Points.NONE
            or not shows_rows_of(result, view)
        ):
            return None
        kernel, numbers = part_for(nest.kernel, maker.result, in_place=True)
        read = [self._views[nest.arguments[number]] for number in numbers]
        if any(argument.whole for argument in kernel.arguments) or any(
            each.region is None
            or (each.store.id == view.store.id and not _same_rows(each, result))
            for each in read
        ):
            return None
        return [*read, result] if kernel.arguments[0].reads else read

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
            for _, changed in self._changes(self._nests[place])
        )


class _Writer(NestRewriter):
    """Writes the nests that compute rows again."""

    def __init__(
        self,
        nests: Sequence[LoweredNest],
        views: Mapping[int, View],
        numbers: Iterator[int],
    ) -> None:
        super().__init__(nests, views, numbers)
        # of each short store the view that has its rows
        self._short: dict[int, int] = {}
        # by what is computed again
        self._stores: dict[object, Store] = {}

    def run(self, reads: Sequence[_FarRead]) -> Localized:
        """Return the nests, with what is read far away from short stores."""
        for read in reads:
            rows = self._nests[read.reader].arguments[read.argument]
            store = self._made(read, rows)
            self._read_from(
                read.reader, read.argument, store, region=self._short_region(rows)
            )
        return Localized(
            self._all_nests(),
            self._views,
            self._shown,
            scratch=frozenset(self._short),
            short=self._short,
        )

    def _made(self, read: _FarRead, rows: int) -> Store:
        """Return the short store with the rows of a view that are made for a reader."""
        old = self._views[rows].store
        key = rows_of(self._views[rows]), read.makers
        if key not in self._stores:
            store = replace(
                old,
                id=next(self._numbers),
                live=False,
                undefined=True,
                zones=((), *old.zones[1:]) if any(old.zones[1:]) else (),
            )
            self._stores[key] = store
            self._short[store.id] = rows
            if read.copies:
                copy = self._copy(store, rows, self._nests[read.reader].tasks)
                self._insert(read.place, [copy])
            again = [self._again(maker, store, rows) for maker in read.makers]
            self._insert(read.place, again)
        return self._stores[key]

    def _again(self, maker: _Maker, store: Store, rows: int) -> LoweredNest:
        """Return a nest that makes some rows of a result in a short store."""
        nest = self._nests[maker.nest]
        kernel, read = part_for(nest.kernel, maker.result, in_place=True)
        result = nest.arguments[maker.result]
        old = self._views[result].store
        arguments = [nest.arguments[number] for number in (maker.result, *read)]
        own = READ if kernel.arguments[0].reads else 0
        return LoweredNest(
            nest.tasks,
            kernel,
            nest.shape,
            tuple(
                self._view(number, store, region=self._short_region(number))
                if self._views[number].store == old
                else number
                for number in arguments
            ),
            bytes((WRITE | own, *(READ for _ in read))),
            nest.scalars,
            part=Part(_loop_of(self._views[result]), result, rows),
        )

    def _copy(self, store: Store, rows: int, tasks: tuple[int, ...]) -> LoweredNest:
        """Return a nest that copies rows of a store, as they are, to a short one."""
        like = self._views[rows]
        rank = len(like.region or ())
        whole = replace(
            like,
            id=next(self._numbers),
            shape=next(self._numbers),
            points=Points.MANY,
            region=(WHOLE,) * rank,
            dims=tuple(range(rank)),
        )
        self._views[whole.id] = whole
        self._shown[whole.id] = rows
        return LoweredNest(
            tasks,
            copying(store.dtype),
            whole.shape,
            (self._view(whole.id, store), whole.id),
            bytes((WRITE, READ)),
            (),
            whole=True,
            part=Part(0, None, rows),
        )

    def _short_region(self, number: int) -> Region:
        """Return what is seen of a short store through a view like another one."""
        return WHOLE, *(self._views[number].region or ())[1:]


def _loop_of(view: View) -> int | None:
    """Return the loop along the rows of a view, None if it shows a single one."""
    return view.dims.index(0) if 0 in view.dims else None


def _same_rows(one: View, other: View) -> bool:
    """Whether two views show the same row of their store at every point."""
    return rows_of(one) == rows_of(other) and _loop_of(one) == _loop_of(other)


def _has_all_columns(view: View) -> bool:
    return all(interval == WHOLE for interval in (view.region or ())[1:])
