# SPDX-License-Identifier: Apache-2.0
"""The rules that every program keeps.

Nothing here asks how a program was scheduled. Where rows lie beside one another is read
off the distances, and what runs at which time is compared with the order of the nests'
numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from legate_diffuse.ir.distance import (
    Distance,
    Rows,
    at_most,
    follows_from,
    greatest,
    is_landmark,
    least,
    position,
)
from legate_diffuse.ir.nest import Nest, Program, Turn
from legate_diffuse.ir.privilege import Privilege
from legate_diffuse.ir.region import BEGIN, END
from legate_diffuse.ir.relations import aligned, may_overlap
from legate_diffuse.ir.store import View
from legate_diffuse.ir.verify import verify_access, verify_region


class InvalidProgramError(ValueError):
    """A program breaks a rule of the IR; the message says which and where."""


def verify_program(program: Program, scratch: AbstractSet[int]) -> None:
    """Check a program against the rules of the IR.

    Args:
        program: its nests are numbered in an order that gives the right results.
        scratch: ids of stores that live in the program only.

    Raises:
        ValueError: an access breaks a rule that windows keep as well.
        InvalidProgramError: a nest has no turn, or two; the views of a nest have not
            its loops, or its points depend on one another; distances do not agree, or
            belong to what does not move along, or to a part of a shape; nests that
            conflict run in another order at some row, or parts of them at the same
            time; a store in scratch memory is live, or read before it is written; a
            circular buffer is too small, or somebody else uses its store.
    """
    numbers = sorted(nest.number for nest in program.nests)
    _require(numbers == list(range(len(numbers))), "a nest does not have one turn")
    known: dict[int, View] = {}
    for nest in program.nests:
        _verify_nest(nest, known)
    uses: dict[int, list[_Use]] = {}
    for number, band in enumerate(program.bands):
        divided = {turn.margin is not None for turn in band.turns}
        _require(len(divided) == 1, f"band {number}: some nests have margins")
        rows = _Rows()
        for place, turn in enumerate(band.turns):
            _verify_turn(turn, place, rows, alone=len(band.turns) == 1)
            for access, view in enumerate(turn.nest.views):
                use = _Use(number, place, turn, access, rows)
                uses.setdefault(view.store.id, []).append(use)
    for own in uses.values():
        own.sort(key=lambda use: use.nest)
        for earlier, later in combinations(own, 2):
            if earlier.nest < later.nest and _conflict(earlier, later):
                _verify_order(earlier, later)
                _verify_margins(earlier, later)
    for store in scratch & uses.keys():
        _verify_scratch(uses[store])
    for number, band in enumerate(program.bands):
        for store, more in band.circular:
            _require(store in scratch, f"circular store {store}: it is not scratch")
            _verify_circular(number, store, more, uses.get(store, []))


# -- nests ---------------------------------------------------------------------------
def _verify_nest(nest: Nest, known: dict[int, View]) -> None:
    where = f"nest {nest.number}"
    for access in nest.accesses:
        view, store = access.view, access.view.store
        same = known.setdefault(store.id, view)
        _require(
            same.store == store and len(same.region or ()) == len(view.region or ()),
            f"{where}: store number {store.id} has two meanings",
        )
        verify_access(access, where)
        verify_region(view, where)
        like = nest.views[0]
        _require(
            view.region is not None
            and len(view.dims) == len(like.dims)
            and (view.shape, view.points) == (like.shape, nest.points)
            # a kernel may touch nothing but single elements
            and (view.shape == nest.shape or store.replicated),
            f"{where}: a view of store {store.id} has not the loops of the nest",
        )
    for one, other in combinations(nest.accesses, 2):
        reduces = Privilege.REDUCE in (one.privilege, other.privilege)
        reads = one.privilege is other.privilege is Privilege.READ
        _require(
            reads
            or one.view.store.id != other.view.store.id
            or (not reduces and aligned(one.view, other.view))
            or not may_overlap(one.view, other.view),
            f"{where}: its points depend on one another through store "
            f"{one.view.store.id}",
        )


# -- rows ----------------------------------------------------------------------------
_AXIS: Final = "axis"


class _Rows:
    """How far apart places on the axis of a band are, as far as distances tell.

    ``stores`` are those that lie on the axis.
    """

    def __init__(self) -> None:
        self.stores: set[int] = set()
        # what a place is so many rows behind
        self._behind: dict[Hashable, tuple[Hashable, int]] = {}

    def put(self, place: Hashable, other: Hashable, distance: int) -> bool:
        """Lay a place so far behind another one; False if it is elsewhere."""
        (base, own), (origin, others) = self._find(place), self._find(other)
        if base == origin:
            return own == others + distance
        self._behind[base] = origin, others + distance - own
        return True

    def lay(self, turn: int, view: View, distance: int) -> bool:
        """Lay a view so far behind the rows of a turn; False if it is elsewhere."""
        self.stores.add(view.store.id)
        ends = self._ends(turn, view, distance)
        return all([self.put(*end) for end in ends])

    def is_at(self, turn: int, view: View, distance: Distance) -> bool:
        """Whether landmarks lie so that a view is so far behind the rows of a turn."""
        (interval, *_) = view.region or ()
        low: Hashable = view.store.id, interval.low.landmark
        places, zeros = self._places(("first", turn), low)
        if low not in places:
            return False
        return follows_from(distance - interval.low.offset - places[low], zeros)

    def _places(
        self, start: Hashable, end: Hashable
    ) -> tuple[dict[Hashable, Rows], list[Rows]]:
        """Return how far places are behind one of them, and what must then be zero."""
        known = dict.fromkeys((start, *self._behind, _AXIS, end))
        known |= dict.fromkeys((each[0], BEGIN) for each in known if is_landmark(each))
        found: dict[Hashable, Rows] = {start: 0}
        zeros: list[Rows] = []
        for place in (reached := [start]):
            near: list[tuple[Hashable, Rows]] = []
            for other in known:
                constant = self.between(other, place)
                if constant is not None:
                    near.append((other, constant))
            if is_landmark(place):
                near.append(((place[0], BEGIN), -position(place)))
            for mark in filter(is_landmark, known):
                if place == (mark[0], BEGIN):
                    near.append((mark, position(mark)))
            for other, apart in near:
                if other not in found:
                    found[other] = found[place] + apart
                    reached.append(other)
                zeros.append(found[other] - found[place] - apart)
        return found, zeros

    def follows(self, turn: int, view: View, distance: int) -> bool:
        """Whether a view's distance from the rows of a turn follows from others."""
        ends = self._ends(turn, view, distance)
        return any(self.between(place, row) == apart for place, row, apart in ends)

    def _ends(
        self, turn: int, view: View, distance: int
    ) -> list[tuple[Hashable, Hashable, int]]:
        """Return the ends of a view, the rows there, and how far they are apart."""
        (interval, *_) = view.region or ()
        return [
            ((view.store.id, at.landmark), row, distance - at.offset)
            for at, row in (
                (interval.low, ("first", turn)),
                (interval.high, ("end", turn)),
            )
        ]

    def between(self, place: Hashable, other: Hashable) -> int | None:
        """Return how far a place is behind another one, None if that is unknown."""
        (base, own), (origin, others) = self._find(place), self._find(other)
        return own - others if base == origin else None

    def _find(self, place: Hashable) -> tuple[Hashable, int]:
        offset = 0
        while place in self._behind:
            place, more = self._behind[place]
            offset += more
        return place, offset


def _verify_turn(turn: Turn, place: int, rows: _Rows, *, alone: bool) -> None:
    """Check the distances of a turn, and lay its rows beside those of the others."""
    loop, where = turn.row_loop, f"nest {turn.nest.number}"
    given = [
        (view, distance)
        for view, distance in zip(turn.nest.views, turn.distances, strict=True)
        if distance is not None
    ]
    _require(not given or turn.nest.rows is None, f"{where}: its rows may be anywhere")
    moving = [(view, each) for view, each in given if isinstance(each, int)]
    _require(bool(moving) or alone, f"{where}: it has no rows in its band")
    _require(bool(moving) or loop is None, f"{where}: nothing moves along its rows")
    if loop is None:
        rows.put(("end", place), ("first", place), 1)
    for view, _ in given:
        moves = _moves(view, loop)
        _require(moves, f"{where}: store {view.store.id} has a distance and stands")
    rest = sorted(moving, key=lambda each: _begins_at_landmark(each[0]))
    leaders = [each for each in rest if each[0].store.id in rows.stores]
    if moving and not leaders:
        leaders = moving
        rows.put((moving[0][0].store.id, BEGIN), _AXIS, 0)
    # one view tells where the nest is; all others must then be where they are said to
    following = leaders[:1]
    agree = True
    while following:
        for view, distance in following:
            rest.remove((view, distance))
            agree = agree and rows.lay(place, view, distance)
        following = [
            (view, distance)
            for view, distance in rest
            if view.store.id not in rows.stores or rows.follows(place, view, distance)
        ][:1]
    for view, far in given:
        if isinstance(far, Distance):
            agree = agree and rows.is_at(place, view, far)
    _require(agree and not rest, f"{where}: its distances do not agree")


def _begins_at_landmark(view: View) -> bool:
    return view.region is not None and view.region[0].low.landmark > END


def _moves(view: View, loop: int | None) -> bool:
    """Whether each row of a nest has a row of its own in a view."""
    if not view.region or view.store.replicated:
        return False
    if loop is None:
        return view.region[0].point
    return loop < len(view.dims) and view.dims[loop] == 0


# -- the order of nests --------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Use:
    """An access of a nest: the number of its band, and its place there."""

    band: int
    place: int
    turn: Turn
    number: int
    rows: _Rows

    @property
    def nest(self) -> int:
        return self.turn.nest.number

    @property
    def view(self) -> View:
        return self.turn.nest.accesses[self.number].view

    @property
    def changes(self) -> bool:
        return self.turn.nest.accesses[self.number].changes

    @property
    def distance(self) -> Rows | None:
        return self.turn.distances[self.number]


def _verify_order(earlier: _Use, later: _Use) -> None:
    """Check that what an earlier nest does comes first wherever a later one is."""
    store = earlier.view.store.id
    where = f"nests {earlier.nest} and {later.nest} at store {store}"
    _require(
        (earlier.band, earlier.place) < (later.band, later.place),
        f"{where}: they run in the wrong order",
    )
    if earlier.band < later.band:
        return
    lag = _lag(earlier, later)
    shift = later.turn.shift - earlier.turn.shift
    _require(lag is not None, f"{where}: they cannot take turns")
    _require(
        lag is None or at_most(lag, shift),
        f"{where}: the shift is {shift} and not {lag}",
    )


def _lag(earlier: _Use, later: _Use) -> Rows | None:
    """Return by how much a nest must be shifted against an earlier one.

    From the last row of the earlier nest that matters for the later one to its first
    row that matters for the earlier one; None if that is not known.
    """
    if earlier.distance is not None and later.distance is not None:
        return later.distance - earlier.distance
    lasts: list[tuple[Hashable, int]] = [(("end", earlier.place), -1)]
    firsts: list[tuple[Hashable, int]] = [(("first", later.place), 0)]
    if isinstance(earlier.distance, int) and (ends := _ends(later)) is not None:
        lasts.append((ends[1][0], ends[1][1] - 1 - earlier.distance))
    if isinstance(later.distance, int) and (ends := _ends(earlier)) is not None:
        firsts.append((ends[0][0], ends[0][1] - later.distance))
    lags = [
        between + last_offset - first_offset
        for last, last_offset in lasts
        for first, first_offset in firsts
        if (between := earlier.rows.between(last, first)) is not None
    ]
    return min(lags, default=None)


def _ends(use: _Use) -> tuple[tuple[Hashable, int], tuple[Hashable, int]] | None:
    """Return the places of the first row that is touched, and behind the last."""
    view = use.view
    if not view.region or view.store.replicated:
        return None
    low, high = view.region[0].low, view.region[0].high
    store = view.store.id
    return ((store, low.landmark), low.offset), ((store, high.landmark), high.offset)


def _verify_margins(earlier: _Use, later: _Use) -> None:
    """Check that threads that divide the rows keep out of one another's way."""
    one, other = earlier.turn.margin, later.turn.margin
    if earlier.band < later.band or one is None or other is None:
        return
    store = earlier.view.store.id
    where = f"nests {earlier.nest} and {later.nest} at store {store}"
    divided = earlier.distance is not None and later.distance is not None
    _require(divided, f"{where}: threads cannot divide their rows")
    if earlier.distance is not None and later.distance is not None:
        apart = later.distance - earlier.distance
        _require(
            at_most(one.before - apart, other.before)
            and at_most(one.after + apart, other.after),
            f"{where}: the margin is too small",
        )


# -- memory --------------------------------------------------------------------------
def _verify_scratch(uses: Sequence[_Use]) -> None:
    """Check uses of a store in scratch memory, in the order of the nests."""
    store = uses[0].view.store
    _require(not store.live, f"store {store.id} is live and in scratch memory")
    for use in uses:
        # a program may use arrays that nobody has written, and finds anything there
        if use.nest == uses[0].nest and not store.undefined:
            writes = use.turn.nest.accesses[use.number].privilege is Privilege.WRITE
            _require(writes, f"store {store.id} is read before it is written")


def _verify_circular(band: int, store: int, rows: Rows, uses: Sequence[_Use]) -> None:
    """Check the buffer of so many rows more than a block's."""
    where = f"circular store {store}"
    times = [
        use.turn.shift - use.distance
        for use in uses
        if use.band == band and use.distance is not None
    ]
    _require(bool(times) and len(times) == len(uses), f"{where}: it is used elsewhere")
    needed = greatest(times) - least(times)
    _require(at_most(needed, rows), f"{where}: {rows} rows more are not {needed}")


def _conflict(one: _Use, other: _Use) -> bool:
    return (one.changes or other.changes) and may_overlap(one.view, other.view)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InvalidProgramError(message)
