# SPDX-License-Identifier: Apache-2.0
"""The rules that every program keeps.

Whether it gives what its nests give one after the other, at every row and for all that
share the rows, is not asked here: that is proven of the words that are submitted
(``legate_diffuse/proof``).
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations
from typing import NamedTuple

from legate_diffuse.ir.nest import Nest, Program, Turn
from legate_diffuse.ir.privilege import Privilege
from legate_diffuse.ir.relations import aligned, may_overlap
from legate_diffuse.ir.store import View
from legate_diffuse.ir.task import Access
from legate_diffuse.ir.verify import verify_access, verify_region


class InvalidProgramError(ValueError):
    """A program breaks a rule of the IR; the message says which and where."""


class _Use(NamedTuple):
    """An access of a nest, the number of the nest's band, and whether it moves."""

    nest: int
    band: int
    moves: bool
    access: Access


def verify_program(program: Program, scratch: AbstractSet[int]) -> None:
    """Check a program against the rules of the IR.

    Args:
        program: its nests are numbered in an order that gives the right results.
        scratch: ids of stores that live in the program only.

    Raises:
        ValueError: an access breaks a rule that windows keep as well.
        InvalidProgramError: a nest has no turn, or two; the views of a nest have not
            its loops, or its points depend on one another; distances belong to what
            does not move along, or to a part of a shape; nests that conflict come in
            another order; a store in scratch memory is live, or read before it is
            written; somebody else uses the store of a circular buffer.
    """
    numbers = sorted(nest.number for nest in program.nests)
    _require(numbers == list(range(len(numbers))), "a nest does not have one turn")
    known: dict[int, View] = {}
    uses: dict[int, list[_Use]] = {}
    for number, band in enumerate(program.bands):
        divided = {turn.margin is not None for turn in band.turns}
        _require(len(divided) == 1, f"band {number}: some nests have margins")
        for turn in band.turns:
            nest = turn.nest
            _verify_nest(nest, known)
            _verify_turn(turn, alone=len(band.turns) == 1)
            for access, distance in zip(nest.accesses, turn.distances, strict=True):
                use = _Use(nest.number, number, distance is not None, access)
                uses.setdefault(access.view.store.id, []).append(use)
    for own in uses.values():
        for earlier, later in combinations(own, 2):
            in_order = earlier.nest <= later.nest or not _conflict(earlier, later)
            where = f"nests {earlier.nest} and {later.nest}"
            _require(in_order, f"{where}: they run in the wrong order")
    for store in scratch & uses.keys():
        _verify_scratch(uses[store])
    for number, band in enumerate(program.bands):
        for store, _ in band.circular:
            where, own = f"circular store {store}", uses.get(store, [])
            _require(store in scratch, f"{where}: it is not scratch")
            alone = all(use.band == number and use.moves for use in own)
            _require(bool(own) and alone, f"{where}: it is used elsewhere")


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


def _verify_turn(turn: Turn, *, alone: bool) -> None:
    """Check which accesses of a turn have distances."""
    loop, where = turn.row_loop, f"nest {turn.nest.number}"
    given = [
        (view, distance)
        for view, distance in zip(turn.nest.views, turn.distances, strict=True)
        if distance is not None
    ]
    _require(not given or turn.nest.rows is None, f"{where}: its rows may be anywhere")
    moving = any(isinstance(distance, int) for _, distance in given)
    _require(moving or alone, f"{where}: it has no rows in its band")
    _require(moving or loop is None, f"{where}: nothing moves along its rows")
    for view, _ in given:
        moves = _moves(view, loop)
        _require(moves, f"{where}: store {view.store.id} has a distance and stands")


def _moves(view: View, loop: int | None) -> bool:
    """Whether each row of a nest has a row of its own in a view."""
    if not view.region or view.store.replicated:
        return False
    if loop is None:
        return view.region[0].point
    return loop < len(view.dims) and view.dims[loop] == 0


def _verify_scratch(uses: Sequence[_Use]) -> None:
    """Check uses of a store in scratch memory, in the order of the nests."""
    store = uses[0].access.view.store
    _require(not store.live, f"store {store.id} is live and in scratch memory")
    for use in uses:
        # a program may use arrays that nobody has written, and finds anything there
        if use.nest == uses[0].nest and not store.undefined:
            writes = use.access.privilege is Privilege.WRITE
            _require(writes, f"store {store.id} is read before it is written")


def _conflict(one: _Use, other: _Use) -> bool:
    changes = one.access.changes or other.access.changes
    return changes and may_overlap(one.access.view, other.access.view)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InvalidProgramError(message)
