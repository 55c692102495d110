# SPDX-License-Identifier: Apache-2.0
"""Bands: which nests take turns on the rows of an axis, and with which shifts.

    nest 0: write %1[:], read %0[:]                         shift 0
    nest 1: write %2[1:-1], read %1[:-2], read %1[2:]       shift 1
    nest 2: write %0[1:-1], read %2[1:-1]                   shift 1

Nest n runs its row x at time x + shift(n), the nests of one block of times in order.
Shifts are the smallest that keep the order of whatever conflicts: loop shifting and
fusion, as in A. Darte and G. Huard, "Loop Shifting for Loop Compaction", International
Journal of Parallel Programming 28 (2000), and in U. Bondhugula's Pluto. They follow
from distances alone. A band ends where a nest needs what is not at a constant
distance, such as the result of a reduction, and at a nest that has no rows. What is at
no constant distance may be at one that depends on landmarks (``ir/distance.py``).

A store that lives in a band only needs memory for as many rows as are in use at a time:
storage folding, as Halide has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from legate_diffuse.fusion.axis import Axis, Located
from legate_diffuse.fusion.few_rows import is_short_loop
from legate_diffuse.ir import View
from legate_diffuse.ir.distance import Rows, greatest, landmarks_of, least
from legate_diffuse.ir.nest import Band, Margin, Nest, Program, Turn, alone
from legate_diffuse.ir.relations import may_overlap

_MOST_LANDMARKS: Final = 32
"""On which a shift may depend; nests so far apart share nothing in a cache."""


def schedule(nests: Sequence[Nest], scratch: AbstractSet[int]) -> Program:
    """Return a program of nests, in bands that are as long as they can be.

    What a nest cannot take turns with comes before it, with all that shares stores with
    that. A nest without rows runs by itself. Of ``scratch``, stores that live in the
    program only, bands need no more rows than are in use at a time.
    """
    return fold_storage(Program(tuple(_bands_of(nests))), scratch)


def _bands_of(nests: Iterable[Nest]) -> Iterator[Band]:
    """Yield the bands of a program of nests."""
    # by the stores that they use; no two of them share one
    open_: dict[int, BandBuilder] = {}
    for number, nest in enumerate(nests):
        while True:
            found = [open_.get(view.store.id) for view in nest.views]
            beside = list(dict.fromkeys(one for one in found if one is not None))
            builder = beside[0] if len(beside) == 1 else BandBuilder(beside)
            if builder.join(number, nest):
                open_ |= dict.fromkeys(builder.uses, builder)
                break
            before = builder.obstacles(nest)
            if not before:
                yield alone(nest)
                break
            for one in _in_order(beside):
                if not before.isdisjoint(one.turns):
                    yield from one.bands()
                    open_ = {s: own for s, own in open_.items() if own is not one}
    for one in _in_order(dict.fromkeys(open_.values())):
        yield from one.bands()


def _in_order(builders: Iterable[BandBuilder]) -> list[BandBuilder]:
    return sorted(builders, key=lambda builder: min(builder.turns))


@dataclass(frozen=True, slots=True)
class Use:
    """An access of a nest of a band.

    Attributes:
        turn: number of the nest.
        view: what it touches.
        changes: whether it writes or reduces.
        distance: how far what it touches is from the row of its nest, None if that is
            not the same for all rows.
        located: where the nest is on the axis.
    """

    turn: int
    view: View
    changes: bool
    distance: Rows | None
    located: Located


def uses_of(turn: int, nest: Nest, located: Located) -> list[Use]:
    """Return the accesses of a nest of a band."""
    return [
        Use(turn, access.view, access.changes, distance, located)
        for access, distance in zip(nest.accesses, located.distances, strict=True)
    ]


class Uses(dict[int, dict[View, list[Use]]]):
    """Accesses by the stores that they touch, and by their views of these."""

    def note(self, uses: Iterable[Use]) -> None:
        """Add accesses, which come after the others."""
        for use in uses:
            views = self.setdefault(use.view.store.id, {})
            views.setdefault(use.view, []).append(use)

    def conflicts(self, uses: Iterable[Use]) -> Iterator[tuple[Use, Use]]:
        """Yield the accesses that must stay before one of those that come next."""
        for later in uses:
            # of a loop that waits many times, few views are different ones
            for view, before in self.get(later.view.store.id, {}).items():
                if may_overlap(view, later.view):
                    for earlier in before:
                        if earlier.changes or later.changes:
                            yield earlier, later


class BandBuilder:
    """Nests that take turns, and may be joined by more.

    Args:
        parts: whose nests these are; no two of them share a store.

    Attributes:
        turns: the nests that take turns, by their numbers in the program, in order.
        uses: what they do with each store.
    """

    def __init__(self, parts: Iterable[BandBuilder] = ()) -> None:
        self.turns: dict[int, Turn] = {}
        self.uses = Uses()
        self._axis = Axis()
        for part in parts:
            self.turns |= part.turns
            self.uses |= part.uses
            self._axis.add(part._axis)

    def join(self, number: int, nest: Nest) -> bool:
        """Take in a nest, if it can take turns with the others."""
        return any(
            self._join(number, nest, alternative)
            for alternative in self._axis.alternatives(nest)
        )

    def _join(self, number: int, nest: Nest, located: Located) -> bool:
        """Take in a nest, if it can take turns with the others where it is laid."""
        uses = uses_of(number, nest, located)
        pairs = list(self.uses.conflicts(uses))
        shift = self._shift(pairs)
        if shift is None or len(landmarks_of(shift)) > _MOST_LANDMARKS:
            return False
        margin = self._margin(pairs)
        self._axis = located.axis
        self.turns[number] = Turn(nest, located.loop, shift, located.distances, margin)
        self.uses.note(uses)
        return True

    def obstacles(self, nest: Nest) -> set[int]:
        """Return the turns that keep a nest from joining, or from coming before all."""
        located = next(self._axis.alternatives(nest), None)
        nowhere = Located.nowhere(len(nest.accesses))
        pairs = list(self.uses.conflicts(uses_of(-1, nest, located or nowhere)))
        far = located is None or self._shift(pairs) is not None
        return {e.turn for e, later in pairs if far or _lag(e, later) is None}

    def bands(self) -> Iterator[Band]:
        """Yield the nests as a band, or as more than one if threads can divide that.

        Threads divide a band if all of its nests have margins, and none is far longer
        than a tile. So nests of few rows at its end that have others are apart: nobody
        gains from their turns.
        """
        turns = [turn for _, turn in sorted(self.turns.items())]
        end = len(turns)
        while end and is_short_loop(turns[end - 1].row_loop, turns[end - 1].nest.views):
            end -= 1
        while end < len(turns) and _is_near(turns[end].margin):
            end += 1
        if any(turn.margin is None for turn in turns[: end or None]):
            yield Band(tuple([replace(turn, margin=None) for turn in turns]))
            return
        yield Band(tuple(turns[: end or None]))
        if end:
            yield from _bands_of(turn.nest for turn in turns[end:])

    def _shift(self, pairs: Sequence[tuple[Use, Use]]) -> Rows | None:
        """Return the shift of a new nest, given the conflicts with those before it.

        None if that is not known.
        """
        needed: list[Rows] = [] if pairs else [0]
        for earlier, later in pairs:
            if (lag := _lag(earlier, later)) is None:
                return None
            needed.append(self.turns[earlier.turn].shift + lag)
        return greatest(needed)

    def _margin(self, pairs: Sequence[tuple[Use, Use]]) -> Margin | None:
        """Return the margin of a new nest, given the conflicts with those before it.

        Margins grow from the first nest to the last: split tiling. There is none where
        what a nest touches is at no distance.
        """
        before: list[Rows] = [0]
        after: list[Rows] = [0]
        for earlier, later in pairs:
            margin = self.turns[earlier.turn].margin
            if margin is None or earlier.distance is None or later.distance is None:
                return None
            apart = later.distance - earlier.distance
            before.append(margin.before - apart)
            after.append(margin.after + apart)
        return Margin(greatest(before), greatest(after))


def _is_near(margin: Margin | None) -> bool:
    """Whether a margin has so many rows whatever the extents are."""
    return (
        margin is not None
        and isinstance(margin.before, int)
        and isinstance(margin.after, int)
    )


def _lag(earlier: Use, later: Use) -> Rows | None:
    """Return by how much the later nest must be shifted against the earlier one.

    None if that is not known.
    """
    if earlier.distance is not None and later.distance is not None:
        return later.distance - earlier.distance
    # from the last row of the earlier nest that matters to the first one of the later
    lasts = [earlier.located.end.moved(-1)]
    _, end = later.located.touched(later.view)
    if isinstance(earlier.distance, int) and end is not None:
        lasts.append(end.moved(-1 - earlier.distance))
    firsts = [later.located.first]
    first, _ = earlier.located.touched(earlier.view)
    if isinstance(later.distance, int) and first is not None:
        firsts.append(first.moved(-later.distance))
    lags = [last - each for last in lasts for each in firsts]
    return min((lag for lag in lags if lag is not None), default=None)


def fold_storage(program: Program, scratch: AbstractSet[int]) -> Program:
    """Return a scheduled program with circular buffers."""
    if not scratch:
        return program
    uses, band_of = program.uses, program.band_of
    bands = []
    for number, band in enumerate(program.bands):
        circular = tuple(
            (store, spread)
            for store, spread in spreads(band.turns)
            if store in scratch and {band_of[use] for use in uses[store]} == {number}
        )
        bands.append(replace(band, circular=circular) if circular else band)
    return Program(tuple(bands))


def spreads(turns: Sequence[Turn]) -> Iterator[tuple[int, Rows]]:
    """Yield the stores that move along with all nests that use them.

    With each of them comes how many rows more than one are in use at a time. A nest
    touches a row at the row's time, plus its shift, minus its distance.
    """
    times: dict[int, list[Rows]] = {}
    fixed: set[int] = set()
    for turn in turns:
        for view, distance in zip(turn.nest.views, turn.distances, strict=True):
            if distance is None:
                fixed.add(view.store.id)
            else:
                times.setdefault(view.store.id, []).append(turn.shift - distance)
    for store, found in times.items():
        if store not in fixed:
            yield store, greatest(found) - least(found)
